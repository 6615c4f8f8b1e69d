//! Replies of SMTP and LMTP servers.
//!
//! A reply has one line or several, of which all but the last have a hyphen behind the code. LMTP servers reply to a message
//! once for each recipient that they took.

use memchr::memchr;
use thiserror::Error;

/// The most bytes of a line. Standards say 512; servers send longer ones.
pub const SMTP_LINE_MAX: usize = 4096;

/// The most lines of a reply, and the most bytes of their texts together.
pub const SMTP_LINES_MAX: usize = 128;
/// The most bytes of the texts of a reply.
pub const SMTP_TEXT_MAX: usize = 16 * 1024;

/// A reply that cannot be read. Nothing that follows on the connection can be read, either.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SmtpError {
    /// A line is too long.
    #[error("a line is longer than {SMTP_LINE_MAX} bytes")]
    LineTooLong,
    /// A reply has too many lines.
    #[error("a reply has more than {SMTP_LINES_MAX} lines")]
    TooManyLines,
    /// The texts of a reply are too long.
    #[error("the lines of a reply have more than {SMTP_TEXT_MAX} bytes")]
    TextTooLong,
    /// A line ends with a line feed alone.
    #[error("a line ends without a carriage return")]
    BareLineFeed,
    /// A byte that no line has.
    #[error("a line has the byte {0:#04x}")]
    ForbiddenByte(u8),
    /// A line without a code from 200 to 599 and a blank or hyphen behind it.
    #[error("a line does not begin with a code from 200 to 599 and a blank or hyphen")]
    Code,
    /// The lines of a reply have different codes.
    #[error("a reply begins with the code {0} and goes on with {1}")]
    OtherCode(u16, u16),
}

/// A reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SmtpReply<'a> {
    /// The code, from 200 to 599.
    pub code: u16,
    /// The texts of the lines, with line feeds between them.
    text: &'a [u8],
}

/// An enhanced status code (RFC 3463): `5.2.2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnhancedStatus {
    /// The class: 2, 4 or 5.
    pub class: u8,
    /// The subject.
    pub subject: u16,
    /// The detail.
    pub detail: u16,
}

impl<'a> SmtpReply<'a> {
    /// Returns the texts of the lines, without codes.
    pub fn lines(&self) -> impl Iterator<Item = &'a [u8]> {
        self.text.split(|byte| *byte == b'\n')
    }

    /// Returns whether the server did what it was told.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.code)
    }

    /// Returns whether the server awaits more, as after DATA.
    pub fn is_intermediate(&self) -> bool {
        (300..400).contains(&self.code)
    }

    /// Returns whether the same may succeed later.
    pub fn is_temporary(&self) -> bool {
        (400..500).contains(&self.code)
    }

    /// Returns the enhanced status code at the beginning of the first line, if its class is that of the code.
    pub fn enhanced(&self) -> Option<EnhancedStatus> {
        let line = self.lines().next()?;
        let word = line.split(|byte| *byte == b' ').next()?;
        let mut parts = word.split(|byte| *byte == b'.');
        let part = |digits: &[u8]| {
            let is_number = (1..=3).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
            is_number.then(|| digits.iter().fold(0, |value, digit| value * 10 + u16::from(digit - b'0')))
        };
        let [class, subject, detail] = [part(parts.next()?)?, part(parts.next()?)?, part(parts.next()?)?];
        let is_it = parts.next().is_none() && class == self.code / 100;
        is_it.then_some(EnhancedStatus { class: class as u8, subject, detail })
    }
}

/// The progress of a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SmtpProgress<'a> {
    /// The number of bytes that were taken, from the beginning of the input.
    pub consumed: usize,
    /// The reply; `None` if more input is needed, of which all was taken.
    pub reply: Option<SmtpReply<'a>>,
}

/// A reader of a server's replies.
#[derive(Debug, Clone, Default)]
pub struct SmtpReader {
    /// The begin of a line whose end is still to come.
    line: Vec<u8>,
    /// The texts of the lines of a reply that is not complete, or has been returned.
    text: Vec<u8>,
    code: Option<u16>,
    n_lines: usize,
    is_complete: bool,
}

/// A line of a reply.
struct ReplyLine<'a> {
    code: u16,
    is_last: bool,
    text: &'a [u8],
}

impl SmtpReader {
    /// Makes a reader.
    pub fn new() -> SmtpReader {
        SmtpReader::default()
    }

    /// Reads to the end of the next reply, or of the input.
    ///
    /// # Errors
    ///
    /// When something is longer than the limits, or no reply. The reader must not be used any more.
    pub fn read<'a>(&'a mut self, input: &[u8]) -> Result<SmtpProgress<'a>, SmtpError> {
        if self.is_complete {
            self.begin_reply();
        }
        let mut consumed = 0;
        while !self.is_complete {
            let rest = &input[consumed..];
            let Some(end) = memchr(b'\n', rest) else {
                self.keep(rest)?;
                return Ok(SmtpProgress { consumed: input.len(), reply: None });
            };
            self.keep(&rest[..=end])?;
            consumed += end + 1;
            self.take_line()?;
        }
        let code = self.code.unwrap_or_default();
        Ok(SmtpProgress { consumed, reply: Some(SmtpReply { code, text: &self.text }) })
    }

    /// Returns whether a reply has begun that is not complete.
    pub fn is_within_reply(&self) -> bool {
        !self.is_complete && (0 < self.n_lines || !self.line.is_empty())
    }

    fn begin_reply(&mut self) {
        self.text.clear();
        self.code = None;
        self.n_lines = 0;
        self.is_complete = false;
    }

    fn keep(&mut self, piece: &[u8]) -> Result<(), SmtpError> {
        if SMTP_LINE_MAX < self.line.len() + piece.len() {
            return Err(SmtpError::LineTooLong);
        }
        self.line.extend_from_slice(piece);
        Ok(())
    }

    fn take_line(&mut self) -> Result<(), SmtpError> {
        let line = parse_line(&self.line)?;
        if let Some(code) = self.code
            && code != line.code
        {
            return Err(SmtpError::OtherCode(code, line.code));
        }
        if SMTP_LINES_MAX <= self.n_lines {
            return Err(SmtpError::TooManyLines);
        }
        if SMTP_TEXT_MAX < self.text.len() + line.text.len() + 1 {
            return Err(SmtpError::TextTooLong);
        }
        if 0 < self.n_lines {
            self.text.push(b'\n');
        }
        self.text.extend_from_slice(line.text);
        self.code = Some(line.code);
        self.is_complete = line.is_last;
        self.n_lines += 1;
        self.line.clear();
        Ok(())
    }
}

fn parse_line(line: &[u8]) -> Result<ReplyLine<'_>, SmtpError> {
    let line = line.strip_suffix(b"\r\n").ok_or(SmtpError::BareLineFeed)?;
    if let Some(byte) = line.iter().find(|byte| **byte == b'\r' || **byte == 0) {
        return Err(SmtpError::ForbiddenByte(*byte));
    }
    let [first @ b'2'..=b'5', second, third, behind @ ..] = line else { return Err(SmtpError::Code) };
    if !second.is_ascii_digit() || !third.is_ascii_digit() {
        return Err(SmtpError::Code);
    }
    let code = [first, second, third].into_iter().fold(0, |code, digit| code * 10 + u16::from(digit - b'0'));
    let (is_last, text) = match behind {
        [] => (true, behind),
        [b' ', text @ ..] => (true, text),
        [b'-', text @ ..] => (false, text),
        _ => return Err(SmtpError::Code),
    };
    Ok(ReplyLine { code, is_last, text })
}

/// The extensions that a server offers in its reply to EHLO or LHLO.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SmtpExtensions {
    /// Commands need not be awaited.
    pub pipelining: bool,
    /// TLS can begin in the connection.
    pub start_tls: bool,
    /// AUTH PLAIN.
    pub auth_plain: bool,
    /// AUTH LOGIN.
    pub auth_login: bool,
    /// BDAT.
    pub chunking: bool,
    /// Bytes above 127 in messages.
    pub eight_bit: bool,
    /// Enhanced status codes.
    pub enhanced_status: bool,
    /// The most bytes of a message, where the server says so; 0 is no limit.
    pub size_max: Option<u64>,
}

impl SmtpExtensions {
    /// Reads the reply to EHLO or LHLO, of which the first line is a greeting.
    pub fn read(reply: &SmtpReply) -> SmtpExtensions {
        let mut extensions = SmtpExtensions::default();
        for line in reply.lines().skip(1) {
            // Old servers write `AUTH=` before the first mechanism.
            let mut words = line.split(|byte| b" =".contains(byte)).filter(|word| !word.is_empty());
            let Some(name) = words.next() else { continue };
            let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
            if is("AUTH") {
                for mechanism in words {
                    extensions.auth_plain |= mechanism.eq_ignore_ascii_case(b"PLAIN");
                    extensions.auth_login |= mechanism.eq_ignore_ascii_case(b"LOGIN");
                }
            } else if is("SIZE") {
                let digits = words.next().and_then(|word| std::str::from_utf8(word).ok());
                extensions.size_max = digits.and_then(|digits| digits.parse().ok());
            } else {
                extensions.pipelining |= is("PIPELINING");
                extensions.start_tls |= is("STARTTLS");
                extensions.chunking |= is("CHUNKING");
                extensions.eight_bit |= is("8BITMIME");
                extensions.enhanced_status |= is("ENHANCEDSTATUSCODES");
            }
        }
        extensions
    }
}
