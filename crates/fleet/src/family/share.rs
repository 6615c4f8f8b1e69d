//! Shares of file servers: their notation as targets, and what a run needs of them over SMB.

use std::fmt;
use std::net::SocketAddr;
use std::rc::Rc;
use std::str::FromStr;

use drivers::file::FileClientOptions;
use drivers::file::smb::{
    SmbAccount, SmbContext, SmbDialect, SmbDriver, SmbOptions, SmbOptionsError, SmbServerFacts,
    SmbSessionError, SmbShare, SmbShareError, SmbTarget, SmbWindowDriver,
};
use languages::percent_decoded_bytes;
use model::{Family, FileDialect, FileSettingsError, FileWorkload, Plan};
use testbed::RunningSut;
use units::{Bytes, RealClock};

use super::database_url::encoded;
use super::file::workload;
use super::remote_folder::{FolderPlace, RemoteShare, SESSION_MAX, check_requests};
use super::{ServerForm, SetupError, TargetTextError, host_and_port, host_of};
use crate::verify::VerifyError;

/// The scheme of targets.
const SCHEME: &str = "smb";

/// The port of targets that name none.
const STANDARD_PORT: u16 = 445;

/// The notation of a target. A text before `@` may be a password, so errors do not repeat the target.
const EXPECTED: &str = "expected `smb://USER@HOST:PORT/SHARE` or `smb://USER@HOST:PORT/SHARE/FOLDER`, such as `smb://me@127.0.0.1/files`";

/// The error of a target with a password.
const NO_PASSWORD: &str = "a target has no password: others could read it on the command line";

/// The error of a target without a user.
const NO_GUEST: &str = "a target needs a user, `smb://USER@HOST/SHARE`: guests are not measured";

/// The error of a folder that leads out of the share.
const NO_WAY_OUT: &str =
    "the folder of a target is one in the share, without `.`, `..`, `\\` and control characters";

/// A share of a file server, as the user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileShare {
    /// A name or an address; an IPv6 address in brackets.
    pub host: String,
    /// The TCP port.
    pub port: u16,
    /// The share.
    pub share: String,
    /// The folder in the share, with `/` between its parts; empty for the share itself.
    pub folder: String,
    /// The account, whose password is no part of the target's notation.
    pub account: SmbAccount,
}

impl FileShare {
    /// Returns whether a target is in the notation of shares, as far as its scheme says.
    pub fn is_scheme_of(target: &str) -> bool {
        target.split_once("://").is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case(SCHEME))
    }
}

/// Reads `smb://USER@HOST:PORT/SHARE/FOLDER`; the user may be `DOMAIN;USER`.
impl FromStr for FileShare {
    type Err = TargetTextError;

    fn from_str(text: &str) -> Result<FileShare, TargetTextError> {
        let form = || TargetTextError::Form(EXPECTED);
        let rest = text.split_once("://").filter(|_| FileShare::is_scheme_of(text)).map(|(_, rest)| rest);
        let (authority, path) = rest.and_then(|rest| rest.split_once('/')).ok_or_else(form)?;
        let (user, place) = authority.rsplit_once('@').ok_or(TargetTextError::Form(NO_GUEST))?;
        if user.contains(':') {
            return Err(TargetTextError::Form(NO_PASSWORD));
        }
        let user = decoded(user).ok_or_else(form)?;
        let (domain, user) = user.split_once(';').unwrap_or(("", &user));
        if user.is_empty() {
            return Err(TargetTextError::Form(NO_GUEST));
        }
        let (host, port) = host_and_port(place, EXPECTED)?;
        let path = decoded(path).ok_or_else(form)?;
        let (share, folder) = path.split_once('/').unwrap_or((&path, ""));
        let folder = folder.trim_matches('/');
        let is_way_out = |part: &str| ["", ".", ".."].contains(&part);
        if path.contains('\\') || (!folder.is_empty() && folder.split('/').any(is_way_out)) {
            return Err(TargetTextError::Form(NO_WAY_OUT));
        }
        if share.is_empty() {
            return Err(form());
        }
        Ok(FileShare {
            host,
            port: port.unwrap_or(STANDARD_PORT),
            share: share.to_owned(),
            folder: folder.to_owned(),
            account: SmbAccount { user: user.to_owned(), domain: domain.to_owned(), password: String::new() },
        })
    }
}

/// Writes the target without the password.
impl fmt::Display for FileShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FileShare { host, port, share, folder, account } = self;
        write!(f, "{SCHEME}://")?;
        if !account.domain.is_empty() {
            write!(f, "{};", encoded(&account.domain))?;
        }
        write!(f, "{}@{host}:{port}/{}", encoded(&account.user), encoded(share))?;
        if !folder.is_empty() {
            write!(f, "/{}", encoded(folder))?;
        }
        Ok(())
    }
}

/// Decodes `%40` and its like; `None` if that is no text that can be printed.
fn decoded(text: &str) -> Option<String> {
    let text = String::from_utf8(percent_decoded_bytes(text)?).ok()?;
    (!text.contains(char::is_control)).then_some(text)
}

impl FileShare {
    /// Returns the share of a server that a run has started: recipes name it and its only account `plimsoll`.
    pub(super) fn of_sut(sut: &RunningSut) -> FileShare {
        let name = "plimsoll".to_owned();
        let account =
            SmbAccount { user: name.clone(), domain: String::new(), password: sut.password().to_owned() };
        let (host, port) = (host_of(sut.addr().ip()), sut.addr().port());
        FileShare { host, port, share: name, folder: String::new(), account }
    }

    /// Returns the share as a run with these settings uses it.
    fn target(&self, address: SocketAddr, workload: &FileWorkload) -> Result<SmbTarget, SetupError> {
        let dialect = match workload.dialect() {
            Some(FileDialect::Smb2_1) => SmbDialect::V2_1,
            _ => SmbDialect::V3_1_1,
        };
        let options = SmbOptions::new(dialect, workload.smb.is_signed, workload.smb.is_encrypted)
            .map_err(|SmbOptionsError| FileSettingsError::NoEncryption)?;
        Ok(SmbTarget {
            address,
            host: self.host.clone(),
            share: self.share.clone(),
            folder: self.folder.clone(),
            account: self.account.clone(),
            options,
        })
    }
}

impl RemoteShare for FileShare {
    type Folder = SmbShare;
    type Clients = Rc<SmbContext>;
    type Client = SmbDriver;
    type WindowClient = SmbWindowDriver;

    const NOUN: &'static str = "share";

    fn host(&self) -> &str {
        &self.host
    }

    /// Servers do not tell apart upper and lower case.
    fn external(&self) -> ServerForm {
        ServerForm::share(self)
    }

    fn place(&self, address: SocketAddr) -> FolderPlace {
        FolderPlace(SCHEME, address, format!("{}/{}", self.share, self.folder).to_lowercase())
    }

    async fn inspect(
        &self,
        address: SocketAddr,
        plan: &Plan,
    ) -> Result<Vec<(&'static str, String)>, VerifyError> {
        let workload = workload(plan)?;
        let target = self.target(address, workload)?;
        let found = SmbServerFacts::find(&target, &plan.source_addresses, SESSION_MAX).await;
        let found = found.map_err(|error| self.unusable(error))?;
        check_requests(self, workload, found.read_bytes_max, found.write_bytes_max)?;
        Ok(described(&found))
    }

    async fn open(&self, address: SocketAddr, plan: &Plan) -> Result<SmbShare, VerifyError> {
        let target = self.target(address, workload(plan)?)?;
        let opened = SmbShare::open(&target, &plan.source_addresses, SESSION_MAX).await;
        opened.map_err(|error| self.unusable(error))
    }

    fn unusable(&self, error: SmbShareError) -> VerifyError {
        let target = self.to_string();
        match error {
            SmbShareError::Stopped => VerifyError::Interrupted,
            SmbShareError::Session(SmbSessionError::Unreachable { outcome, text }) => {
                VerifyError::Unreachable { family: Family::File, target, outcome, text }
            }
            error => VerifyError::Share { target, error: Box::new(error) },
        }
    }

    fn clients(
        &self,
        address: SocketAddr,
        plan: &Plan,
        options: FileClientOptions,
        clock: RealClock,
    ) -> Result<Rc<SmbContext>, SetupError> {
        let target = self.target(address, workload(plan)?)?;
        Ok(SmbContext::new(target, &plan.source_addresses, options, clock)?)
    }

    fn client(clients: &Rc<SmbContext>, client: u32) -> SmbDriver {
        SmbDriver::new(Rc::clone(clients), client)
    }

    fn window_client(
        clients: &Rc<SmbContext>,
        client: u32,
        n_places: usize,
        request_bytes: u32,
    ) -> SmbWindowDriver {
        SmbWindowDriver::new(Rc::clone(clients), client, n_places, request_bytes)
    }
}

/// Describes a session as it was found.
fn described(facts: &SmbServerFacts) -> Vec<(&'static str, String)> {
    let SmbServerFacts { dialect, signing, encryption, read_bytes_max, write_bytes_max } = facts;
    let signing = match (signing, encryption) {
        (Some(algorithm), _) => algorithm,
        (None, Some(_)) => "none beside encryption, which authenticates, too",
        (None, None) => "off",
    };
    let bytes = |bytes: &u32| Bytes(u64::from(*bytes)).to_string();
    vec![
        ("dialect", dialect.to_string()),
        ("authentication", "NTLMv2".to_owned()),
        ("signing", signing.to_owned()),
        ("encryption", encryption.unwrap_or("off").to_owned()),
        ("largest read", bytes(read_bytes_max)),
        ("largest write", bytes(write_bytes_max)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_have_a_user_a_server_a_share_and_perhaps_a_folder() {
        for (text, shown) in [
            ("smb://me@127.0.0.1:4450/files", "smb://me@127.0.0.1:4450/files"),
            ("SMB://me@name.example/files/", "smb://me@name.example:445/files"),
            ("smb://WORK;me@[::1]/files/a/b/", "smb://WORK;me@[::1]:445/files/a/b"),
            ("smb://me%40work@a/my%20files/d%2Fe", "smb://me%40work@a:445/my%20files/d/e"),
        ] {
            let share: FileShare = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(share.to_string(), shown, "{text}");
            assert_eq!(shown.parse::<FileShare>().unwrap(), share);
        }
        let share: FileShare = "smb://WORK;me@a/files/b".parse().unwrap();
        let FileShare { host, port, share, folder, account } = share;
        assert_eq!((host.as_str(), port, share.as_str(), folder.as_str()), ("a", 445, "files", "b"));
        assert_eq!((account.domain.as_str(), account.user.as_str()), ("WORK", "me"));
    }

    /// Each mistake has a reason of its own, and none shows what may be a password.
    #[test]
    fn other_targets_are_refused_with_a_reason() {
        for (text, reason) in [
            ("//a/files", EXPECTED),
            ("http://me@a/files", EXPECTED),
            ("smb://me@a", EXPECTED),
            ("smb://me@a/", EXPECTED),
            ("smb://me@a//b", EXPECTED),
            ("smb://me%4@a/files", EXPECTED),
            ("smb://me@a/files%00", EXPECTED),
            ("smb://me@a:0/files", EXPECTED),
            ("smb://a/files", NO_GUEST),
            ("smb://@a/files", NO_GUEST),
            ("smb://WORK;@a/files", NO_GUEST),
            ("smb://me:secret@a/files", NO_PASSWORD),
            ("smb://me:se@cret@a/files", NO_PASSWORD),
            ("smb://me@a/files/../other", NO_WAY_OUT),
            ("smb://me@a/files/b//c", NO_WAY_OUT),
            ("smb://me@a/files/b%5C..", NO_WAY_OUT),
        ] {
            let error = text.parse::<FileShare>().unwrap_err().to_string();
            assert!(error.starts_with(reason), "{text}: {error}");
            assert!(!error.contains("cret"), "{text}");
        }
    }

    #[test]
    fn sessions_are_described() {
        let signed = SmbServerFacts {
            dialect: SmbDialect::V3_1_1,
            signing: Some("AES-128-GMAC"),
            encryption: None,
            read_bytes_max: 1 << 20,
            write_bytes_max: 64 << 10,
        };
        let shown = |facts: &SmbServerFacts| described(facts).into_iter().map(|(_, value)| value).collect();
        let values: Vec<String> = shown(&signed);
        assert_eq!(values, ["SMB 3.1.1", "NTLMv2", "AES-128-GMAC", "off", "1.0 MiB", "64.0 KiB"]);
        let values: Vec<String> = shown(&SmbServerFacts { signing: None, ..signed.clone() });
        assert_eq!(values[2..4], ["off", "off"]);
        let encrypted = SmbServerFacts { signing: None, encryption: Some("AES-128-GCM"), ..signed };
        let values: Vec<String> = shown(&encrypted);
        assert!(values[2].starts_with("none beside encryption"), "{values:?}");
        assert_eq!(values[3], "AES-128-GCM");
    }
}
