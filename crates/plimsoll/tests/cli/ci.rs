//! The examples for CI services: the commands in them are run, against servers of two working trees.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::support::{Fixture, free_port};

/// A definition that is short enough for a test.
const DEFINITION: &str = "format = 1\nid = \"ci\"\nversion = 1\ntitle = \"A page\"\nsummary = \"One page.\"\n\
    family = \"web\"\nheadline = \"request-rate\"\n[[workload.requests]]\nname = \"page\"\nweight = 1\npath = \"/index.html\"\n\
    reply = \"seen\"\n[protocol]\nhttp = \"1.1\"\nconnection = \"per-request\"\ntime-limit = \"10 s\"\n\
    [load]\nusers = \"2\"\n[phases]\nsettle = \"200 ms\"\nsteady = \"1 s\"\n";

fn example(name: &str) -> String {
    fs::read_to_string(format!("{}/../../examples/ci/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Writes a working tree with the example script, a definition, and a server for a port.
fn tree(fixture: &Fixture, folder: &str, port: u16) {
    let file = |name: &str| format!("{folder}/{name}");
    let script = |name: &str, text: &str| {
        fs::set_permissions(fixture.write(&file(name), text), Permissions::from_mode(0o755)).unwrap();
    };
    fixture.write(&file("examples/my-api.toml"), DEFINITION);
    script("examples/ci/measure.sh", &example("measure.sh"));
    fixture.write(&file("site/index.html"), &"<p>Welcome.</p>".repeat(20));
    let server = format!("exec python3 -m http.server {port} --bind 127.0.0.1 --directory site");
    script("start-server", &format!("#!/bin/sh\n{server}\n"));
}

/// Returns the commands of an example, in their order: the lines of a block under `run: |` or `script:`, and those that
/// `>` folds into one.
fn commands(text: &str) -> Vec<String> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut found: Vec<String> = Vec::new();
    let mut block: Option<(usize, bool)> = None;
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.trim().starts_with('#')) {
        let word = line.trim();
        match block {
            Some((depth, is_folded)) if depth < indent(line) => match (is_folded, found.last_mut()) {
                (true, Some(last)) => *last += &format!(" {word}"),
                _ => found.push(word.to_owned()),
            },
            _ => block = None,
        }
        if block.is_some() {
            continue;
        }
        let item = word.strip_prefix("- ").filter(|item| !item.contains(": "));
        let command = word.strip_prefix("run: ").or(item).unwrap_or_default();
        match command {
            "|" => block = Some((indent(line), false)),
            ">" => {
                block = Some((indent(line), true));
                found.push(String::new());
            }
            "" => {}
            command => found.push(command.to_owned()),
        }
    }
    found.into_iter().map(|command| command.trim().to_owned()).collect()
}

/// Returns the value of a variable that an example sets.
fn variable(text: &str, name: &str) -> String {
    let line = text.lines().find_map(|line| line.trim().strip_prefix(&format!("{name}: ")));
    line.unwrap_or_else(|| panic!("{name} is not set")).to_owned()
}

/// Runs the commands in the fixture's folder as a CI service would, with `plimsoll` on the path.
#[track_caller]
fn check(fixture: &Fixture, text: &str, port: u16, expected: &[&str]) {
    let bin = fixture.path("bin");
    fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_plimsoll"), bin.join("plimsoll")).unwrap();
    let url = variable(text, "URL");
    assert_eq!(url, "http://127.0.0.1:8080/");
    let variables = format!(
        "export PATH={}:$PATH GITHUB_STEP_SUMMARY=step.md BENCHMARK={} START={} URL={}\n",
        bin.display(),
        variable(text, "BENCHMARK"),
        variable(text, "START"),
        url.replace("8080", &port.to_string())
    );
    let commands = commands(text);
    for words in expected {
        assert!(commands.iter().any(|command| command.contains(words)), "no `{words}` in {commands:#?}");
    }
    for command in &commands {
        let ended = fixture.shell(&format!("{variables}{command}"));
        // A busy machine can make a run invalid (3), and the second side slower (5).
        let allowed: &[i32] = match command {
            command if command.contains("compare") => &[0, 3, 5],
            command if command.contains("measure.sh") => &[0, 3],
            _ => &[0],
        };
        assert!(ended.code.is_some_and(|code| allowed.contains(&code)), "`{command}`: {ended:?}");
    }
    for label in ["before", "after"] {
        let runs = fs::read_dir(fixture.path(&format!("runs/{label}"))).unwrap().flatten();
        let runs =
            runs.filter(|run| Path::new(&run.file_name()).extension().is_some_and(|end| end == "plim"));
        assert_eq!(runs.count(), 3, "runs of {label}");
    }
    let summary = fs::read_to_string(fixture.path("summary.md")).unwrap();
    assert!(summary.contains("| before |") || summary.contains("before"), "{summary}");
    let junit = fs::read_to_string(fixture.path("junit.xml")).unwrap();
    assert!(junit.contains("after: rate&lt;-5%") && junit.contains("after: p99&gt;+10%"), "{junit}");
    assert!(fixture.path("comparison.html").exists());
}

#[test]
fn the_commands_of_the_github_workflow_compare_two_trees() {
    let fixture = Fixture::new();
    let port = free_port();
    tree(&fixture, "before", port);
    tree(&fixture, "after", port);
    let expected = ["measure.sh before before", "measure.sh after after", "compare", "cat summary.md"];
    check(&fixture, &example("github-actions.yml"), port, &expected);
    let step = fs::read_to_string(fixture.path("step.md")).unwrap();
    assert_eq!(step, fs::read_to_string(fixture.path("summary.md")).unwrap());
}

#[test]
fn the_commands_of_the_gitlab_job_compare_two_commits() {
    let fixture = Fixture::new();
    let port = free_port();
    tree(&fixture, ".", port);
    let git = "git init --quiet && git add examples start-server site && \
        git -c user.name=ci -c user.email=ci@example.com commit --quiet --message base";
    fixture.shell(git).expect(0);
    let text = example("gitlab-ci.yml").replace("$CI_MERGE_REQUEST_DIFF_BASE_SHA", "HEAD");
    let expected = ["git worktree add before", "measure.sh before before", "measure.sh . after", "compare"];
    check(&fixture, &text, port, &expected);
}

#[test]
fn commands_are_read_line_by_line_and_folded() {
    let text = "a:\n  run: |\n    one\n    two\n  run: >\n    three\n    four\n  run: five\n  script:\n  - six\n  - >\n    seven\n    8\n";
    assert_eq!(commands(text), ["one", "two", "three four", "five", "six", "seven 8"]);
}
