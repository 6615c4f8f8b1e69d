//! The file family on a share: the operations of clients over SMB, each client in a session of its own.
//!
//! The clients' files are in a folder of the run's own in the share, or below the folder of it that the target names. A
//! session beside those of clients makes what is missing before each load point, removes what a cut-off cycle left, holds
//! the folder against other runs, and removes it at the end of the run.

use std::fmt;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use benchmarks::file::FileClients;
use drivers::file::FileSetPlan;
use drivers::file::directory::{PopulationCheck, PopulationSummary};
use drivers::file::smb::{
    SmbAccount, SmbContext, SmbDialect, SmbDriver, SmbOptions, SmbOptionsError, SmbServerFacts,
    SmbSessionError, SmbShare, SmbShareError, SmbTarget,
};
use languages::percent_decoded_bytes;
use model::{CheckMoment, Family, FileDialect, FileSettingsError, FileWorkload, Plan};
use tokio::runtime::{Builder, Runtime};
use units::{Bytes, RealClock};

use super::database_url::encoded;
use super::file::{
    FILES, GENERATIONS, check_files, client_options, file_set, n_clients, population_text, probe_operations,
    progress, workload,
};
use super::probe::Probe;
use super::target::LoadTarget;
use super::{SetupError, TargetTextError, host_and_port, stopped, unless_stopped};
use crate::checked::CheckedRow;
use crate::error::FleetError;
use crate::event::{Event, Observer};
use crate::family_counts::FamilyCounts;
use crate::thread::{ThreadFailure, ThreadWork};
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

/// The longest that the session may take to be opened that makes the files.
const SESSION_MAX: Duration = Duration::from_secs(20);

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

/// A share whose files are loaded.
#[derive(Debug)]
pub(crate) struct ShareTarget {
    /// The share as named.
    share: FileShare,
    /// The address of its server, allowed by the policy.
    address: SocketAddr,
    /// The folder of the run, once it was needed.
    held: Mutex<Option<Arc<HeldFolder>>>,
}

impl ShareTarget {
    /// Makes the target of a share at the address of its host.
    pub(super) fn new(share: FileShare, address: SocketAddr) -> ShareTarget {
        ShareTarget { share, address, held: Mutex::default() }
    }

    /// Returns the share as a run with these settings uses it.
    fn target(&self, workload: &FileWorkload) -> Result<SmbTarget, SetupError> {
        let FileShare { host, share, folder, account, .. } = &self.share;
        let dialect = match workload.smb.dialect {
            FileDialect::Smb2_1 => SmbDialect::V2_1,
            FileDialect::Smb3_1_1 => SmbDialect::V3_1_1,
        };
        let options = SmbOptions::new(dialect, workload.smb.is_signed, workload.smb.is_encrypted)
            .map_err(|SmbOptionsError| FileSettingsError::NoEncryption)?;
        Ok(SmbTarget {
            address: self.address,
            host: host.clone(),
            share: share.clone(),
            folder: folder.clone(),
            account: account.clone(),
            options,
        })
    }

    /// Sets up what all clients of a thread share.
    fn context(
        &self,
        plan: &Plan,
        last_generation: u32,
        clock: RealClock,
    ) -> Result<Rc<SmbContext>, SetupError> {
        let workload = workload(plan)?;
        let held = locked(&self.held);
        let are_new = held.as_ref().is_some_and(|held| held.are_new.load(Ordering::Relaxed));
        let options = client_options(workload, are_new, last_generation);
        Ok(SmbContext::new(self.target(workload)?, &plan.source_addresses, options, clock)?)
    }

    /// Returns the folder of the run, which this process holds until the last of its runs on it has ended. Each of them is
    /// let in by the server with its own settings before.
    fn hold(&self, plan: &Plan, stop: &AtomicBool) -> Result<Arc<HeldFolder>, VerifyError> {
        let mut own = locked(&self.held);
        if let Some(held) = &*own {
            return Ok(Arc::clone(held));
        }
        let target = self.target(workload(plan)?)?;
        let mut held = locked(&HELD);
        held.retain(|(_, folder)| 0 < folder.strong_count());
        let place = HeldPlace::of(&target);
        let known = held.iter().find(|(known, _)| *known == place).and_then(|(_, folder)| folder.upgrade());
        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        let folder = match (FolderSession::open(runtime, &target, plan, stop), known) {
            (Ok(session), _) => {
                let folder =
                    Arc::new(HeldFolder { session: Mutex::new(session), are_new: AtomicBool::new(false) });
                held.push((place, Arc::downgrade(&folder)));
                folder
            }
            // By a run of this process; the server has let in this one, too.
            (Err(SmbShareError::InUse(_)), Some(known)) => known,
            (Err(error), _) => return Err(self.unusable(error)),
        };
        *own = Some(Arc::clone(&folder));
        Ok(folder)
    }

    /// Returns the error of a share that cannot be used.
    fn unusable(&self, error: SmbShareError) -> VerifyError {
        let target = self.share.to_string();
        match error {
            SmbShareError::Stopped => VerifyError::Interrupted,
            SmbShareError::Session(SmbSessionError::Unreachable { outcome, text }) => {
                VerifyError::Unreachable { family: Family::File, target, outcome, text }
            }
            error => VerifyError::Share { target, error: Box::new(error) },
        }
    }
}

impl LoadTarget for ShareTarget {
    fn address(&self) -> Option<SocketAddr> {
        Some(self.address)
    }

    fn name(&self) -> String {
        self.share.to_string()
    }

    fn host(&self) -> Option<&str> {
        Some(&self.share.host)
    }

    /// Makes the files of all clients that are missing.
    fn reload(
        &self,
        plan: &Plan,
        _: RealClock,
        observer: &mut dyn Observer,
        stop: &AtomicBool,
    ) -> Result<Option<String>, FleetError> {
        let files = workload(plan).and_then(|workload| file_set(workload, n_clients(plan)));
        let files = files.map_err(VerifyError::from)?;
        observer.event(Event::Preparing("making the files of clients in the share"));
        let folder = self.hold(plan, stop)?;
        let populated = folder.populate(&files, &mut progress(observer, stop));
        let populated = populated.map_err(|error| self.unusable(error))?;
        folder.are_new.store(populated.n_kept == 0, Ordering::Relaxed);
        let options =
            self.target(workload(plan).map_err(VerifyError::from)?).map_err(VerifyError::from)?.options;
        // That of another run of this process has its settings.
        let facts = Some(folder.facts()).filter(|facts| are_of(facts, options));
        let session =
            facts.map_or(String::new(), |facts| format!(", in a session of {}", facts_text(&facts)));
        Ok(Some(format!(
            "{FILES}: {}{session}; the server was not restarted, and its caches are as they were left",
            population_text(&populated)
        )))
    }

    /// Performs operations of most kinds as the first client, with the settings of the run.
    fn probe(&self, plan: &Plan, clock: RealClock, stop: &AtomicBool) -> Result<(), VerifyError> {
        let operations = probe_operations(workload(plan)?);
        let context = self.context(plan, 0, clock)?;
        let probe = Probe { family: Family::File, target: self.name(), time_limit: plan.time_limit, clock };
        let driver = SmbDriver::new(context, 0);
        unless_stopped(stop, probe.perform_all(driver, &operations, |_| probe.too_slow(), |_| None))
    }

    fn check(
        &self,
        plan: &Plan,
        _: RealClock,
        moment: CheckMoment,
        _: &FamilyCounts,
        stop: &AtomicBool,
    ) -> Result<Vec<CheckedRow>, VerifyError> {
        check_files(plan, moment, |files| Ok(self.hold(plan, stop)?.check(files)))
    }

    fn run(&self, work: ThreadWork<'_>) -> Result<FamilyCounts, ThreadFailure> {
        let clients = FileClients::new(workload(work.plan)?, work.plan.seed).map_err(SetupError::from)?;
        let last_generation = work.setup.point.index.wrapping_mul(GENERATIONS);
        let context = self.context(work.plan, last_generation, work.clock)?;
        work.run_with(clients, |client| SmbDriver::new(Rc::clone(&context), client))?;
        Ok(FamilyCounts::default())
    }
}

/// The place of a folder: address, share and folder. Servers do not tell apart upper and lower case.
#[derive(Debug, PartialEq, Eq)]
struct HeldPlace(SocketAddr, String, String);

impl HeldPlace {
    fn of(target: &SmbTarget) -> HeldPlace {
        HeldPlace(target.address, target.share.to_lowercase(), target.folder.to_lowercase())
    }
}

/// The folders that this process holds, by their places.
static HELD: Mutex<Vec<(HeldPlace, Weak<HeldFolder>)>> = Mutex::new(Vec::new());

/// The folder of this process in a share. Runs that take turns on one have the same; it is removed with the last of them.
#[derive(Debug)]
struct HeldFolder {
    session: Mutex<FolderSession>,
    /// Whether all files have been made since the last load point, so that their content is known.
    are_new: AtomicBool,
}

impl HeldFolder {
    fn populate(
        &self,
        files: &FileSetPlan,
        progress: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<PopulationSummary, SmbShareError> {
        let FolderSession { runtime, share } = &mut *locked(&self.session);
        runtime.block_on(Box::pin(opened(share).populate(files, progress)))
    }

    fn check(&self, files: &FileSetPlan) -> Result<PopulationCheck, SmbShareError> {
        let FolderSession { runtime, share } = &mut *locked(&self.session);
        runtime.block_on(Box::pin(opened(share).check(files)))
    }

    fn facts(&self) -> SmbServerFacts {
        opened(&mut locked(&self.session).share).facts().clone()
    }
}

/// The session that holds a folder, on a runtime that runs only while it is used.
#[derive(Debug)]
struct FolderSession {
    runtime: Runtime,
    /// Taken when the folder is removed.
    share: Option<SmbShare>,
}

impl FolderSession {
    /// Opens the session, and makes the folder or takes it over from an earlier run.
    fn open(
        runtime: Runtime,
        target: &SmbTarget,
        plan: &Plan,
        stop: &AtomicBool,
    ) -> Result<FolderSession, SmbShareError> {
        let opening = Box::pin(SmbShare::open(target, &plan.source_addresses, SESSION_MAX));
        let share = runtime.block_on(async {
            tokio::select! {
                opened = opening => opened,
                () = stopped(stop) => Err(SmbShareError::Stopped),
            }
        })?;
        Ok(FolderSession { runtime, share: Some(share) })
    }
}

impl Drop for FolderSession {
    /// Removes the folder.
    fn drop(&mut self) {
        if let Some(share) = self.share.take() {
            // What cannot be removed is left in a folder that says whose it is.
            let _ = self.runtime.block_on(Box::pin(share.remove()));
        }
    }
}

fn opened(share: &mut Option<SmbShare>) -> &mut SmbShare {
    share.as_mut().expect("it is there until the folder is removed")
}

/// Locks what is whole even after a panic.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns whether a session has the options of a run.
fn are_of(facts: &SmbServerFacts, options: SmbOptions) -> bool {
    facts.dialect == options.dialect()
        && facts.signing.is_some() == options.signs()
        && facts.encryption.is_some() == options.encrypts()
}

/// Describes a session as it was found.
fn facts_text(facts: &SmbServerFacts) -> String {
    let SmbServerFacts { dialect, signing, encryption, read_bytes_max, write_bytes_max } = facts;
    let protection = match (encryption, signing) {
        (Some(algorithm), _) => format!("encrypted by {algorithm}"),
        (None, Some(algorithm)) => format!("signed by {algorithm}"),
        (None, None) => "neither signed nor encrypted".to_owned(),
    };
    let [read, write] = [read_bytes_max, write_bytes_max].map(|bytes| Bytes(u64::from(*bytes)));
    format!("{dialect}, {protection}, with reads of up to {read} and writes of up to {write}")
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
        let mut facts = SmbServerFacts {
            dialect: SmbDialect::V3_1_1,
            signing: Some("AES-128-GMAC"),
            encryption: None,
            read_bytes_max: 1 << 20,
            write_bytes_max: 64 << 10,
        };
        let sizes = "with reads of up to 1.0 MiB and writes of up to 64.0 KiB";
        assert_eq!(facts_text(&facts), format!("SMB 3.1.1, signed by AES-128-GMAC, {sizes}"));
        facts.encryption = Some("AES-128-GCM");
        assert_eq!(facts_text(&facts), format!("SMB 3.1.1, encrypted by AES-128-GCM, {sizes}"));
    }
}
