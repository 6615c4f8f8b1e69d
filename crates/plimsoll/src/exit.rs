//! Exit codes, and failures with their messages and hints.

use std::fmt::Display;
use std::io;
use std::process::ExitCode;

use analysis::VerdictState;
use drivers::database::SessionProblem;
use drivers::{CertificateProblem, HandshakeProblem};
use fleet::{FleetError, LoadError, NoMemoryLimit, VerifyError};
use languages::{Diagnostics, escaped};
use model::{Ending, Family, Outcome, Problem};
use runfile::RunFileError;
use testbed::{RecipeError, SutError};

use crate::stderr::{eprint, eprint_styled};

/// The exit code of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// The command succeeded; if it was a run, the run is valid.
    Valid = 0,
    /// A bug in Plimsoll.
    Internal = 1,
    /// A mistake in the command line or in a file of the user's.
    Usage = 2,
    /// The run is not valid.
    Invalid = 3,
    /// The server or the machine is not usable.
    Testbed = 4,
    /// A limit that the user set was missed, or there were too few operations to decide it.
    Limit = 5,
    /// An audit found differences.
    Differences = 6,
    /// The target policy refused.
    Refused = 7,
    /// The command was interrupted; the records so far are kept.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

impl Exit {
    /// Returns the exit code for a run's verdict and ending.
    pub fn of_run(state: VerdictState, ending: &Ending) -> Exit {
        match (state, ending) {
            (VerdictState::Valid, _) => Exit::Valid,
            (_, Ending::Stopped(reason)) if reason == fleet::INTERRUPTED => Exit::Interrupted,
            _ => Exit::Invalid,
        }
    }
}

/// A failed command: the message for the user and the exit code.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    message: String,
    hint: Option<String>,
    /// Whether the message already begins with `error:`, as diagnostics do.
    has_prefix: bool,
}

impl Failure {
    /// Makes a failure without a hint; `message` may contain its own.
    pub(crate) fn new(exit: Exit, message: impl Display) -> Failure {
        Failure { exit, message: message.to_string(), hint: None, has_prefix: false }
    }

    /// Makes a failure that is the user's mistake.
    pub(crate) fn usage(message: impl Display) -> Failure {
        Failure::new(Exit::Usage, message)
    }

    /// Makes a user's mistake from diagnostics, which contain their own prefixes and hints.
    fn rendered(text: String) -> Failure {
        Failure { has_prefix: true, ..Failure::usage(text) }
    }

    /// Adds a hint: what to do about it.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }

    /// Returns the message without the hint.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Prints the failure on standard error and returns the exit code.
    pub(crate) fn report(self) -> Exit {
        match self.has_prefix {
            true => eprint_styled(self.message.trim_end()),
            false => eprint(format!("error: {}", self.message.trim_end())),
        }
        if let Some(hint) = self.hint {
            eprint(format!("hint: {hint}"));
        }
        self.exit
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::new(Exit::Internal, error)
    }
}

impl From<Diagnostics> for Failure {
    fn from(diagnostics: Diagnostics) -> Failure {
        Failure::rendered(diagnostics.render(true))
    }
}

impl From<Vec<Problem>> for Failure {
    fn from(problems: Vec<Problem>) -> Failure {
        let text = |problem: &Problem| format!("error: {problem}\nhint: {}", problem.hint());
        Failure::rendered(escaped(&problems.iter().map(text).collect::<Vec<_>>().join("\n")).into_owned())
    }
}

impl From<RunFileError> for Failure {
    fn from(error: RunFileError) -> Failure {
        Failure { hint: error.hint(), ..Failure::usage(&error) }
    }
}

impl Failure {
    /// Makes a failure of a run; the hint differs if the benchmark is the user's own definition, or URLs.
    pub(crate) fn of_run(error: FleetError, is_own_definition: bool) -> Failure {
        match &error {
            FleetError::Verify(VerifyError::Unreachable { outcome, .. }) if is_own_definition => {
                Failure::new(Exit::Testbed, &error).hint(own_unreachable_hint(*outcome))
            }
            FleetError::Verify(VerifyError::Wrong { family: Family::Web, .. }) if is_own_definition => {
                Failure::new(Exit::Testbed, &error).hint(
                    "check `path`, `status` and `reply` in the definition; files that it names by size are Plimsoll's own, which \
                    `--sut nginx` creates and serves",
                )
            }
            _ => error.into(),
        }
    }
}

impl From<FleetError> for Failure {
    fn from(error: FleetError) -> Failure {
        let failure = |exit| Failure::new(exit, &error);
        match &error {
            FleetError::Policy(drivers::TargetPolicyError::Forbidden { address, .. })
                if address.is_unspecified() =>
            {
                let local = if address.is_ipv4() { "127.0.0.1" } else { "[::1]" };
                failure(Exit::Refused).hint(format!(
                    "did you mean `{local}`? A server that listens at `{address}` listens at every address of its machine"
                ))
            }
            FleetError::Policy(drivers::TargetPolicyError::Forbidden { .. }) => failure(Exit::Refused).hint(
                "Plimsoll sends load to loopback and private addresses only; run it inside the server's own network",
            ),
            FleetError::Policy(_) => {
                failure(Exit::Testbed).hint("check the spelling of the name, or use the server's address")
            }
            FleetError::Verify(VerifyError::Wrong { family: Family::Sql, .. }) => failure(Exit::Testbed)
                .hint("check the statements, their `rows`, and the time limit in the definition"),
            FleetError::Verify(VerifyError::NotPrepared { .. }) => failure(Exit::Testbed).hint(
                "check the statements in the definition, and the privileges of the target's user; write a value \
                 in braces without quotes",
            ),
            FleetError::Verify(VerifyError::NoSession { target, problem, .. }) => {
                failure(Exit::Testbed).hint(session_hint(*problem, target))
            }
            FleetError::Verify(VerifyError::Wrong { family, .. }) if *family != Family::Web => {
                failure(Exit::Testbed).hint("check which server answers at the target")
            }
            FleetError::Verify(VerifyError::Wrong { .. }) => failure(Exit::Testbed).hint(
                "create the files with `plimsoll populate BENCHMARK --dir DIR` and let the server serve DIR; in your own \
                recipe, that directory is `{root}`",
            ),
            FleetError::Verify(VerifyError::Unreachable { family, .. }) => failure(Exit::Testbed)
                .hint(unreachable_hint(*family)),
            FleetError::Verify(VerifyError::NotFetched { outcome, is_in_protocol, .. }) => {
                failure(Exit::Testbed).hint(not_fetched_hint(*outcome, *is_in_protocol))
            }
            FleetError::Verify(VerifyError::Certificate { problem, .. }) => {
                failure(Exit::Testbed).hint(certificate_hint(problem))
            }
            FleetError::Verify(VerifyError::Handshake { problem, .. }) => {
                failure(Exit::Testbed).hint(tls_hint(*problem))
            }
            FleetError::Verify(VerifyError::WrongData { target, .. }) => {
                failure(Exit::Testbed).hint(data_hint(target))
            }
            FleetError::Verify(VerifyError::TooFewConnections { remedy, .. }) => {
                failure(Exit::Testbed).hint(match remedy {
                    Some(option) => format!("{option} fits these connections; or raise that limit"),
                    None => "raise that limit, or close some of the existing sessions".to_owned(),
                })
            }
            // A profile or gateway that the recipe lacks; the message lists those that it has.
            FleetError::Sut(SutError::Lacks { .. }) => failure(Exit::Usage),
            FleetError::Verify(VerifyError::Interrupted) => failure(Exit::Interrupted),
            FleetError::Verify(VerifyError::System(_))
            | FleetError::Sut(_) | FleetError::Watch(_)
            | FleetError::Load(LoadError::Thread { .. }) => failure(Exit::Testbed),
            FleetError::RunFile(why) => {
                let exit = if matches!(why, RunFileError::Exists { .. }) { Exit::Usage } else { Exit::Testbed };
                let is_creation = matches!(
                    why,
                    RunFileError::Io { doing: "creating", .. } | RunFileError::Database { doing: "creating", .. }
                );
                let other_path = || is_creation.then(|| "choose another path with `--out`".to_owned());
                Failure { hint: why.hint().or_else(other_path), ..failure(exit) }
            }
            FleetError::NoMemoryLimit(why) => failure(Exit::Usage).hint(memory_limit_hint(why)),
            FleetError::FilesInMemory { .. } => failure(Exit::Testbed).hint(
                "mount a disk there, or start the server yourself with its files on a disk, and load it with `--target`",
            ),
            FleetError::NoRoom { others: 1.., .. } => failure(Exit::Testbed)
                .hint("free some disk space, or run servers and settings one at a time, or with fewer clients (`--load`)"),
            FleetError::NoRoom { .. } => failure(Exit::Testbed)
                .hint("free some disk space, or use a smaller `--set range=…` or fewer clients with `--load`"),
            FleetError::NoRoomForData { .. } => failure(Exit::Testbed)
                .hint("free some disk space, or use less data: `--set warehouses=10`, `--set divisor=100`"),
            // The message has its hint where there is a remedy.
            FleetError::EmbeddedData(_) => failure(Exit::Testbed),
            // All load threads are in this process.
            FleetError::Load(LoadError::Panicked | LoadError::Collect(_)) => failure(Exit::Internal),
            FleetError::Search(_)
            | FleetError::Processes(_)
            | FleetError::Verify(VerifyError::Setup(_))
            | FleetError::Load(LoadError::Setup(_)) => {
                failure(Exit::Usage)
            }
        }
    }
}

fn memory_limit_hint(why: &NoMemoryLimit) -> &'static str {
    match why {
        NoMemoryLimit::OfStarted => {
            "limit the server with `--sut-memory 512MiB`, or give a size: `--set range=8MiB`"
        }
        NoMemoryLimit::OfRunning => {
            "start the server with a limit, for example by `systemd-run --scope -p MemoryMax=512M COMMAND`, or give a \
            size: `--set range=8MiB`"
        }
        NoMemoryLimit::Elsewhere | NoMemoryLimit::Unseen(_) => {
            "give a size, such as `--set range=8MiB`: `auto` is 0.78 of the server's memory limit ÷ 40"
        }
    }
}

fn unreachable_hint(family: Family) -> &'static str {
    match family {
        Family::Web => {
            "start the server first, or let Plimsoll start one: `plimsoll run BENCHMARK --sut nginx`"
        }
        Family::App | Family::OrderEntry => {
            "start the server first, or omit `--target` for the built-in server"
        }
        Family::Sql => "check that the database runs, its address and its port",
        #[cfg(feature = "echo")]
        Family::Echo => "start the server first",
    }
}

/// Returns the remedy where a user's own server is not reached, which no other server can stand for.
fn own_unreachable_hint(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Refused => "nothing listens there: check that the server runs, and on which port",
        _ => "check the server's address, and the network on the way to it",
    }
}

fn not_fetched_hint(outcome: Outcome, is_http: bool) -> &'static str {
    match outcome {
        Outcome::MalformedHead | Outcome::MalformedBody if is_http => {
            "correct the reply of the server, or of a proxy in front of it: it is ambiguous or malformed \
            (docs/design/hostile-servers.md)"
        }
        Outcome::Truncated if is_http => {
            "the server closes the connection in the middle of its reply: see its log, and try the page with `curl`"
        }
        Outcome::TimedOut => {
            "check that the server answers, for example with `curl`; `--time-limit` waits longer"
        }
        Outcome::TlsFailed => "check that the server uses TLS on this port; if it does not, write `http://`",
        Outcome::Http2Failed | Outcome::StreamReset => {
            "check that the server speaks HTTP/2, or omit `--http 2`"
        }
        Outcome::MalformedHead | Outcome::Truncated | Outcome::Reset => {
            "check that a web server listens on this port; if it uses TLS, write `https://`"
        }
        _ => "check the page, for example with `curl`",
    }
}

/// Returns the remedy where there is no session with a database, by the cause.
fn session_hint(problem: SessionProblem, target: &str) -> &'static str {
    let is_postgresql = target.starts_with("postgres:");
    match problem {
        SessionProblem::NoPassword | SessionProblem::Denied if is_postgresql => {
            "set `PGPASSWORD` or `PGPASSFILE`, or write the password into `~/.pgpass`; check the user and its \
             entry in `pg_hba.conf`"
        }
        SessionProblem::NoPassword | SessionProblem::Denied => {
            "set `MYSQL_PWD`; check the user, and from which hosts it may connect (`SHOW GRANTS`)"
        }
        SessionProblem::NoDatabase => "end the target with the name of a database that exists",
        SessionProblem::Full => "raise `max_connections`, or close some of the existing sessions",
        SessionProblem::NoTls => "turn on TLS in the server, or leave out `tls` and `sslmode`",
        SessionProblem::Authentication if is_postgresql => {
            "allow the user by `scram-sha-256` in `pg_hba.conf`, at least from this machine"
        }
        SessionProblem::Authentication => {
            "create a user for the benchmark with `mysql_native_password`: `CREATE USER … IDENTIFIED BY …`"
        }
        SessionProblem::ClearPassword => {
            "encrypt the connection (`--set tls=on`), or allow the user by `scram-sha-256` in `pg_hba.conf`"
        }
        SessionProblem::OtherProduct => "name a PostgreSQL or MariaDB server; others are not supported",
        SessionProblem::Protocol => {
            "check that the port is that of the product in the target (`postgres://` or `mysql://`), and not of a web server"
        }
        SessionProblem::Slow => "check the database: it accepts connections but does not answer",
        SessionProblem::Other => "check user and database in the target",
    }
}

/// Returns the remedy for data that cannot be used.
fn data_hint(target: &str) -> &'static str {
    match target.split_once("://") {
        // Not a target, but in this process.
        None => "check that the disk below `/var/tmp` can be read and written",
        Some(("postgres", _)) => {
            "set `PGPASSWORD` or `PGPASSFILE` if it asks for a password; its user must be allowed to create a schema"
        }
        Some(("mysql", _)) => {
            "set `MYSQL_PWD` if it asks for a password; its user must be allowed to create the database \
             `plimsoll_orderentry`"
        }
        _ => {
            "start it with the data of the benchmark: `plimsoll show BENCHMARK` has `warehouses` and `divisor`"
        }
    }
}

fn tls_hint(problem: HandshakeProblem) -> &'static str {
    match problem {
        HandshakeProblem::NoIdentity => "provide one, from PEM files: `--cert FILE --key FILE`",
        HandshakeProblem::IdentityRefused => {
            "check that an authority which the server trusts has issued it, and that it has not expired"
        }
        HandshakeProblem::OldVersion => {
            "enable TLS 1.2 or 1.3 in the server: older versions are not measured"
        }
        HandshakeProblem::NotTls => "write `http://` if the server does not use TLS on this port",
    }
}

fn certificate_hint(problem: &CertificateProblem) -> &'static str {
    match problem {
        CertificateProblem::Expired(_) | CertificateProblem::NotYetValid(_) => {
            "renew it, or set this machine's clock; `--insecure` accepts any certificate, and the result notes it"
        }
        CertificateProblem::WrongName { .. } => {
            "use the host name in the certificate; `--insecure` accepts any certificate, and the result notes it"
        }
        CertificateProblem::OldVersion => {
            "make a certificate of version 3 with the name: `openssl req -x509 … -addext subjectAltName=DNS:HOST`"
        }
        CertificateProblem::NoName { .. } => {
            "make a certificate with the name: `openssl req -x509 … -addext subjectAltName=DNS:HOST`; `--insecure` accepts \
            any, and the result notes it"
        }
        CertificateProblem::SelfSigned => {
            "`--ca FILE` accepts the certificate in FILE (PEM); `--insecure` accepts any, and the result notes it"
        }
        CertificateProblem::UnknownIssuer(_)
        | CertificateProblem::NotFromThisRun
        | CertificateProblem::Other(_) => {
            "`--ca FILE` accepts certificates of the authority in FILE (PEM); `--insecure` accepts any, and the result \
            notes it"
        }
    }
}

impl From<RecipeError> for Failure {
    fn from(error: RecipeError) -> Failure {
        match error {
            RecipeError::Mistaken(diagnostics) => diagnostics.into(),
            other => Failure::usage(other),
        }
    }
}
