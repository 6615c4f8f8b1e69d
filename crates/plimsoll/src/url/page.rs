//! URLs of pages, and files of them.

use std::path::Path;

use drivers::web::{Target, TargetAccess, at_socket};
use languages::{
    HttpUrl, HttpUrlError, UrlScheme, credential_spans, foreign_text, nearest, percent_encoded,
    without_credentials,
};

use super::value::UrlValue;
use crate::exit::Failure;
use crate::files::read_or_input;
use crate::url_words::command_for;

/// The most URLs of one run: each is a kind of request, with a row in tables.
pub(super) const PAGES_MAX: usize = 500;

/// The longest path of a request, in bytes: that of definitions.
const PATH_MAX: usize = 2000;

/// A page of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PageUrl {
    /// The server.
    pub target: Target,
    /// The path in clear, with `{envN}` in place of values from the environment, as definitions write it.
    pub path: String,
    /// The values in it, by their names.
    pub values: Vec<(String, UrlValue)>,
}

/// Reads the URLs of the command line and of the file, in this order.
///
/// # Errors
/// A URL is not valid, they belong to different servers, or the file cannot be read.
pub(super) fn read_pages(words: &[String], file: Option<&Path>) -> Result<Vec<PageUrl>, Failure> {
    let mut pages = Vec::new();
    for word in words {
        pages.push(parse(word, "")?);
    }
    if let Some(path) = file {
        let text = read_or_input(path)?;
        for (n, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('#') {
                pages.push(parse(line, &format!("`{}`, line {n}: ", path.display()))?);
            }
        }
        if pages.is_empty() {
            let error = format!("`{}` has no URL", path.display());
            return Err(Failure::usage(error).hint("write one URL per line"));
        }
    }
    check_together(&pages)?;
    Ok(pages)
}

fn check_together(pages: &[PageUrl]) -> Result<(), Failure> {
    if PAGES_MAX < pages.len() {
        let error = format!("expected at most {PAGES_MAX} URLs, found {}", pages.len());
        return Err(Failure::usage(error).hint(
            "requests that differ in a part of their path are one kind with a parameter in a definition (docs/definitions.md)",
        ));
    }
    let Some(first) = pages.first() else { return Ok(()) };
    match pages.iter().find(|page| page.target != first.target) {
        Some(other) => {
            let error = format!("expected URLs of one server, found {} and {}", first.target, other.target);
            Err(Failure::usage(error)
                .hint("`--compare` loads both in turns and compares them; `plimsoll compare RUN RUN` compares separate runs"))
        }
        None => Ok(()),
    }
}

/// Reads a URL; `place` is the place where it was found, for messages.
///
/// # Errors
/// It is not the URL of a page, or has a credential in clear.
pub(super) fn parse(word: &str, place: &str) -> Result<PageUrl, Failure> {
    let url = with_named_values(word).map_err(|why| mistake(place, word, why))?;
    let (target, path) = server_and_path(&url.text, place, word)?;
    let query = path.find('?').map_or("", |at| &path[at..]);
    if !credential_spans(query).is_empty() {
        let error = format!("{place}`{}` has a credential in clear, which others can see", shown(word));
        return Err(
            Failure::usage(error).hint("put it into an environment variable and write `{env:NAME}` instead")
        );
    }
    if PATH_MAX < path.len() {
        let why = format!("its path has more than {PATH_MAX} characters: servers refuse longer ones");
        return Err(mistake(place, word, &why));
    }
    Ok(PageUrl { target, path, values: url.values })
}

/// Splits a URL into its server, which may be a Unix socket, and the path with the query.
fn server_and_path(url: &str, place: &str, word: &str) -> Result<(Target, String), Failure> {
    if let Some(suggested) = socket_url(word) {
        let failure = mistake(place, word, "the path of a Unix socket is written percent-encoded");
        return Err(failure.hint(format!("did you mean `{}`?", shown(&suggested))));
    }
    let at_socket = at_socket(url).transpose().map_err(|why| mistake(place, word, why))?;
    // A path is read as that of any other server.
    let plain = at_socket.as_ref().map(|(_, path)| format!("http://localhost{path}"));
    let parsed: HttpUrl =
        plain.as_deref().unwrap_or(url).parse().map_err(|error| url_mistake(place, word, error))?;
    let Some(scheme) = parsed.scheme else { return Err(scheme_mistake(place, word)) };
    let path = if parsed.target.is_empty() { "/".to_owned() } else { parsed.target.clone() };
    let target = at_socket.map(|(target, _)| target).unwrap_or_else(|| Target {
        port: parsed.port_or_default(),
        secure: scheme == UrlScheme::Https,
        host: parsed.host,
        access: TargetAccess::default(),
    });
    Ok((target, path))
}

/// Returns the URL that is meant by other notations of a Unix socket: `unix:/run/app.sock`, as in nginx, and
/// `http://unix:/run/app.sock:/page`, as in Node. `None` of other texts.
fn socket_url(word: &str) -> Option<String> {
    let starts = ["http://unix:", "http+unix:///", "unix://", "unix:"];
    let rest = starts.iter().find_map(|start| word.strip_prefix(start))?;
    let (socket, page) = rest.split_once(':').unwrap_or((rest, "/"));
    let socket = format!("/{}", socket.trim_matches('/'));
    Some(format!("http+unix://{}/{}", percent_encoded(&socket), page.trim_start_matches('/')))
}

/// A URL with names in place of its values from the environment.
struct NamedUrl {
    text: String,
    values: Vec<(String, UrlValue)>,
}

/// Replaces each `{env:NAME}` by the name of a parameter, and percent-encodes other braces.
fn with_named_values(word: &str) -> Result<NamedUrl, &'static str> {
    let mut text = String::new();
    let mut values = Vec::new();
    let mut rest = word;
    while let Some(start) = rest.find("{env:") {
        let end = rest[start..].find('}').ok_or("`{env:NAME}` is not closed")? + start + 1;
        let value = UrlValue::parse(&rest[start..end])?;
        let name = format!("env{}", values.len() + 1);
        text += &encoded(&rest[..start]);
        text += &format!("{{{name}}}");
        values.push((name, value));
        rest = &rest[end..];
    }
    text += &encoded(rest);
    Ok(NamedUrl { text, values })
}

/// Braces are not allowed in URLs (RFC 3986), and parameters in definitions.
fn encoded(text: &str) -> String {
    text.replace('{', "%7B").replace('}', "%7D")
}

fn url_mistake(place: &str, word: &str, error: HttpUrlError) -> Failure {
    match error {
        HttpUrlError::Scheme => scheme_mistake(place, word),
        HttpUrlError::Host | HttpUrlError::Port if !word.contains("://") => scheme_mistake(place, word),
        HttpUrlError::UserInfo => {
            let error = format!("{place}`{}` has a user name or a password, which others can see", shown(word));
            Failure::usage(error).hint(
                "send them from an environment variable, as the base64 form of `USER:PASSWORD`: \
                `-H 'Authorization: Basic {env:NAME}'`",
            )
        }
        HttpUrlError::Character => mistake(place, word, "fragments, blanks and non-ASCII characters are not allowed")
            .hint("write them percent-encoded, such as `%20` for a space, and leave out a fragment (`#…`), which is never sent"),
        other => mistake(place, word, &other.to_string()).hint("write it as `http://localhost:8080/`"),
    }
}

/// Returns the failure of a scheme that is missing, misspelled or unknown.
fn scheme_mistake(place: &str, word: &str) -> Failure {
    let (scheme, rest) = match word.split_once(':') {
        Some((scheme, rest)) if word.contains("://") || rest.starts_with('/') => (scheme, rest),
        _ => ("", word),
    };
    if let Some(command) = command_for(word) {
        return mistake(place, word, "it is not a web server").hint(command);
    }
    let rest = rest.trim_start_matches('/');
    let scheme_meant = nearest(&scheme.to_ascii_lowercase(), ["http", "https"]).unwrap_or("http");
    let failure = mistake(place, word, "expected `http://` or `https://`");
    if rest.is_empty() {
        failure
    } else {
        failure.hint(format!("did you mean `{scheme_meant}://{}`?", shown(rest)))
    }
}

fn mistake(place: &str, word: &str, why: &str) -> Failure {
    Failure::usage(format!("{place}`{}` is not the URL of a page: {why}", shown(word)))
}

/// Returns a URL for messages, without user name, password and credentials in its query.
fn shown(word: &str) -> String {
    let (scheme, rest) = word.split_once("://").map_or(("", word), |(scheme, rest)| (scheme, rest));
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let rest = match authority.rfind('@') {
        Some(at) => format!("[redacted]{}", &rest[at..]),
        None => rest.to_owned(),
    };
    let separator = if word.contains("://") { "://" } else { "" };
    foreign_text(&without_credentials(&format!("{scheme}{separator}{rest}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url_words::is_url;

    #[test]
    fn urls_are_servers_and_paths() {
        let parsed = |word| parse(word, "").map(|page| (page.target.to_string(), page.path)).unwrap();
        for (word, target, path) in [
            ("http://localhost:8080/", "http://localhost:8080/", "/"),
            ("http://localhost", "http://localhost:80/", "/"),
            ("HTTPS://h/a?b=c", "https://h:443/", "/a?b=c"),
            ("http://h?b", "http://h:80/", "/?b"),
            ("http://müller.example/", "http://xn--mller-kva.example:80/", "/"),
            ("http+unix://%2Frun%2Fa.sock/x?a=b", "http+unix://%2Frun%2Fa.sock/", "/x?a=b"),
            ("http+unix://%2Frun%2Fa.sock", "http+unix://%2Frun%2Fa.sock/", "/"),
            ("http://h/{x}", "http://h:80/", "/%7Bx%7D"),
            ("http://h/?k={env:KEY}&b={env:B}", "http://h:80/", "/?k={env1}&b={env2}"),
        ] {
            assert_eq!(parsed(word), (target.to_owned(), path.to_owned()), "{word}");
        }
    }

    #[test]
    fn other_notations_of_a_socket_lead_to_its_url() {
        for (word, url) in [
            ("unix:/run/app.sock", "http+unix://%2Frun%2Fapp.sock/"),
            ("unix:///run/app.sock", "http+unix://%2Frun%2Fapp.sock/"),
            ("http+unix:///run/app.sock", "http+unix://%2Frun%2Fapp.sock/"),
            ("http://unix:/run/app.sock:/a/b", "http+unix://%2Frun%2Fapp.sock/a/b"),
        ] {
            assert!(is_url(word));
            assert_eq!(socket_url(word).as_deref(), Some(url), "{word}");
            assert!(parse(word, "").unwrap_err().message().contains("percent-encoded"));
            assert!(parse(url, "").is_ok());
        }
        assert_eq!(socket_url("http://localhost/"), None);
    }

    #[test]
    fn mistakes_are_named_and_credentials_are_not() {
        let found: Vec<String> = [
            "htp://localhost/",
            "https//localhost/",
            "localhost:8080/",
            "ftp://localhost/",
            "http:/localhost/",
            "http://me:s3cret@localhost/",
            "http://s3cret@localhost/",
            "http://localhost/?api_key=s3cret",
            "http://localhost/a b",
            "http://localhost:99999/",
            "http:///",
            "http://localhost/{env:A",
            "postgres://me:s3cret@localhost/shop",
            "jdbc:mysql://localhost/shop?password=s3cret",
        ]
        .iter()
        .map(|word| parse(word, "").unwrap_err().message().to_owned())
        .collect();
        assert!(found.iter().all(|message| !message.contains("s3cret")), "{found:#?}");
        insta::assert_snapshot!(found.join("\n"), @r"
        `htp://localhost/` is not the URL of a page: expected `http://` or `https://`
        `https//localhost/` is not the URL of a page: expected `http://` or `https://`
        `localhost:8080/` is not the URL of a page: expected `http://` or `https://`
        `ftp://localhost/` is not the URL of a page: expected `http://` or `https://`
        `http:/localhost/` is not the URL of a page: expected `http://` or `https://`
        `http://[redacted]@localhost/` has a user name or a password, which others can see
        `http://[redacted]@localhost/` has a user name or a password, which others can see
        `http://localhost/?api_key=[redacted]` has a credential in clear, which others can see
        `http://localhost/a b` is not the URL of a page: fragments, blanks and non-ASCII characters are not allowed
        `http://localhost:99999/` is not the URL of a page: expected a port from 1 to 65535
        `http:///` is not the URL of a page: expected a host name or address, an IPv6 address in brackets
        `http://localhost/{env:A` is not the URL of a page: `{env:NAME}` is not closed
        `postgres://[redacted]@localhost/shop` is not the URL of a page: it is not a web server
        `jdbc:mysql://localhost/shop?password=[redacted]` is not the URL of a page: it is not a web server
        ");
    }

    #[test]
    fn urls_of_two_servers_are_not_one_run() {
        let words = ["http://a/", "http://b/"].map(str::to_owned);
        let message = read_pages(&words, None).unwrap_err().message().to_owned();
        assert_eq!(message, "expected URLs of one server, found http://a:80/ and http://b:80/");
    }
}
