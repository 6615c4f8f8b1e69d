//! The recipes of file and mail servers, with the servers of Debian's packages, smbclient, the programs of libnfs, and the mail clients of
//! Python's library.

use std::path::Path;
use std::process::Command;

use observe::private_folder::private_folder_in;
use testbed::{Recipe, RunningSut, SutServer};
use units::{Clock, Nanos, RealClock};

use crate::fixture::{READY_MAX, directory, files, request};

/// The users for whom servers have accounts.
const USERS: u32 = 300;

/// Starts a server in a profile, and passes it to `check`; then stops it and checks that nothing is left.
fn with_server(name: &str, profile: &str, check: impl Fn(&mut RunningSut, &Path)) {
    let recipe = Recipe::load(name).unwrap();
    let base = directory();
    let files = files();
    let server = SutServer::Recipe(Box::new(recipe));
    let profile = Some(profile.to_owned());
    let request = testbed::SutRequest { profile, users: USERS, ..request(server, base.path(), &files) };
    let folder = request.work_dir.clone();
    let mut sut = RunningSut::start(request).unwrap_or_else(|error| panic!("{error}"));
    sut.wait_ready(READY_MAX).unwrap_or_else(|error| panic!("{error}"));
    let leaders = sut.watched().leaders;
    check(&mut sut, base.path());
    assert!(!format!("{:?}", sut.facts()).contains(sut.password()), "the password is disclosed");
    sut.stop();
    assert!(leaders.iter().all(|pid| !Path::new(&format!("/proc/{pid}")).exists()), "{leaders:?}");
    let mentions = processes_that_mention(base.path());
    assert!(mentions.is_empty(), "{name}: {mentions:?}");
    let left: Vec<_> = std::fs::read_dir(folder).unwrap().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Returns the command lines of the processes that work in a folder or name it.
fn processes_that_mention(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let own = |process: std::path::PathBuf| {
        let line = String::from_utf8_lossy(&std::fs::read(process.join("cmdline")).ok()?).into_owned();
        let works_here = std::fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder));
        (works_here || line.contains(folder.to_str().unwrap())).then_some(line)
    };
    entries.filter_map(own).collect()
}

/// Runs a client to its end; returns its output.
fn client(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).trim().to_owned();
    assert!(output.status.success(), "{command:?}: {text}");
    text
}

fn smb(sut: &RunningSut, password: &str, commands: &str) -> Command {
    let mut smbclient = Command::new("smbclient");
    smbclient.args(["//127.0.0.1/plimsoll", "--user=plimsoll", "--configfile=/dev/null"]);
    smbclient.arg(format!("--port={}", sut.addr().port())).args(["-c", commands]).env("PASSWD", password);
    smbclient
}

#[test]
fn samba_keeps_files_while_it_runs_and_rests_and_stops() {
    for profile in ["benchmark", "default"] {
        with_server("samba", profile, |sut, base| {
            let here = base.join("here");
            let back = base.join("back");
            std::fs::write(&here, [7; 300_000]).unwrap();
            let commands = format!("put {} one; get one {}", here.display(), back.display());
            client(&mut smb(sut, sut.password(), &commands));
            assert_eq!(std::fs::read(back).unwrap(), [7; 300_000]);
            let refused = smb(sut, "wrong", "ls").output().unwrap();
            assert!(!refused.status.success());
            assert!(String::from_utf8_lossy(&refused.stdout).contains("LOGON_FAILURE"), "{refused:?}");
            assert!(!sut.reset().unwrap_or_else(|error| panic!("{error}")), "it keeps running");
            assert!(sut.rest());
            assert!(sut.reset().unwrap_or_else(|error| panic!("{error}")), "it was started again");
            sut.evict_data().unwrap_or_else(|error| panic!("{error}"));
            let listing = client(&mut smb(sut, sut.password(), "ls"));
            assert!(listing.contains("one"), "{listing}");
        });
    }
}

/// Copies a file to an export and back, with the programs of another client.
fn nfs_copy(sut: &RunningSut, base: &Path) {
    let [here, back] = ["here", "back"].map(|name| base.join(name));
    // libnfs 4.0 of Debian 12 fails to send writes of some tens of KB by version 4.
    std::fs::write(&here, [7; 3_000]).unwrap();
    let there = format!("nfs://127.0.0.1/plimsoll/one?nfsport={}&version=4", sut.addr().port());
    client(Command::new("nfs-cp").arg(&here).arg(&there));
    client(Command::new("nfs-cp").arg(&there).arg(&back));
    assert_eq!(std::fs::read(back).unwrap(), [7; 3_000]);
}

#[test]
fn ganesha_keeps_files_and_stops() {
    if rustix::process::geteuid().is_root() {
        return with_server("ganesha", "benchmark", |sut, base| {
            nfs_copy(sut, base);
            sut.reset().unwrap_or_else(|error| panic!("{error}"));
        });
    }
    let recipe = Recipe::load("ganesha").unwrap();
    let (base, files) = (directory(), files());
    let request = request(SutServer::Recipe(Box::new(recipe)), base.path(), &files);
    let message = RunningSut::start(request).unwrap_err().to_string();
    assert!(message.contains("`ganesha-memory` keeps them in memory"), "{message}");
}

/// What root does not need: files in the memory of the server.
#[test]
fn ganesha_in_memory_keeps_files_and_stops() {
    with_server("ganesha-memory", "benchmark", |sut, base| nfs_copy(sut, base));
}

/// Sends a message, reads mailboxes and prints the subjects in one.
const MAIL: &str = r#"
import imaplib, os, smtplib, sys
action, smtp, imap, last, subject = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5]
password = os.environ["MAIL_PASSWORD"]
if action == "send":
    with smtplib.SMTP("127.0.0.1", smtp, timeout=20) as client:
        client.login("user2@plimsoll.test", password)
        message = f"Subject: {subject}\r\n\r\nHello.\r\n"
        client.sendmail("user2@plimsoll.test", [f"user{last}@plimsoll.test"], message)
else:
    client = imaplib.IMAP4("127.0.0.1", imap, timeout=20)
    client.login(f"user{last}@plimsoll.test", password)
    client.select("INBOX")
    for number in client.search(None, "ALL")[1][0].split():
        print(client.fetch(number, "(BODY[HEADER.FIELDS (SUBJECT)])")[1][0][1].decode().strip())
"#;

fn mail(sut: &RunningSut, action: &str) -> String {
    let [smtp, imap] = [sut.port("smtp").unwrap(), sut.addr().port()].map(|port| port.to_string());
    let mut python = Command::new("python3");
    python.args(["-c", MAIL, action, &smtp, &imap, &USERS.to_string(), "first"]);
    client(python.env("MAIL_PASSWORD", sut.password()))
}

/// Returns the number of accounts in the file that the recipe writes for a server below a folder.
fn accounts(base: &Path) -> usize {
    let folders = std::fs::read_dir(private_folder_in(base)).unwrap().flatten();
    let mut files = folders.map(|folder| folder.path().join("users"));
    let file = files.find(|file| file.is_file()).expect("a file with accounts");
    std::fs::read_to_string(file).unwrap().lines().count()
}

#[test]
fn mail_is_delivered_by_postfix_to_dovecot_and_gone_after_a_restore() {
    if !rustix::process::geteuid().is_root() {
        let recipe = Recipe::load("dovecot-postfix").unwrap();
        let base = directory();
        let files = files();
        let request = request(SutServer::Recipe(Box::new(recipe)), base.path(), &files);
        let message = RunningSut::start(request).unwrap_err().to_string();
        assert!(message.contains("can be started by root only"), "{message}");
        return;
    }
    for profile in ["benchmark", "default"] {
        with_server("dovecot-postfix", profile, delivers_and_restores);
    }
}

fn delivers_and_restores(sut: &mut RunningSut, base: &Path) {
    assert_eq!(accounts(base), USERS as usize);
    assert_eq!(mail(sut, "read"), "");
    mail(sut, "send");
    let clock = RealClock::start();
    while mail(sut, "read") != "Subject: first" {
        assert!(clock.now() < Nanos::from_secs(20), "the message does not arrive");
    }
    let watched = observe::process::family_of(&sut.watched().leaders);
    let names = watched
        .iter()
        .map(|process| std::fs::read_to_string(format!("/proc/{}/comm", process.pid)).unwrap_or_default());
    let names: Vec<String> = names.collect();
    for name in ["dovecot", "auth", "master", "qmgr"] {
        assert!(names.iter().any(|one| one.trim() == name), "{name} is not watched: {names:?}");
    }
    sut.reset().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(mail(sut, "read"), "", "the message is still there");
}
