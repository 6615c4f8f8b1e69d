//! Sentences about what is not taken of cURL's command lines.

use languages::{CurlFault, CurlNote, CurlReason};

/// Returns the remedy of a fault.
pub(super) fn remedy(fault: &CurlFault) -> String {
    let text = match fault {
        CurlFault::Empty | CurlFault::OtherCommand(_) | CurlFault::NoUrl => {
            "give commands as a browser copies them by “Copy as cURL”. A URL with `&` stands in quotes: `'http://…'`; a \
             backslash that continues a line is its last character"
        }
        CurlFault::TooLong | CurlFault::TooMany => "give fewer commands, or fewer URLs",
        CurlFault::OpenQuote(_) => "copy the whole command, to its last quote",
        CurlFault::Variable(_) => {
            "put its value in its place; credentials are held for the run and stored nowhere. A text that is meant as it is \
             stands in single quotes"
        }
        CurlFault::Substitution(_) => {
            "put what it prints in its place. A text that is meant as it is stands in single quotes"
        }
        CurlFault::Braces => "put it into single quotes, or write a command for each word",
        CurlFault::Operator(_) => {
            "leave out what is not the command itself: nothing is run. A text that is meant as it is stands in single quotes"
        }
        CurlFault::Nul | CurlFault::NotText => {
            "bodies and header fields are text; a definition (docs/definitions.md) has the same limit"
        }
        CurlFault::Unknown(_) => "leave it out, if the server does not need it",
        CurlFault::NoValue(_) => "write the value behind it",
        CurlFault::NotTaken(_, reason) => reason_text(*reason),
        CurlFault::File(_) => {
            "write the content in its place; `plimsoll run URL --data-file FILE` sends a file that you name yourself"
        }
        CurlFault::Value { .. } => "see `man curl`; an empty password is written `-u USER:`",
        CurlFault::Twice(_) => "give it once; values of a list can be joined by commas",
        CurlFault::Contradiction(..) => "leave one of them out, as cURL demands",
        CurlFault::Glob => "write `-g` to take them as they are, or a command for each URL",
    };
    text.to_owned()
}

/// Returns a line for each reason for which options are not taken.
pub(super) fn note_text(notes: &[CurlNote]) -> Vec<String> {
    let mut groups: Vec<(CurlReason, Vec<String>)> = Vec::new();
    for note in notes {
        let option = format!("`{}`", note.option);
        match groups.iter_mut().find(|(reason, _)| *reason == note.reason) {
            Some((_, options)) if options.contains(&option) => {}
            Some((_, options)) => options.push(option),
            None => groups.push((note.reason, vec![option])),
        }
    }
    let line = |(reason, options): (CurlReason, Vec<String>)| {
        format!("not taken: {}: {}", options.join(", "), reason_text(reason))
    };
    groups.into_iter().map(line).collect()
}

fn reason_text(reason: CurlReason) -> &'static str {
    match reason {
        CurlReason::Output => {
            "bodies are checked and not stored; `plimsoll report` and `plimsoll export` write what was measured"
        }
        CurlReason::Redirects => {
            "redirects are not followed: give the command for the page that they lead to"
        }
        CurlReason::Repetition => "a request that fails is counted and not repeated",
        CurlReason::Times => "`--time-limit 5s` limits the time of a request",
        CurlReason::Pace => "`--load` and `--rate` say how much is requested",
        CurlReason::Connections => "connections are kept, and their details are those of the machine",
        CurlReason::Tls => "the best version and ciphers that both sides have are used",
        CurlReason::Memory => {
            "users keep nothing from replies; a definition can let them keep cookies (docs/definitions.md)"
        }
        CurlReason::Proxy => {
            "load the proxy as a server: make it the URL, and name the site by `-H 'Host: …'`"
        }
        CurlReason::Files => {
            "write what it reads into the command; `plimsoll run URL --data-file FILE` sends a file that you name yourself"
        }
        CurlReason::Authentication => {
            "send what is the same in every request: `-u` for Basic, or a field `Authorization`"
        }
        CurlReason::Protocol => "HTTP/1.0, HTTP/1.1 and HTTP/2 are spoken, at `http://` and `https://`",
        CurlReason::Addresses => {
            "`--resolve` and `--connect-to` say where connections go; `--source-addresses` beside `--curl`, where they come from"
        }
        CurlReason::Certificates => {
            "`--cacert`, `--cert` and `--key` name files in PEM form, without passwords"
        }
        CurlReason::Message => "leave it out, if the server does not need it",
    }
}
