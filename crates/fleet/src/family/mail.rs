//! The mail family: users with a mailbox each, over IMAP and by submission.
//!
//! A run fills the mailboxes of its users once, before the first load point; what they do changes them. After a load point
//! recipients look for what was accepted for them and nobody has seen.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;
use std::rc::Rc;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ::mail::{
    DeliveryLedger, DeliveryTotals, MailAnswer, MailDirectory, MailPopulation, Mailbox, MessageDepth,
    PopulatedMessage, Recipient,
};
use benchmarks::mail::{MailUsers, ends_mailbox, epoch, opening_shared, probing, reading};
use drivers::Trust;
use drivers::mail::{
    Acknowledgment, MailAccounts, MailClientOptions, MailContext, MailDriver, MailEncryption, MailEndpoint,
    MailFillError, MailLogin, MailPassword, MailTarget, MailboxFiller, MailboxNames, SharedLedger,
};
use engine::Driver;
use futures::future::{join_all, try_join_all};
use model::{CheckMoment, Family, MailAcknowledge, MailWorkload, Outcome, Plan, Workload};
use testbed::RunningSut;
use tokio::time::timeout;
use units::{Clock, Nanos, RealClock};

use super::accounts::AccountList;
use super::probe::{Probe, no_reply_within};
use super::profile::{FamilyProfile, READY_MAX};
use super::target::{LoadTarget, ResolvedTarget};
use super::{SetupError, TargetTextError, host_and_port, host_of, unless_stopped};
use crate::checked::CheckedRow;
use crate::error::FleetError;
use crate::event::{Event, Observer};
use crate::family_counts::FamilyCounts;
use crate::order::StepOrder;
use crate::thread::{ThreadFailure, ThreadWork};
use crate::verify::VerifyError;

/// The notation of a target.
const EXPECTED: &str =
    "expected `imap://HOST:PORT?submission=PORT&accounts=FILE`, or `imaps://…` for TLS from the first byte";

/// The schemes of targets without and with TLS from the first byte, with the ports of IMAP and submission (RFC 8314).
const SCHEMES: [(&str, u16, u16); 2] = [("imap", 143, 587), ("imaps", 993, 465)];

/// The accounts of servers that a run starts: `user1@plimsoll.test` and so on.
const STARTED_ACCOUNTS: (&str, &str) = ("user", "plimsoll.test");

/// The names of further ports of servers that a run starts.
const SUBMISSION_PORT: &str = "smtp";
const DELIVERY_PORT: &str = "lmtp";

/// The sessions in which mailboxes are filled, and those in which recipients look for deliveries.
const SESSIONS: u32 = 8;

/// The epoch of messages that are sent before load to check the server.
const PROBE_EPOCH: u32 = u32::MAX;

/// The time that a message may take to its recipient.
const DELIVERY_MAX: Nanos = Nanos::from_secs(60);

/// The time without a delivery after which recipients look no more for what is missing, and the time between two looks.
const NOTHING_COMES: Nanos = Nanos::from_secs(10);
const LOOK_PAUSE: Duration = Duration::from_millis(200);

/// A mail server, as the user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailHost {
    /// A name or an address; an IPv6 address in brackets.
    pub host: String,
    /// The TCP port of IMAP.
    pub port: u16,
    /// Whether connections are encrypted from the first byte.
    pub is_secure: bool,
    /// The TCP port of submission.
    pub submission_port: u16,
    /// The TCP port of LMTP, by which mailboxes are filled; `None`: they are filled over IMAP.
    pub delivery_port: Option<u16>,
    /// The file with the accounts of users.
    pub accounts_file: String,
    /// The accounts that it has, once it was read.
    pub accounts: Option<AccountList>,
    /// The certificates that are accepted; `None`: any.
    pub trust: Option<Trust>,
}

/// Reads `imap://HOST:PORT?submission=PORT&lmtp=PORT&accounts=FILE`.
impl FromStr for MailHost {
    type Err = TargetTextError;

    fn from_str(text: &str) -> Result<MailHost, TargetTextError> {
        let form = || TargetTextError::Form(EXPECTED);
        let (scheme, rest) = text.split_once("://").ok_or_else(form)?;
        let (place, query) = rest.split_once('?').ok_or_else(form)?;
        let known = SCHEMES.into_iter().find(|(known, ..)| scheme.eq_ignore_ascii_case(known));
        let (scheme, standard_port, standard_submission) = known.ok_or_else(form)?;
        let (host, port) = host_and_port(place, EXPECTED)?;
        let mut server = MailHost {
            host,
            port: port.unwrap_or(standard_port),
            is_secure: scheme == "imaps",
            submission_port: standard_submission,
            delivery_port: None,
            accounts_file: String::new(),
            accounts: None,
            trust: None,
        };
        let number = |value: &str| value.parse().ok().filter(|port| *port != 0).ok_or_else(form);
        for parameter in query.split('&') {
            match parameter.split_once('=').ok_or_else(form)? {
                ("submission", value) => server.submission_port = number(value)?,
                ("lmtp", value) => server.delivery_port = Some(number(value)?),
                ("accounts", value) => value.clone_into(&mut server.accounts_file),
                _ => return Err(form()),
            }
        }
        if server.accounts_file.is_empty() { Err(form()) } else { Ok(server) }
    }
}

impl fmt::Display for MailHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, ..) = SCHEMES[usize::from(self.is_secure)];
        let MailHost { host, port, submission_port, accounts_file, .. } = self;
        write!(f, "{scheme}://{host}:{port}?submission={submission_port}")?;
        if let Some(port) = self.delivery_port {
            write!(f, "&lmtp={port}")?;
        }
        write!(f, "&accounts={accounts_file}")
    }
}

/// A mail server that load is sent to.
#[derive(Debug, Clone)]
pub(crate) struct MailServerTarget {
    name: String,
    host: String,
    /// Whether connections are encrypted, from the first byte or by STARTTLS: then certificates count.
    is_encrypted: bool,
    /// IMAP, submission and LMTP.
    mailboxes: SocketAddr,
    submission: SocketAddr,
    delivery: Option<SocketAddr>,
    trust: Trust,
    users: AccountNames,
    accounts: MailAccounts,
    state: Arc<TargetState>,
}

/// The names of users.
#[derive(Debug, Clone)]
enum AccountNames {
    /// As many as there are users.
    Numbered,
    Listed(AccountList),
}

/// The mailboxes of a server and its deliveries, as far as a run knows them.
#[derive(Debug)]
struct TargetState {
    /// The number behind which the epochs of the run's load points begin: at random, so that no other run has the same on a
    /// server that remains. Servers drop what has a Message-ID that they know, and it is found twice where they do not.
    first_epoch: u32,
    /// Whether the mailboxes have been filled.
    is_filled: AtomicBool,
    /// The deliveries of a load point, by its epoch.
    deliveries: Mutex<Option<(u32, SharedLedger)>>,
}

impl Default for TargetState {
    fn default() -> TargetState {
        // Its keys are random.
        let random = RandomState::new().hash_one(());
        TargetState {
            // As small as leaves room for load points before the probe's.
            first_epoch: (random >> 33) as u32,
            is_filled: AtomicBool::default(),
            deliveries: Mutex::default(),
        }
    }
}

impl TargetState {
    /// Returns the ledger of a load point, which all of its load threads share.
    fn ledger_of(&self, epoch: u32) -> SharedLedger {
        let mut deliveries = locked(&self.deliveries);
        match &*deliveries {
            Some((known, ledger)) if *known == epoch => Arc::clone(ledger),
            _ => {
                let ledger = Arc::new(Mutex::new(DeliveryLedger::new(DELIVERY_MAX)));
                *deliveries = Some((epoch, Arc::clone(&ledger)));
                ledger
            }
        }
    }

    /// Takes the ledger of the load point that was last.
    fn take_ledger(&self) -> Option<(u32, SharedLedger)> {
        locked(&self.deliveries).take()
    }
}

/// Nothing that is done with these locks leaves anything half done.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MailServerTarget {
    /// Makes the target of a running server at one of its addresses.
    pub(super) fn of_external(server: &MailHost, address: SocketAddr) -> MailServerTarget {
        let at = |port| SocketAddr::new(address.ip(), port);
        let list = server.accounts.clone().unwrap_or_default();
        MailServerTarget {
            name: server.to_string(),
            host: server.host.clone(),
            is_encrypted: server.is_secure || server.trust.is_some(),
            mailboxes: address,
            submission: at(server.submission_port),
            delivery: server.delivery_port.map(at),
            trust: server.trust.clone().unwrap_or(Trust::Any),
            accounts: list.accounts(),
            users: AccountNames::Listed(list),
            state: Arc::default(),
        }
    }

    /// Makes the target of a server that this run has started.
    fn of_sut(sut: &RunningSut) -> MailServerTarget {
        let mailboxes = sut.addr();
        let at = |port| SocketAddr::new(mailboxes.ip(), port);
        let host = host_of(mailboxes.ip());
        MailServerTarget {
            name: format!("imap://{host}:{}", mailboxes.port()),
            host,
            is_encrypted: false,
            mailboxes,
            // A server without this port refuses what is sent there, which the probe reports.
            submission: at(sut.port(SUBMISSION_PORT).unwrap_or_default()),
            delivery: sut.port(DELIVERY_PORT).map(at),
            trust: Trust::Any,
            users: AccountNames::Numbered,
            accounts: MailAccounts::with_password(MailLogin::Address, MailPassword::new(sut.password())),
            state: Arc::default(),
        }
    }

    /// Returns the users of a plan by their numbers.
    ///
    /// # Errors
    /// It has more than the server has accounts.
    fn directory(&self, plan: &Plan) -> Result<MailDirectory, SetupError> {
        let n_users = plan.users_max();
        match &self.users {
            AccountNames::Numbered => {
                let (prefix, domain) = STARTED_ACCOUNTS;
                Ok(MailDirectory::numbered(prefix, n_users, domain)?)
            }
            AccountNames::Listed(list) => list.directory(n_users),
        }
    }

    /// Sets up what all users of a thread share.
    fn context<'a>(
        &self,
        plan: &'a Plan,
        clock: RealClock,
        epoch: u32,
        deliveries: Option<SharedLedger>,
    ) -> Result<(&'a MailWorkload, Rc<MailContext>), SetupError> {
        let workload = workload(plan)?;
        let encryption = workload.security.into();
        let endpoint = |address| MailEndpoint { address, encryption };
        let target = MailTarget {
            host: self.host.clone(),
            mailboxes: endpoint(self.mailboxes),
            submission: endpoint(self.submission),
            // On the way into mailboxes nothing is encrypted, as nobody logs on.
            delivery: self.delivery.map(|address| MailEndpoint { address, encryption: MailEncryption::None }),
            trust: self.trust.clone(),
        };
        let options = MailClientOptions {
            messages: Arc::new(workload.messages(plan.seed, self.directory(plan)?)),
            epoch,
            depth: MessageDepth::Full,
            accounts: self.accounts.clone(),
            names: MailboxNames::default(),
            acknowledgment: match workload.acknowledge {
                MailAcknowledge::AtOnce => Acknowledgment::AtOnce,
                MailAcknowledge::AsSystem => Acknowledgment::AsSystem,
            },
            deliveries,
        };
        Ok((workload, MailContext::new(&target, &plan.source_addresses, options, clock)?))
    }

    fn wrong_data(&self, text: String) -> VerifyError {
        VerifyError::WrongData { target: self.name.clone(), text }
    }

    /// Checks that the last user sees what the first has put into the shared mailbox: servers make a mailbox of a user's own
    /// where there is none of this name.
    async fn check_shared(
        &self,
        context: &Rc<MailContext>,
        population: MailPopulation,
        time_limit: Nanos,
        clock: RealClock,
    ) -> Result<(), VerifyError> {
        let n_expected = population.shared_mailbox().count() as u64;
        if n_expected == 0 {
            return Ok(());
        }
        let mut driver = MailDriver::new(Rc::clone(context), population.n_users().saturating_sub(1));
        let mut n_seen = 0;
        for operation in opening_shared() {
            let reply = within(time_limit, driver.perform(&operation, clock.now())).await;
            let reply = reply.ok_or_else(|| self.wrong_data(no_reply_within(time_limit)))?;
            if reply.outcome != Outcome::Ok {
                return Err(self.wrong_data(driver.describe(&operation, &reply)));
            }
            if let MailAnswer::View(n) = MailAnswer::from_u64(reply.answer) {
                n_seen = u64::from(n);
            }
        }
        if n_expected <= n_seen {
            return Ok(());
        }
        let name = Mailbox::Discussion.name();
        Err(self.wrong_data(format!(
            "`{name}` is no mailbox that all users share: the last of them sees {n_seen} of {n_expected} documents in it"
        )))
    }

    /// Has recipients look for the copies that are awaited, each of them once at least; and again for as long as some still come,
    /// and a message may take to its recipient.
    async fn look_for(
        &self,
        plan: &Plan,
        clock: RealClock,
        epoch: u32,
        ledger: &SharedLedger,
    ) -> Result<(), SetupError> {
        let (_, context) = self.context(plan, clock, epoch, Some(Arc::clone(ledger)))?;
        let until = clock.now() + DELIVERY_MAX;
        let (mut n_before, mut last_came) = (usize::MAX, Nanos::ZERO);
        loop {
            let recipients = awaiting(ledger);
            let look = |first: usize| {
                let (context, recipients) = (&context, &recipients);
                async move {
                    for user in recipients.iter().skip(first).step_by(SESSIONS as usize) {
                        let driver = MailDriver::new(Rc::clone(context), *user);
                        let of_user = || is_awaited(ledger, *user);
                        if !look_into_mailbox(driver, plan.time_limit, clock, of_user).await {
                            break;
                        }
                    }
                }
            };
            join_all((0..SESSIONS as usize).map(look)).await;
            let n_awaited = locked(ledger).awaited().count();
            let now = clock.now();
            if n_awaited < n_before {
                (n_before, last_came) = (n_awaited, now);
            }
            if n_awaited == 0 || until < now || NOTHING_COMES < now.saturating_sub(last_came) {
                return Ok(());
            }
            tokio::time::sleep(LOOK_PAUSE).await;
        }
    }
}

/// Reads a user's mailbox, from the newest message on, for as long as something is awaited in it; returns whether
/// the server answers.
async fn look_into_mailbox(
    mut driver: MailDriver,
    time_limit: Nanos,
    clock: RealClock,
    is_awaited: impl Fn() -> bool,
) -> bool {
    for operation in reading() {
        let reply = within(time_limit, driver.perform(&operation, clock.now())).await;
        let Some(reply) = reply else { return false };
        let is_last = ends_mailbox(MailAnswer::from_u64(reply.answer));
        if reply.outcome != Outcome::Ok || is_last || !is_awaited() {
            break;
        }
    }
    true
}

/// Returns whether a copy is awaited for a user.
fn is_awaited(ledger: &SharedLedger, user: u32) -> bool {
    locked(ledger).awaited().any(|one| one.delivery.recipient == Recipient::User(user))
}

/// Returns the users for whom copies are awaited, each once.
fn awaiting(ledger: &SharedLedger) -> Vec<u32> {
    let ledger = locked(ledger);
    let users = ledger.awaited().filter_map(|one| match one.delivery.recipient {
        Recipient::User(user) => Some(user),
        Recipient::Sink { .. } => None,
    });
    let mut users: Vec<u32> = users.collect();
    users.sort_unstable();
    users.dedup();
    users
}

impl LoadTarget for MailServerTarget {
    fn address(&self) -> Option<SocketAddr> {
        Some(self.mailboxes)
    }

    fn name(&self) -> String {
        self.name.clone()
    }

    fn host(&self) -> Option<&str> {
        Some(&self.host)
    }

    fn is_encrypted(&self) -> bool {
        self.is_encrypted
    }

    /// Fills the mailboxes of all users, once in a run. What is in them stays.
    fn reload(
        &self,
        plan: &Plan,
        clock: RealClock,
        observer: &mut dyn Observer,
        stop: &AtomicBool,
    ) -> Result<Option<String>, FleetError> {
        if self.state.is_filled.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let (workload, context) = self.context(plan, clock, 0, None).map_err(VerifyError::from)?;
        let population = workload.population(plan.users_max());
        let population = population.map_err(|error| self.wrong_data(error.to_string()))?;
        let text = format!(
            "{} messages into the mailboxes of {} users",
            population.n_messages(),
            population.n_users()
        );
        observer.event(Event::Preparing(&format!("putting {text}")));
        unless_stopped(stop, async {
            let filled = fill(&context, population, plan.time_limit).await;
            filled.map_err(|error| self.wrong_data(error.to_string()))?;
            self.check_shared(&context, population, plan.time_limit, clock).await
        })?;
        self.state.is_filled.store(true, Ordering::Relaxed);
        let way = if self.delivery.is_some() { "LMTP" } else { "IMAP" };
        Ok(Some(format!("the run has put {text} over {way}, before its first load point")))
    }

    /// Performs operations of most kinds as the first user; none deletes anything.
    fn probe(&self, plan: &Plan, clock: RealClock, stop: &AtomicBool) -> Result<(), VerifyError> {
        let (workload, context) = self.context(plan, clock, PROBE_EPOCH, None)?;
        let time_limit = plan.time_limit;
        let probe = Probe { family: Family::Mail, target: self.name.clone(), time_limit, clock };
        let driver = MailDriver::new(context, 0);
        let operations = probing(workload, PROBE_EPOCH);
        unless_stopped(stop, probe.perform_all(driver, &operations, |_| probe.too_slow(), |_| None))
    }

    /// After a load point, checks that every message that was accepted is in the mailbox of each recipient, once.
    fn check(
        &self,
        plan: &Plan,
        clock: RealClock,
        moment: CheckMoment,
        _: &FamilyCounts,
        stop: &AtomicBool,
    ) -> Result<Vec<CheckedRow>, VerifyError> {
        let ledger = match moment {
            CheckMoment::Before => None,
            CheckMoment::After => self.state.take_ledger(),
        };
        let Some((epoch, ledger)) = ledger else { return Ok(Vec::new()) };
        let seen_under_load = locked(&ledger).totals().delivered;
        unless_stopped(stop, async { Ok(self.look_for(plan, clock, epoch, &ledger).await?) })?;
        let totals = locked(&ledger).totals();
        Ok(vec![delivery_row(&totals, seen_under_load)])
    }

    fn run(&self, work: ThreadWork<'_>) -> Result<FamilyCounts, ThreadFailure> {
        let point = work.setup.point;
        let epoch = epoch(self.state.first_epoch, point);
        let deliveries = Some(self.state.ledger_of(epoch));
        let (workload, context) = self.context(work.plan, work.clock, epoch, deliveries)?;
        let users = MailUsers::new(workload, work.plan.seed, epoch, work.plan.users_max());
        work.run_with(users, |user| MailDriver::new(Rc::clone(&context), user))?;
        Ok(FamilyCounts::default())
    }
}

/// Mail servers as runs know them: operations change mailboxes.
pub(super) static PROFILE: FamilyProfile = FamilyProfile {
    order: &StepOrder::STATEFUL,
    ready_max: READY_MAX,
    checked_things: "operations",
    files: None,
    built_in_restores: false,
    variant: |_| None,
    embedded: None,
    fills_started: true,
    prove_memory_limit: None,
    started: Some(|sut, _| ResolvedTarget::of(MailServerTarget::of_sut(sut))),
    disk_use: |_, _| None,
    check_room: |_, _| Ok(()),
    contents: |_| None,
};

fn workload(plan: &Plan) -> Result<&MailWorkload, SetupError> {
    let Workload::Mail(mail) = &plan.workload else {
        return Err(SetupError::OtherFamily(plan.workload.family()));
    };
    Ok(mail)
}

/// Puts the messages of a population into their mailboxes, in several sessions, those of a mailbox in their order.
async fn fill(
    context: &Rc<MailContext>,
    population: MailPopulation,
    time_limit: Nanos,
) -> Result<(), MailFillError> {
    let fill_some = |first: u32| async move {
        let mut filler = MailboxFiller::new(Rc::clone(context));
        for user in (first..population.n_users()).step_by(SESSIONS as usize) {
            for message in population.mailbox(user) {
                put(&mut filler, &message, time_limit).await?;
            }
        }
        Ok(())
    };
    let mut filler = MailboxFiller::new(Rc::clone(context));
    for message in population.shared_mailbox() {
        put(&mut filler, &message, time_limit).await?;
    }
    drop(filler);
    try_join_all((0..SESSIONS).map(fill_some)).await.map(drop)
}

/// Puts a message into its mailbox, within a time limit.
async fn put(
    filler: &mut MailboxFiller,
    message: &PopulatedMessage,
    time_limit: Nanos,
) -> Result<(), MailFillError> {
    let filled = within(time_limit, filler.fill(message)).await;
    let late = || MailFillError { user: message.owner, text: no_reply_within(time_limit) };
    filled.unwrap_or_else(|| Err(late()))
}

/// Returns what comes of work within a time limit; `None` if nothing does.
async fn within<T>(time_limit: Nanos, work: impl Future<Output = T>) -> Option<T> {
    timeout(Duration::from_nanos(time_limit.0), work).await.ok()
}

/// Judges the deliveries of a load point.
fn delivery_row(totals: &DeliveryTotals, seen_under_load: u64) -> CheckedRow {
    let DeliveryTotals { accepted, delivered, delivered_twice, doubtful, not_followed, .. } = *totals;
    let missing = accepted.saturating_sub(delivered);
    let mut text = format!(
        "{delivered} of {accepted} copies that were accepted are in the mailboxes of their recipients, who have seen \
         {seen_under_load} of them under load"
    );
    for (n, what) in [
        (missing, "not found"),
        (delivered_twice, "delivered twice"),
        (doubtful, "in doubt, as the answer did not come"),
        (not_followed, "not followed"),
    ] {
        if 0 < n {
            text += &format!("; {n} {what}");
        }
    }
    ("deliveries".to_owned(), missing == 0 && delivered_twice == 0, text)
}

#[cfg(test)]
mod tests {
    use ::mail::{
        CountedItem, Delivery, MailAction, MailOperation, MessageIdentity, MessageKind, MessageNumber,
        MessagePlace,
    };
    use model::{Load, LoadPoint};
    use servers::mail::{MailServer, MailServerOptions};

    use super::*;

    #[test]
    fn targets_have_ports_and_a_file_with_accounts() {
        for (text, shown) in [
            ("imap://127.0.0.1?accounts=/tmp/a", "imap://127.0.0.1:143?submission=587&accounts=/tmp/a"),
            ("IMAPS://[::1]:7/?accounts=a", "imaps://[::1]:7?submission=465&accounts=a"),
            (
                "imap://h:1430?submission=2525&lmtp=2424&accounts=a",
                "imap://h:1430?submission=2525&lmtp=2424&accounts=a",
            ),
        ] {
            let server: MailHost = text.parse().unwrap();
            assert_eq!(server.to_string(), shown);
            assert_eq!(shown.parse::<MailHost>().unwrap(), server);
        }
        for text in [
            "imap://h",
            "imap://h?submission=25",
            "imap://h?accounts=",
            "imap://h?accounts=a&x=1",
            "imap://h?accounts=a&lmtp=0",
            "pop://h?accounts=a",
            "imap://u:secret@h?accounts=a",
        ] {
            let error = text.parse::<MailHost>().unwrap_err().to_string();
            assert!(error.starts_with("expected `imap://") && !error.contains("secret"), "{text}: {error}");
        }
    }

    #[test]
    fn each_run_on_a_server_has_epochs_of_its_own() {
        let [one, other] = [TargetState::default(), TargetState::default()].map(|state| state.first_epoch);
        assert_ne!(one, other);
        let last = LoadPoint { index: 1_000_000, load: Load::Users(1) };
        assert!(epoch(one.max(other), last) < PROBE_EPOCH);
    }

    /// Goal: the report says how certificates were verified also where the client asks for TLS.
    #[test]
    fn targets_that_certificates_are_verified_of_are_encrypted() {
        let is_encrypted = |scheme: &str, trust: Option<Trust>| {
            let server: MailHost = format!("{scheme}://127.0.0.1?accounts=a").parse().unwrap();
            let address = SocketAddr::from(([127, 0, 0, 1], 143));
            MailServerTarget::of_external(&MailHost { trust, ..server }, address).is_encrypted()
        };
        assert!(is_encrypted("imaps", Some(Trust::Any)) && is_encrypted("imap", Some(Trust::Any)));
        assert!(!is_encrypted("imap", None));
    }

    /// The catalog has the names that the driver has for its codes.
    #[test]
    fn codes_have_the_names_of_the_driver() {
        let known = (0..3000).filter_map(|code| Some((code, drivers::mail::code_name(code)?)));
        assert_eq!(known.collect::<Vec<_>>(), model::MAIL_CODES);
    }

    /// Goal: a copy is found below newer messages, which are more than users look at, in the mailbox of a user without load.
    #[test]
    fn a_copy_is_found_below_newer_messages() {
        let server = MailServer::start(MailServerOptions::new(2, "pass".to_owned())).unwrap();
        let addresses = server.addresses();
        let target = MailServerTarget {
            name: String::new(),
            host: "127.0.0.1".to_owned(),
            is_encrypted: false,
            mailboxes: addresses.imap,
            submission: addresses.submission,
            delivery: Some(addresses.lmtp),
            trust: Trust::Any,
            users: AccountNames::Numbered,
            accounts: MailAccounts::with_password(MailLogin::Address, MailPassword::new("pass")),
            state: Arc::default(),
        };
        let workload = benchmarks::find("notes-mail").unwrap().load().workload;
        let plan = Plan { workload, ..testkit::closed_plan(7, &[2], testkit::phases(0, 1)) };
        let (ledger, clock) = (target.state.ledger_of(1), RealClock::start());
        let message = MessageIdentity::new(1, MessageKind::Memo, MessageNumber { user: 0, number: 0 });
        unless_stopped(&AtomicBool::new(false), async {
            let (mail, context) = target.context(&plan, clock, 1, Some(Arc::clone(&ledger)))?;
            let mut sender = MailDriver::new(Rc::clone(&context), 0);
            let send = MailOperation { item: CountedItem::SendMemo, action: MailAction::Send(message) };
            assert_eq!(sender.perform(&send, clock.now()).await.outcome, Outcome::Ok);
            let mut filler = MailboxFiller::new(Rc::clone(&context));
            let population = mail.population(2).unwrap();
            for newer in (0..2).flat_map(|user| population.mailbox(user).take(45)) {
                filler.fill(&newer).await.unwrap();
            }
            assert_ne!(awaiting(&ledger), [0; 0]);
            Ok(target.look_for(&plan, clock, 1, &ledger).await?)
        })
        .unwrap();
        let DeliveryTotals { accepted, delivered, .. } = locked(&ledger).totals();
        assert!(0 < accepted && accepted == delivered, "{delivered} of {accepted}");
    }

    /// Three copies: one seen, one refused, one that never comes.
    #[test]
    fn a_copy_that_nobody_finds_is_a_violation() {
        let state = TargetState::default();
        let ledger = state.ledger_of(1);
        let message = MessageIdentity::new(1, MessageKind::Memo, MessageNumber { user: 1, number: 1 });
        let copies = [3, 4, 5].map(|user| Delivery::new(message, Recipient::User(user)));
        for copy in copies {
            locked(&ledger).submit(copy);
        }
        locked(&ledger).accept(copies[0], Nanos(1));
        locked(&ledger).refuse(copies[1]);
        locked(&ledger).accept(copies[2], Nanos(1));
        assert_eq!(awaiting(&ledger), [3, 5]);
        locked(&ledger).see(copies[0], MessagePlace { validity: 1, number: 1 });
        assert_eq!(awaiting(&ledger), [5]);
        let (name, holds, text) = delivery_row(&locked(&ledger).totals(), 1);
        assert_eq!((name.as_str(), holds), ("deliveries", false));
        assert!(text.starts_with("1 of 2 copies ") && text.ends_with("; 1 not found"), "{text}");
        locked(&ledger).see(copies[2], MessagePlace { validity: 1, number: 1 });
        assert!(delivery_row(&locked(&ledger).totals(), 1).1);
        // Load threads of one load point share it; the next load point has its own.
        assert!(Arc::ptr_eq(&ledger, &state.ledger_of(1)));
        assert!(!Arc::ptr_eq(&ledger, &state.ledger_of(2)));
    }
}
