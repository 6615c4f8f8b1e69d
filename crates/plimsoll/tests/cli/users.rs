//! Two users of one machine: neither keeps the other from running, and neither can lay hands on the other's files.
//!
//! Only root can be two users, so for others there is nothing to be tried here.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;

use rustix::process::geteuid;

use crate::support::{Ended, Lab};

const RUN: [&str; 7] = ["run", "one-object", "--load", "1", "--duration", "1", "--settle"];

/// A user that no machine has, so that nothing of its is there but what a test makes.
struct Stranger {
    uid: u32,
    /// A folder of its own in which it can run things.
    lab: Lab,
}

impl Stranger {
    fn new(uid: u32) -> Stranger {
        let lab = Lab::new();
        chown(lab.path("."), Some(uid), Some(uid)).unwrap();
        let stranger = Stranger { uid, lab };
        stranger.folders().iter().for_each(|folder| drop(fs::remove_dir_all(folder)));
        stranger
    }

    fn folders(&self) -> [PathBuf; 2] {
        ["/dev/shm", "/var/tmp"].map(|base| PathBuf::from(base).join(format!("plimsoll-{}", self.uid)))
    }

    fn run(&self, arguments: &[&str]) -> Ended {
        let mut command = self.lab.command(arguments);
        command.uid(self.uid).gid(self.uid);
        self.lab.end(command)
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        self.folders().iter().for_each(|folder| drop(fs::remove_dir_all(folder)));
    }
}

#[test]
fn root_and_another_user_run_after_one_another_in_either_order() {
    if !geteuid().is_root() {
        return;
    }
    let (stranger, lab) = (Stranger::new(54_321), Lab::new());
    let arguments = |out| [&RUN[..], &["0", "--sut", "nginx", "--sut-quota", "0.3", "--out", out]].concat();
    stranger.run(&arguments("first.plim")).expect_measured();
    lab.run(&arguments("root.plim")).expect_measured();
    stranger.run(&arguments("second.plim")).expect_measured();
    for folder in stranger.folders() {
        let found = fs::metadata(&folder).unwrap();
        assert_eq!((found.uid(), found.mode() & 0o7777), (54_321, 0o700), "{folder:?}");
    }
    for base in ["/dev/shm", "/var/tmp"] {
        let found = fs::metadata(format!("{base}/plimsoll-0")).unwrap();
        // Servers of other tests may be let through just now.
        assert!(found.uid() == 0 && [0o700, 0o710].contains(&(found.mode() & 0o7777)), "{base}: {found:?}");
    }
}

#[test]
fn a_folder_that_somebody_else_made_first_is_refused_before_anything_runs_and_told_by_doctor() {
    if !geteuid().is_root() {
        return;
    }
    let stranger = Stranger::new(54_322);
    let arguments = [&RUN[..], &["0", "--out", "run.plim"]].concat();
    let [work, _] = stranger.folders();
    fs::create_dir(&work).unwrap();
    let ended = stranger.run(&arguments).expect(4);
    let ended = ended.says(
        "error: `/dev/shm/plimsoll-54322` belongs to root, expected 54322\nhint: only root can remove it",
    );
    assert_eq!(ended.stdout, "");
    assert!(!stranger.lab.path("run.plim").exists());
    stranger
        .run(&["doctor"])
        .expect(4)
        .prints("bad      own folders            `/dev/shm/plimsoll-54322` belongs to root");
    stranger.run(&["calibrate", "--duration", "1"]).expect(4).says("belongs to root");
    // Theirs, but open to everybody.
    chown(&work, Some(stranger.uid), None).unwrap();
    fs::set_permissions(&work, fs::Permissions::from_mode(0o777)).unwrap();
    stranger.run(&arguments).expect(4).says("others can write into `/dev/shm/plimsoll-54322` (mode 0777)");
    fs::remove_dir(&work).unwrap();
    stranger.run(&["doctor"]).prints("good     own folders");
    stranger.run(&arguments).expect_measured();
}

/// Without a home, what is kept lies in a folder of the user's own and not in one for all.
#[test]
fn without_a_home_nothing_is_kept_where_others_can_write() {
    if !geteuid().is_root() {
        return;
    }
    let stranger = Stranger::new(54_323);
    let mut command = stranger.lab.command(&["seal", "--new-key"]);
    command.uid(stranger.uid).gid(stranger.uid);
    command.env_remove("HOME").env_remove("XDG_CONFIG_HOME").env_remove("XDG_STATE_HOME");
    stranger.lab.end(command).expect(0).says("/var/tmp/plimsoll-54323/.config/seal.key");
}
