//! The crate `observe` only looks: its sources neither write files, nor start or signal processes.

use super::source::{Source, sources};

/// The crate that is checked.
const FOLDER: &str = "crates/observe/src/";

/// The only source that may make commands: the table of the programs that a monitor needs.
const PROGRAMS: &str = "crates/observe/src/program.rs";

/// The only source that may start a thread, to enter a network namespace.
const THREADS: &str = "crates/observe/src/in_network.rs";
const SPAWN: &str = "spawn";

/// Beginnings of the names by which a machine is changed.
const CHANGES: [&str; 28] = [
    // Files.
    "fs::write",
    "fs::copy",
    "fs::rename",
    "write_at",
    "File::create",
    "File::options",
    "OpenOptions",
    "DirBuilder",
    "create_dir",
    "remove_",
    "rename(",
    "renameat",
    "hard_link",
    "symlink(",
    "symlinkat",
    "unlink",
    "mkdir",
    "mknod",
    "set_permissions",
    "set_len",
    "ftruncate",
    "chmod",
    "chown",
    // Processes and their settings.
    "kill",
    SPAWN,
    "setrlimit",
    "setpriority",
    "sched_setaffinity",
];

/// The type with which a program is started; only [`PROGRAMS`] may name it.
const COMMAND: &str = "Command";

/// Returns whether a name in a line begins with a word.
fn contains(line: &str, word: &str) -> bool {
    let begins = |at: usize| !line[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_');
    line.match_indices(word).any(|(at, _)| begins(at))
}

/// Returns a complaint for each line of the crate that changes something.
fn changes(sources: &[Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for source in sources.iter().filter(|source| source.path.starts_with(FOLDER)) {
        for (number, line) in source.code() {
            let command = (source.path != PROGRAMS).then_some(COMMAND);
            let is_allowed = |word: &&str| *word == SPAWN && source.path == THREADS;
            let words = CHANGES.into_iter().chain(command).filter(|word| !is_allowed(word));
            let found = words.filter(|word| contains(line, word));
            complaints
                .extend(found.map(|word| format!("{}:{number}: `{word}` changes something", source.path)));
        }
    }
    complaints
}

#[test]
fn the_crate_observe_changes_nothing() {
    let n_sources = sources().iter().filter(|source| source.path.starts_with(FOLDER)).count();
    assert!(50 < n_sources, "found only {n_sources} sources");
    assert_eq!(changes(sources()), [""; 0]);
}

#[test]
fn lines_that_change_something_are_found() {
    let text = "use std::process::Command;\nfn f() {\n    fs::write(path, text)?;\n    std::fs::remove_file(path)?;\n\
                    let file = File::create_new(path);\n    rustix::process::kill_process(pid, Signal::TERM)?;\n\
                    child.kill()?;\n}\n\n#[cfg(test)]\nmod tests {\n    fn g() {\n        fs::write(path, text);\n    }\n}\n\
                    fn h() { fs::rename(one, other) }\n";
    let found = |path: &str| {
        let complaints = changes(&[Source::new(path, text)]);
        complaints.iter().filter_map(|line| Some(line.split(':').nth(1)?.to_owned())).collect::<Vec<_>>()
    };
    assert_eq!(found("crates/observe/src/a.rs"), ["1", "3", "4", "5", "6", "7", "16", "16"]);
    assert_eq!(found(PROGRAMS), ["3", "4", "5", "6", "7", "16", "16"]);
    assert_eq!(found("crates/testbed/src/a.rs"), [""; 0]);
}

#[test]
fn words_that_look_alike_are_no_finding() {
    let text = "/// Does not kill.\n#[serde(rename_all = \"kebab-case\")]\nfn removal_hint() -> &str { \"kill -9\" }\n\
                    let found = fs::symlink_metadata(path)?; // fs::write\nmap.remove(&key); stream.write_all(b\"x\")?;\n\
                    let skill = SubCommand::new();\n";
    assert_eq!(changes(&[Source::new("crates/observe/src/a.rs", text)]), [""; 0]);
}
