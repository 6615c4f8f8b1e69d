//! Commands of SMTP and LMTP, read.

/// The most bytes of an address.
const ADDRESS_BYTES_MAX: usize = 320;

/// A command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SmtpVerb {
    Helo,
    Ehlo,
    Lhlo,
    Auth,
    Mail,
    Rcpt,
    Data,
    Rset,
    Noop,
    Vrfy,
    Quit,
}

const VERBS: [(&str, SmtpVerb); 11] = [
    ("HELO", SmtpVerb::Helo),
    ("EHLO", SmtpVerb::Ehlo),
    ("LHLO", SmtpVerb::Lhlo),
    ("AUTH", SmtpVerb::Auth),
    ("MAIL", SmtpVerb::Mail),
    ("RCPT", SmtpVerb::Rcpt),
    ("DATA", SmtpVerb::Data),
    ("RSET", SmtpVerb::Rset),
    ("NOOP", SmtpVerb::Noop),
    ("VRFY", SmtpVerb::Vrfy),
    ("QUIT", SmtpVerb::Quit),
];

/// The arguments of MAIL and RCPT: an address, which may be empty, and parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PathArguments<'a> {
    pub(super) address: &'a str,
    parameters: &'a str,
}

/// Reads a line: its command, and what stands behind it. `None` if there is no such command.
pub(super) fn read_line(line: &[u8]) -> Option<(SmtpVerb, &str)> {
    let line = std::str::from_utf8(line).ok()?.trim_end();
    let (verb, arguments) = line.split_once(' ').unwrap_or((line, ""));
    let (_, verb) = VERBS.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(verb))?;
    Some((verb, arguments.trim_start()))
}

/// Reads the arguments of MAIL or RCPT behind `FROM:` or `TO:`.
pub(super) fn path_arguments<'a>(arguments: &'a str, name: &str) -> Option<PathArguments<'a>> {
    let begin = arguments.get(..name.len())?;
    let rest = arguments.get(name.len()..)?.trim_start().strip_prefix('<')?;
    let (address, parameters) = rest.split_once('>')?;
    let is_address = address.bytes().all(|byte| (b'!'..=b'~').contains(&byte) && byte != b'<');
    let is_separate = parameters.is_empty() || parameters.starts_with(' ');
    let is_whole = begin.eq_ignore_ascii_case(name) && is_separate && address.len() <= ADDRESS_BYTES_MAX;
    (is_address && is_whole).then_some(PathArguments { address, parameters })
}

impl<'a> PathArguments<'a> {
    /// Returns its parameters: names with values, which may be empty.
    pub(super) fn parameters(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.parameters.split_ascii_whitespace().map(|word| word.split_once('=').unwrap_or((word, "")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_a_command_and_arguments() {
        assert_eq!(read_line(b"ehlo a b\r\n"), Some((SmtpVerb::Ehlo, "a b")));
        assert_eq!(read_line(b"DATA\r\n"), Some((SmtpVerb::Data, "")));
        assert_eq!(read_line(b"RSET  \n"), Some((SmtpVerb::Rset, "")));
        for line in [&b"\r\n"[..], b"DAT\r\n", b"DATAX\r\n", b"\xff\r\n", b" NOOP\r\n"] {
            assert_eq!(read_line(line), None, "{line:?}");
        }
    }

    #[test]
    fn paths_have_an_address_and_parameters() {
        let path = path_arguments("from:<a@b> SIZE=5 BODY=8BITMIME X", "FROM:").unwrap();
        assert_eq!(path.address, "a@b");
        assert_eq!(path.parameters().collect::<Vec<_>>(), [("SIZE", "5"), ("BODY", "8BITMIME"), ("X", "")]);
        assert_eq!(path_arguments("TO: <>", "TO:").map(|path| path.address), Some(""));
        let long = format!("TO:<{}>", "a".repeat(321));
        for text in [
            "",
            "TO",
            "FROM:<a@b>",
            "TO:a@b",
            "TO:<a@b",
            "TO:<a b>",
            "TO:<a@b>x",
            "TO:<<a>",
            "TO:<\u{e9}>",
            &long,
        ] {
            assert_eq!(path_arguments(text, "TO:"), None, "{text}");
        }
    }
}
