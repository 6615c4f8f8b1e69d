//! A disk that fills, or becomes read-only, while clients write files on it: a small one of its own, as root.

use rustix::process::geteuid;

use crate::support::{ExitedCommand, Fixture};

/// Runs writing clients on a disk of 96 MiB in a mount namespace of its own, so that nothing is left behind, and does something
/// to it under load. Prints `exit` with the code of the run, the content of a file of somebody else, and the entries of the
/// disk. `None` where there is no such disk.
fn run_on_disk(fixture: &Fixture, fault: &str) -> Option<ExitedCommand> {
    if !geteuid().is_root() {
        eprintln!("a disk of its own needs root; nothing is checked");
        return None;
    }
    let line = format!(
        r#"
        truncate -s 96M disk.img && mkfs.ext4 -q disk.img && mkdir disk || {{ echo "no disk"; exit; }}
        inside() {{
            mount -o loop,errors=remount-ro disk.img disk 2>/dev/null || {{ echo "no disk"; exit; }}
            trap 'cd /; umount -l "$OLDPWD/disk"' EXIT
            source=$(findmnt -no SOURCE disk)
            echo theirs > disk/precious
            "$plimsoll" run seqread --quick --target "file://$PWD/disk" --load 1 --duration 3 \
                --set direction=write --monitor off --out run.plim &
            run=$!
            until [ -s disk/plimsoll-files/private/c0/stream/f00000.bin ]; do
                kill -0 $run 2>/dev/null || break
                sleep 0.02
            done
            {fault}
            wait $run; echo "exit $?"
            cat disk/precious; ls -A disk | tr '\n' ' '
        }}
        export -f inside
        unshare --mount bash -c inside"#
    );
    let ended = fixture.shell(&line).expect(0);
    if ended.stdout.contains("no disk") {
        eprintln!("no file system can be mounted here; nothing is checked");
        return None;
    }
    Some(ended)
}

/// Returns the text of the reason by this rule for which the run is invalid.
fn reason(fixture: &Fixture, rule: &str) -> String {
    let report = fixture.report(&fixture.path("run.plim"));
    let reasons = report["verdict"]["reasons"].as_array().unwrap().clone();
    let found = reasons.iter().find(|reason| reason["rule"] == rule);
    found.unwrap_or_else(|| panic!("{reasons:?}"))["text"].as_str().unwrap().to_owned()
}

#[test]
fn a_disk_that_fills_is_found_and_what_is_not_ours_stays() {
    let fixture = Fixture::new();
    // Somebody else takes whatever the client gives back when it cuts its file.
    let fault =
        "while kill -0 $run 2>/dev/null; do cat /dev/zero >> disk/other; sleep 0.02; done 2>/dev/null";
    let Some(ended) = run_on_disk(&fixture, fault) else { return };
    ended.expect_stdout("exit 3\ntheirs\nlost+found other precious ");
    assert!(reason(&fixture, "storage").contains("found no room"));
}

#[test]
fn a_disk_that_becomes_read_only_is_found_and_what_is_not_ours_stays() {
    let fixture = Fixture::new();
    let fault = r#"echo 1 > "/sys/fs/ext4/${source##*/}/trigger_fs_error""#;
    let Some(ended) = run_on_disk(&fixture, fault) else { return };
    // What cannot be removed stays in the folder that says whose it is.
    ended.expect_stdout("exit 3\ntheirs\nlost+found plimsoll-files precious ");
    assert!(reason(&fixture, "storage").contains("read-only"));
}
