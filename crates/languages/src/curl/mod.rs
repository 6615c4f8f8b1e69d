//! Command lines of cURL, as browsers copy them: one or several commands, quoted for bash or for Windows' cmd.
//!
//! Nothing is executed, expanded or fetched, and no file is read: an expansion that a shell would make, a pipe, or a file in
//! place of a value is a fault with its line. Each option is taken, or it is reported: one that changes what is sent is a
//! fault, any other a note.
//!
//! - `shell`: words as bash makes them; `cmd`: as cmd and the C library of Windows do
//! - `options`: the table of options
//! - `command`: the requests of a command
//! - `body`: data, forms; `url`: the URL as cURL sends it

mod body;
mod cmd;
mod command;
mod options;
mod shell;
mod url;

pub use options::CurlReason;

/// The longest text of commands, in bytes: a hundred times what a browser copies of a large page.
const TEXT_BYTES_MAX: usize = 16 << 20;

/// The most requests of all commands.
const REQUESTS_MAX: usize = 1000;

/// The most bytes of the requests of one command, which repeat its header fields and its body for each of its URLs.
const COMMAND_BYTES_MAX: usize = 64 << 20;

/// The most faults that are reported.
const FAULTS_MAX: usize = 20;

/// The requests of commands, in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CurlRequests {
    /// The requests; not empty.
    pub requests: Vec<CurlRequest>,
    /// The options that are not taken and do not change what is sent.
    pub notes: Vec<CurlNote>,
}

/// A request of a command. What it sends may be secret.
#[derive(Clone, PartialEq, Eq)]
pub struct CurlRequest {
    /// The line of its command, counted from 1.
    pub line: usize,
    /// The method.
    pub method: String,
    /// The URL, with a scheme, without user name, password and fragment.
    pub url: String,
    /// The header fields of options, in their order; cookies, credentials and the type of the body are among them.
    pub headers: Vec<(String, String)>,
    /// The body; `None` without one.
    pub body: Option<String>,
    /// The way to connect.
    pub connection: CurlConnection,
}

impl std::fmt::Debug for CurlRequest {
    /// Writes no value, which may be secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CurlRequest")
            .field("line", &self.line)
            .field("method", &self.method)
            .finish_non_exhaustive()
    }
}

/// The way to connect that a command names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CurlConnection {
    /// Whether any certificate is accepted.
    pub insecure: bool,
    /// The file of the accepted authorities.
    pub ca: Option<String>,
    /// The file of the client certificate.
    pub cert: Option<String>,
    /// The file of its private key.
    pub key: Option<String>,
    /// The values of `--resolve`.
    pub resolve: Vec<String>,
    /// The values of `--connect-to`.
    pub connect_to: Vec<String>,
    /// The path of a Unix socket.
    pub unix_socket: Option<String>,
    /// The version of HTTP: `1.0`, `1.1` or `2`.
    pub http: Option<&'static str>,
}

/// An option that is not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurlNote {
    /// The line of its command.
    pub line: usize,
    /// The option as it is written, without a value.
    pub option: String,
    /// The reason.
    pub reason: CurlReason,
}

/// A fault with the line of its command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct PlacedCurlFault {
    /// The line, counted from 1.
    pub line: usize,
    /// The fault.
    pub fault: CurlFault,
}

/// A reason why a text is not a command line of cURL that can be taken. None repeats a value, which may be secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CurlFault {
    /// The text is too long.
    #[error("expected at most {TEXT_BYTES_MAX} bytes of commands")]
    TooLong,
    /// There are too many requests, or they repeat too much.
    #[error(
        "expected at most {REQUESTS_MAX} requests, and {COMMAND_BYTES_MAX} bytes of those of one command"
    )]
    TooMany,
    /// There is no command.
    #[error("expected a command that begins with `curl`, found none")]
    Empty,
    /// A quote that does not end.
    #[error("the quote `{0}` is not closed")]
    OpenQuote(&'static str),
    /// A variable that a shell would replace.
    #[error("a shell would put the value of a variable in place of `${0}`")]
    Variable(String),
    /// A command within the command.
    #[error("a shell would run the command within {0}")]
    Substitution(&'static str),
    /// A word that a shell would make several words of.
    #[error("a shell would make several words of `{{…,…}}`")]
    Braces,
    /// A pipe, a redirection or a subshell.
    #[error("`{0}` connects a command with a file or another command")]
    Operator(char),
    /// A NUL.
    #[error("a NUL, which no command line can have")]
    Nul,
    /// Bytes that are not UTF-8.
    #[error("bytes that are not UTF-8")]
    NotText,
    /// Another command than curl.
    #[error("expected a command that begins with `curl`, found `{0}`")]
    OtherCommand(String),
    /// A command without a URL.
    #[error("the command has no URL")]
    NoUrl,
    /// An option that cURL does not have.
    #[error("`{0}` is not an option of cURL that is known here")]
    Unknown(String),
    /// An option without its value.
    #[error("`{0}` needs a value")]
    NoValue(String),
    /// An option that would change what is sent.
    #[error("`{0}` is not taken")]
    NotTaken(String, CurlReason),
    /// A file in place of a value.
    #[error("`{0}` names a file, and no file is read for a command")]
    File(String),
    /// A value that is not as cURL expects it.
    #[error("the value of `{option}` is not {expected}")]
    Value {
        /// The option.
        option: String,
        /// The form of its values.
        expected: &'static str,
    },
    /// A header field that is there twice.
    #[error("the header field `{0}` is given twice")]
    Twice(String),
    /// Two kinds of bodies, or a body of a request that has none.
    #[error("`{0}` and `{1}` contradict each other")]
    Contradiction(&'static str, &'static str),
    /// A URL that stands for several.
    #[error("cURL would request several URLs for the braces or brackets in this one")]
    Glob,
}

/// Reads command lines.
///
/// # Errors
/// All faults of options, in their order, or the first of quoting.
pub fn parse_curl(text: &str) -> Result<CurlRequests, Vec<PlacedCurlFault>> {
    let whole = |fault| vec![PlacedCurlFault { line: 1, fault }];
    if TEXT_BYTES_MAX < text.len() {
        return Err(whole(CurlFault::TooLong));
    }
    let commands = if cmd::is_cmd(text) { cmd::commands(text) } else { shell::commands(text) };
    let commands = commands.map_err(|fault| vec![fault])?;
    if commands.is_empty() {
        return Err(whole(CurlFault::Empty));
    }
    let mut read = CurlRequests::default();
    let mut faults = Vec::new();
    for command in commands {
        command::read(command, &mut read, &mut faults);
        if FAULTS_MAX <= faults.len() {
            break;
        }
    }
    faults.truncate(FAULTS_MAX);
    if faults.is_empty() { Ok(read) } else { Err(faults) }
}

#[cfg(test)]
mod tests;
