//! Two users on one machine: neither prevents the other from running, and neither has access to the other's files.
//!
//! Only root can act as two users; for other users, these tests do nothing.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;

use rustix::process::geteuid;

use crate::support::{ExitedCommand, Fixture};

const RUN: [&str; 7] = ["run", "one-object", "--load", "1", "--duration", "1", "--settle"];

/// A user that does not exist on any machine, so that all its files are made by a test.
pub(crate) struct OtherUser {
    uid: u32,
    /// Its own directory to run commands in.
    pub(crate) fixture: Fixture,
}

impl OtherUser {
    pub(crate) fn new(uid: u32) -> OtherUser {
        let fixture = Fixture::new();
        chown(fixture.path("."), Some(uid), Some(uid)).unwrap();
        let other_user = OtherUser { uid, fixture };
        other_user.folders().iter().for_each(|folder| drop(fs::remove_dir_all(folder)));
        other_user
    }

    fn folders(&self) -> [PathBuf; 2] {
        ["/dev/shm", "/var/tmp"].map(|base| PathBuf::from(base).join(format!("plimsoll-{}", self.uid)))
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> ExitedCommand {
        let mut command = self.fixture.command(arguments);
        command.uid(self.uid).gid(self.uid);
        self.fixture.end(command)
    }
}

impl Drop for OtherUser {
    fn drop(&mut self) {
        self.folders().iter().for_each(|folder| drop(fs::remove_dir_all(folder)));
    }
}

#[test]
fn root_and_another_user_can_run_in_either_order() {
    if !geteuid().is_root() {
        return;
    }
    let other_user = OtherUser::new(54_321);
    let fixture = Fixture::new();
    let arguments = |out| [&RUN[..], &["0", "--sut", "nginx", "--sut-quota", "0.3", "--out", out]].concat();
    other_user.run(&arguments("first.plim")).expect_measured();
    fixture.run(&arguments("root.plim")).expect_measured();
    other_user.run(&arguments("second.plim")).expect_measured();
    for folder in other_user.folders() {
        let found = fs::metadata(&folder).unwrap();
        assert_eq!((found.uid(), found.mode() & 0o7777), (54_321, 0o700), "{folder:?}");
    }
    for base in ["/dev/shm", "/var/tmp"] {
        let found = fs::metadata(format!("{base}/plimsoll-0")).unwrap();
        // A server of another test may have access at the moment.
        assert!(found.uid() == 0 && [0o700, 0o710].contains(&(found.mode() & 0o7777)), "{base}: {found:?}");
    }
}

#[test]
fn a_directory_of_another_user_is_refused_before_the_run_and_reported_by_doctor() {
    if !geteuid().is_root() {
        return;
    }
    let other_user = OtherUser::new(54_322);
    let arguments = [&RUN[..], &["0", "--out", "run.plim"]].concat();
    let [work, _] = other_user.folders();
    fs::create_dir(&work).unwrap();
    let ended = other_user.run(&arguments).expect(4);
    let ended = ended.expect_stderr(
        "error: `/dev/shm/plimsoll-54322` belongs to root, expected 54322\nhint: only root can remove it",
    );
    assert_eq!(ended.stdout, "");
    assert!(!other_user.fixture.path("run.plim").exists());
    other_user
        .run(&["doctor"])
        .expect(4)
        .expect_stdout("bad      own folders            `/dev/shm/plimsoll-54322` belongs to root");
    other_user.run(&["calibrate", "--duration", "1"]).expect(4).expect_stderr("belongs to root");
    // Owned by the user, but writable by everybody.
    chown(&work, Some(other_user.uid), None).unwrap();
    fs::set_permissions(&work, fs::Permissions::from_mode(0o777)).unwrap();
    other_user
        .run(&arguments)
        .expect(4)
        .expect_stderr("others can write to `/dev/shm/plimsoll-54322` (mode 0777)");
    fs::remove_dir(&work).unwrap();
    other_user.run(&["doctor"]).expect_stdout("good     own folders");
    other_user.run(&arguments).expect_measured();
}

/// Without a home directory, persistent files are in a private directory.
#[test]
fn without_a_home_directory_files_are_stored_in_a_private_directory() {
    if !geteuid().is_root() {
        return;
    }
    let other_user = OtherUser::new(54_323);
    let mut command = other_user.fixture.command(&["seal", "--new-key"]);
    command.uid(other_user.uid).gid(other_user.uid);
    command.env_remove("HOME").env_remove("XDG_CONFIG_HOME").env_remove("XDG_STATE_HOME");
    other_user.fixture.end(command).expect(0).expect_stderr("/var/tmp/plimsoll-54323/.config/seal.key");
}
