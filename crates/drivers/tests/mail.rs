//! Mail users of Dovecot and Postfix: mailboxes are filled over LMTP, scripts are performed over IMAP and SMTP, and every message
//! arrives as it was sent.

use std::fs::Permissions;
use std::num::NonZeroU8;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use drivers::Trust;
use drivers::mail::{
    Acknowledgment, MailAccounts, MailClientOptions, MailContext, MailDriver, MailEncryption, MailEndpoint,
    MailLogin, MailPassword, MailTarget, MailboxFiller, MailboxNames, code_name,
};
use engine::Driver;
use mail::{
    CountedItem, DeliveryLedger, MailAction, MailAnswer, MailDate, MailDestination, MailDirectory, MailLoad,
    MailMessages, MailOperation, MailPacing, MailPopulation, MailScript, MailSizes, MailStep, MessageDepth,
    MessageIdentity, MessageKind, MessageNumber,
};
use model::{Outcome, mail_measure};
use observe::private_folder::private_folder_in;
use tempfile::TempDir;
use testbed::{Recipe, RunningSut, SutRequest, SutServer, make_private_folder};
use tokio::runtime::Builder;
use tokio::time::{sleep, timeout};
use units::{Clock, Nanos, RealClock};

use crate::common::Identity;

/// Time limit for the servers to answer; the machine may be busy.
const READY_MAX: Duration = Duration::from_secs(30);

/// Time limit for the delivery of everything.
const DELIVERY_MAX: Duration = Duration::from_secs(30);

const SEED: u64 = 11;
const N_USERS: u32 = 3;

/// The loops of each user.
const N_LOOPS: u32 = 4;

const RECIPE: &str = include_str!("../../../recipes/dovecot-postfix.toml");

/// Running servers, which offer encryption.
struct MailServers {
    sut: RunningSut,
    trust: Trust,
    _base: TempDir,
}

impl MailServers {
    fn start() -> MailServers {
        let base = tempfile::tempdir_in("/dev/shm").unwrap();
        std::fs::set_permissions(base.path(), Permissions::from_mode(0o755)).unwrap();
        let identity = Identity::create();
        let recipe = encrypting_recipe(base.path(), &identity);
        let folder = || make_private_folder(&private_folder_in(base.path())).unwrap();
        let server = SutServer::Recipe(Box::new(recipe));
        let request = SutRequest { users: N_USERS, ..SutRequest::new(server, folder(), folder()) };
        let mut sut = RunningSut::start(request).unwrap_or_else(|error| panic!("{error}"));
        sut.wait_ready(READY_MAX).unwrap_or_else(|error| panic!("{error}"));
        MailServers { sut, trust: identity.trust(), _base: base }
    }

    fn target(&self, encryption: MailEncryption) -> MailTarget {
        let place = |port| {
            let mut address = self.sut.addr();
            address.set_port(port);
            MailEndpoint { address, encryption }
        };
        MailTarget {
            host: "localhost".to_owned(),
            mailboxes: place(self.sut.addr().port()),
            submission: place(self.sut.port("smtp").unwrap()),
            delivery: Some(place(self.sut.port("lmtp").unwrap())),
            trust: self.trust.clone(),
        }
    }

    fn options(&self, epoch: u32) -> MailClientOptions {
        let directory = MailDirectory::numbered("user", N_USERS, "plimsoll.test").unwrap();
        let mut messages = MailMessages::new(SEED, directory, MailDate::from_unix_seconds(1_796_005_800));
        messages.sizes = MailSizes::all(2_000);
        let password = MailPassword::new(self.sut.password());
        let ledger = DeliveryLedger::new(Nanos::from_secs(60));
        MailClientOptions {
            messages: Arc::new(messages),
            epoch,
            depth: MessageDepth::Full,
            accounts: MailAccounts::with_password(MailLogin::Address, password),
            names: MailboxNames::default(),
            acknowledgment: Acknowledgment::AtOnce,
            deliveries: Some(Arc::new(Mutex::new(ledger))),
        }
    }
}

/// Returns the recipe with servers that have a certificate, whose files are made in a folder.
fn encrypting_recipe(folder: &Path, identity: &Identity) -> Recipe {
    let [certificate, key] = ["certificate.pem", "key.pem"].map(|name| folder.join(name));
    for (path, pem) in [&certificate, &key].into_iter().zip(&identity.pem) {
        std::fs::write(path, pem).unwrap();
    }
    std::fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
    let [certificate, key] = [certificate.display(), key.display()];
    let of_dovecot = format!("ssl = yes\nssl_cert = <{certificate}\nssl_key = <{key}\n");
    let of_postfix = format!(
        "smtpd_tls_security_level = may\nsmtpd_tls_cert_file = {certificate}\nsmtpd_tls_key_file = {key}\n"
    );
    let mut text = RECIPE.to_owned();
    for (line, with) in [
        ("ssl = no\n", of_dovecot),
        ("smtpd_sasl_auth_enable = yes\n", of_postfix),
        ("qmgr unix n - n 300 1 qmgr\n", "tlsmgr unix - - n 1000? 1 tlsmgr\n".to_owned()),
    ] {
        assert!(text.contains(line));
        // Of two settings of one name the last counts.
        text = text.replacen(line, &format!("{line}{with}"), 1);
    }
    Recipe::parse("dovecot-postfix.toml", &text).unwrap_or_else(|error| panic!("{error}"))
}

/// Makes an operation of an action beside a script.
fn operation(action: MailAction) -> MailOperation {
    MailOperation { item: CountedItem::CheckMail, action }
}

/// Fills the mailboxes, and one of the first user as if it were shared.
async fn fill(context: &Rc<MailContext>) {
    let population = MailPopulation::new(N_USERS, 25, 60).unwrap();
    let mut filler = MailboxFiller::new(Rc::clone(context));
    let own = (0..N_USERS).flat_map(|user| population.mailbox(user));
    for message in own.chain(population.shared_mailbox()) {
        filler.fill(&message).await.unwrap_or_else(|error| panic!("{error}"));
    }
}

/// Has users go through a script, one operation of each after another.
async fn go_through(script: MailScript, epoch: u32, drivers: &mut [MailDriver], clock: RealClock) {
    let load = MailLoad { script, pacing: MailPacing::default(), seed: SEED, epoch, n_users: N_USERS };
    let mut users: Vec<_> = (0..).map(|number| (load.user(number), None)).take(drivers.len()).collect();
    while users.iter().any(|(user, _)| user.n_loops() < N_LOOPS) {
        for ((user, last), driver) in users.iter_mut().zip(&mut *drivers) {
            let MailStep::Perform(operation) = user.next(last.take()) else { continue };
            let reply = driver.perform(&operation, clock.now()).await;
            let described = driver.describe(&operation, &reply);
            assert_eq!(reply.outcome, Outcome::Ok, "{script:?}: {described}");
            let measured = |measure| reply.measured.get(measure).unwrap();
            assert!(0 < measured(mail_measure::EXCHANGES) && 0 < measured(mail_measure::RECEIVED_BYTES));
            *last = Some(MailAnswer::from_u64(reply.answer));
        }
    }
}

/// Drains mailboxes until nothing is awaited: what was delivered is seen there at the latest.
async fn await_deliveries(ledger: &Mutex<DeliveryLedger>, drivers: &mut [MailDriver]) {
    let drain = operation(MailAction::Drain);
    while 0 < ledger.lock().unwrap().totals().awaited {
        for driver in &mut *drivers {
            let reply = driver.perform(&drain, Nanos::ZERO).await;
            assert_eq!(reply.outcome, Outcome::Ok, "{}", driver.describe(&drain, &reply));
        }
        sleep(Duration::from_millis(20)).await;
    }
}

/// Goal: what real servers answer is taken as it is meant, by each command that a user needs.
#[test]
fn users_of_dovecot_and_postfix_do_as_their_scripts_say() {
    if !rustix::process::geteuid().is_root() {
        // A test of the recipe says so.
        return;
    }
    let servers = MailServers::start();
    let clock = RealClock::start();
    Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        for (epoch, script, n_active, encryption) in [
            (1, MailScript::MailDb, 1, MailEncryption::None),
            (2, MailScript::Mail8, 3, MailEncryption::StartTls),
            (3, MailScript::Imap, 3, MailEncryption::None),
        ] {
            let target = servers.target(encryption);
            let options = servers.options(epoch);
            let ledger = options.deliveries.clone().unwrap();
            let context = MailContext::new(&target, &[], options, clock).unwrap();
            fill(&context).await;
            let mut drivers: Vec<MailDriver> =
                (0..N_USERS).map(|user| MailDriver::new(Rc::clone(&context), user)).collect();
            for driver in &mut drivers {
                driver.open().await.unwrap_or_else(|error| panic!("{error}"));
            }
            go_through(script, epoch, &mut drivers[..n_active], clock).await;
            timeout(DELIVERY_MAX, await_deliveries(&ledger, &mut drivers)).await.unwrap();
            let totals = ledger.lock().unwrap().totals();
            assert!(0 < totals.submitted && totals.delivered == totals.submitted, "{script:?}: {totals:?}");
            assert_eq!((totals.refused, totals.doubtful, totals.delivered_twice), (0, 0, 0), "{totals:?}");
        }
        refusals(&servers, clock).await;
    });
}

/// A recipient that is not there, and a wrong password, in the words of the servers. Dovecot takes two seconds for the latter,
/// and more for whoever comes next.
async fn refusals(servers: &MailServers, clock: RealClock) {
    let target = &servers.target(MailEncryption::None);
    let options = servers.options(4);
    let mut messages = (*options.messages).clone();
    messages.destination = MailDestination::Sinks(NonZeroU8::MIN);
    let options = MailClientOptions { messages: Arc::new(messages), ..options };
    let context = MailContext::new(target, &[], options, clock).unwrap();
    let mut driver = MailDriver::new(context, 0);
    let number = MessageNumber { user: 0, number: 0 };
    let send = operation(MailAction::Send(MessageIdentity::new(4, MessageKind::Note, number)));
    let reply = driver.perform(&send, Nanos::ZERO).await;
    let code = code_name(reply.code);
    assert!(code.is_some_and(|name| name.starts_with("SMTP_")), "{}", driver.describe(&send, &reply));
    assert_eq!(MailAnswer::from_u64(reply.answer), MailAnswer::Failed);
    let accounts = MailAccounts::with_password(MailLogin::Address, MailPassword::new("wrong"));
    let options = MailClientOptions { accounts, ..servers.options(4) };
    let context = MailContext::new(target, &[], options, clock).unwrap();
    let error = MailDriver::new(context, 0).open().await.unwrap_err().to_string();
    assert!(error.contains("the server answered NO [AUTHENTICATIONFAILED]"), "{error}");
}
