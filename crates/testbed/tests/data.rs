//! The data of servers between runs: golden copies that are kept, and caches that are warm, with the servers of Debian's
//! packages.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use observe::private_folder::private_folder_in;
use rustix::fs::{Advice, fadvise};
use tempfile::TempDir;
use testbed::{BUILT_IN_RECIPES, DataWarmUp, Recipe, RunningSut, SutRequest, SutServer};

use crate::fixture::{READY_MAX, directory_in, files, private, request};

/// A directory on disk: in memory nothing would be read from disk.
fn on_disk() -> TempDir {
    directory_in("/var/tmp")
}

/// Reads a built-in recipe with something inserted before its configuration.
fn recipe(name: &str, inserted: &str) -> Recipe {
    let (_, text) = BUILT_IN_RECIPES.iter().find(|(known, _)| *known == name).unwrap();
    let text = text.replacen("[config]", &format!("{inserted}\n[config]"), 1);
    // So that a server that has just been started is cold.
    let text = text.replace("[mysqld]\n", "[mysqld]\ninnodb_buffer_pool_load_at_startup = OFF\n");
    Recipe::parse(name, &text).unwrap_or_else(|problems| panic!("{problems}"))
}

fn start(recipe: &Recipe, base: &Path) -> RunningSut {
    start_for(1, recipe, base)
}

/// Starts a server for a number of users.
fn start_for(users: u32, recipe: &Recipe, base: &Path) -> RunningSut {
    let files = files();
    let server = SutServer::Recipe(Box::new(recipe.clone()));
    let data_dir = private(base);
    let request = SutRequest { data_dir, users, ..request(server, base, &files) };
    let mut sut = RunningSut::start(request).unwrap_or_else(|error| panic!("{error}"));
    sut.wait_ready(READY_MAX).unwrap_or_else(|error| panic!("{error}"));
    sut
}

fn warm(sut: &mut RunningSut) -> DataWarmUp {
    sut.warm_data(&AtomicBool::new(false)).unwrap_or_else(|error| panic!("{error}")).expect("it has data")
}

/// Evicts all files below a folder from the page cache.
fn evict(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => evict(&entry.path()),
            kind if kind.is_file() => {
                let file = File::open(entry.path()).unwrap();
                file.sync_data().unwrap();
                fadvise(&file, 0, None, Advice::DontNeed).unwrap();
            }
            _ => {}
        }
    }
}

/// Returns the entries of the folder for data, other than golden copies.
fn left_in(base: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(private_folder_in(base)).unwrap().flatten().map(|entry| entry.path());
    entries.filter(|path| !path.ends_with("golden")).collect()
}

/// Starts a server with a table of some MiB twice: the second run finds the data of the first, with their password, and both
/// have a proof of warm caches, after all was evicted from memory.
fn check(name: &str, table: &str) {
    let base = on_disk();
    let recipe = recipe(name, table);
    let mut passwords = Vec::new();
    for is_kept in [false, true] {
        let mut sut = start(&recipe, base.path());
        assert_eq!(sut.has_kept_data(), Some(is_kept));
        passwords.push(sut.password().to_owned());
        for _ in 0..2 {
            evict(base.path());
            let proof = warm(&mut sut);
            println!("{name}: the data {proof}");
            assert!(proof.is_warm() && 16 << 20 < proof.data_bytes, "{proof}");
            assert!(8 << 20 < proof.read_bytes[0], "{proof}");
            sut.reset().unwrap_or_else(|error| panic!("{error}"));
        }
        sut.stop();
        assert_eq!(left_in(base.path()), [] as [PathBuf; 0]);
    }
    assert_eq!(passwords[0], passwords[1]);
}

#[test]
fn postgresql_has_kept_data_and_warm_caches() {
    check(
        "postgresql",
        r#"
[[steps]]
when = "made"
run = ["{program_dir}/postgres", "--single", "-D", "{data}", "-c", "config_file={config}", "plimsoll"]
input = """
CREATE TABLE many AS SELECT i, repeat('x', 200) AS pad FROM generate_series(1, 80000) AS i
CREATE INDEX ON many (i)
"""
"#,
    );
}

#[test]
fn mariadb_has_kept_data_and_warm_caches() {
    check(
        "mariadb",
        r#"
[[steps]]
when = "made"
run = ["{program_dir}/mariadbd", "--defaults-file={config}", "--bootstrap"]
input = """
CREATE TABLE plimsoll.many (i INT PRIMARY KEY, pad VARCHAR(200)) ENGINE = InnoDB;
INSERT INTO plimsoll.many SELECT seq, repeat('x', 200) FROM plimsoll.seq_1_to_80000;
"""
"#,
    );
}

/// A server that does nothing, with 8 MiB of data.
fn idle(more: &str) -> Recipe {
    let text = format!(
        r#"
format = 2
name = "idle"
title = "Idle"
ready = "log"
ready-log = "ready"
reset = "restore"
[program]
find = ["sh"]
[start]
arguments = ["-c", "echo ready; read -r end"]
[data]
directory = "data"
[[steps]]
when = "made"
run = ["dd", "if=/dev/urandom", "of={{data}}/file", "bs=1M", "count=8"]
[[steps]]
when = "prepared"
run = ["sh", "-c", "echo here >{{work_dir}}/prepared"]
{more}"#
    );
    Recipe::parse("idle.toml", &text).unwrap_or_else(|problems| panic!("{problems}"))
}

/// Without a step of its own, all files are read. The step is what reads, not the server.
#[test]
fn data_without_a_warm_step_are_read_from_their_files() {
    let base = on_disk();
    let mut sut = start(&idle(""), base.path());
    evict(base.path());
    let proof = warm(&mut sut);
    assert!(proof.is_warm() && proof.data_bytes == 8 << 20, "{proof}");
    assert!(8 << 20 <= proof.read_bytes[0], "{proof}");
}

/// Goal: the proof can fail: a step that reads past the page cache reads from disk each time.
#[test]
fn data_that_stay_on_disk_are_not_warm() {
    let base = on_disk();
    let past_cache = r#"
[[steps]]
when = "warm"
run = ["dd", "if={data}/file", "of=/dev/null", "bs=1M", "iflag=direct"]
"#;
    let mut sut = start(&idle(past_cache), base.path());
    let proof = warm(&mut sut);
    assert!(!proof.is_warm() && proof.read_bytes.len() == 4, "{proof}");
    assert!(proof.read_bytes.iter().all(|bytes| 8 << 20 <= *bytes), "{proof}");
    assert!(
        proof.to_string().contains("are not in memory: read from disk by each pass over them 8.0 MiB"),
        "{proof}"
    );
}

/// Goal: nothing that the data depend on may differ, and what a run needs beside them is prepared for each.
#[test]
fn a_copy_is_used_only_by_the_same_recipe() {
    let base = on_disk();
    let content = || {
        let data = left_in(base.path()).into_iter().map(|folder| folder.join("data/file"));
        std::fs::read(data.into_iter().find(|path| path.is_file()).unwrap()).unwrap()
    };
    let mut first = Vec::new();
    for (recipe, is_kept) in [
        (idle(""), false),
        (idle(""), true),
        (idle("[settings]\nnew = \"1\"\n"), false),
        (idle("[stop]\nsignal = \"int\"\n"), false),
        (idle(""), true),
    ] {
        let sut = start(&recipe, base.path());
        assert_eq!(sut.has_kept_data(), Some(is_kept));
        let found = content();
        if first.is_empty() {
            first.clone_from(&found);
        } else {
            // Random bytes: another copy has others.
            assert_eq!(found == first, is_kept);
        }
        let work_dir = std::fs::read_dir(private_folder_in(base.path())).unwrap().flatten();
        let prepared = work_dir.filter(|entry| entry.path().join("prepared").is_file()).count();
        assert_eq!(prepared, 1, "in the server's own directory");
    }
}

/// Goal: nobody is without an account, and a recipe without accounts has one copy for any number of users.
#[test]
fn a_copy_with_accounts_is_used_only_by_as_many_users() {
    let base = on_disk();
    let accounts = r#"
[settings]
"accounts" = "{users}"
"#;
    for (more, users, is_kept) in [
        (accounts, 10, false),
        (accounts, 10, true),
        (accounts, 11, false),
        (accounts, 9, false),
        ("", 10, false),
        ("", 11, true),
    ] {
        let sut = start_for(users, &idle(more), base.path());
        assert_eq!(sut.has_kept_data(), Some(is_kept), "{more} {users}");
        assert!(more.is_empty() || format!("{:?}", sut.facts()).contains(&format!("\"{users}\"")));
    }
}
