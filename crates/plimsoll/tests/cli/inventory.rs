//! Inventory of machines, redaction, and operator's notes.

use std::fs;

use serde_json::Value;

use crate::support::Fixture;

const NOTES: &str = "format = 1\n\n[test]\noperator = \"Ada Lovelace\"\n\n[system]\nkernel = \"a kernel of ours\"\n\n\
    [other]\nrack = \"B7\"\n";

fn facts(value: &Value) -> Vec<&Value> {
    let sections = value["sections"].as_array().unwrap();
    sections.iter().flat_map(|section| section["facts"].as_array().unwrap()).collect()
}

#[test]
fn facts_are_listed_with_sources_and_undisclosed_ones_at_the_end() {
    let fixture = Fixture::new();
    let ended = fixture.run(&["inventory"]).expect(0);
    for text in ["\nProcessor\n", "(/proc/cpuinfo)", "sysctl net.core.somaxconn", "\nNot disclosed\n"] {
        assert!(ended.stdout.contains(text), "{text} not in {}", ended.stdout);
    }
    let json = fixture.run(&["inventory", "--json"]).expect(0).json();
    let facts = facts(&json);
    let found = facts.iter().filter(|fact| fact["state"] != "not-disclosed").count();
    assert!(80 <= found, "{found} found");
    assert!(facts.iter().all(|fact| fact["source"] != ""), "{json}");
}

/// Goal: the host name is shown only on request.
#[test]
fn identities_are_shown_only_on_request() {
    let fixture = Fixture::new();
    let name = |arguments: &[&str]| {
        let json = fixture.run(&[&["inventory", "--json"], arguments].concat()).expect(0).json();
        let fact = facts(&json).into_iter().find(|fact| fact["name"] == "host name").unwrap().clone();
        (fact["value"].as_str().unwrap().to_owned(), fact["state"].clone())
    };
    assert_eq!(name(&[]), ("[host name]".to_owned(), "redacted".into()));
    let own = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    assert_eq!(name(&["--disclose-identity"]), (own.trim().to_owned(), "found".into()));
}

/// Goal: notes are in the run file and in its report, in addition to the facts found.
#[test]
fn notes_are_part_of_a_run() {
    let fixture = Fixture::new();
    fixture.write("lab.toml", NOTES);
    let load = ["--load", "1", "--settle", "0", "--duration", "1", "--out", "run.plim"];
    let ended = fixture.run(&[&["run", "one-object", "--notes", "lab.toml"], &load[..]].concat());
    ended.assert_run();
    let run = fixture.path("run.plim");
    assert_eq!(fixture.fact(&run, "The test", "operator").unwrap(), "Ada Lovelace");
    assert_eq!(fixture.fact(&run, "Other notes", "rack").unwrap(), "B7");
    assert!(
        fixture.fact(&run, "System", "kernel").unwrap().starts_with("Linux "),
        "the fact found comes first"
    );
    let html = fs::read_to_string(fixture.path("run.html")).unwrap();
    for text in
        ["the operator says: a kernel of ours", "Not disclosed: ", "Tuning by this run", "/proc/cpuinfo"]
    {
        assert!(html.contains(text), "{text}");
    }
    fixture.run(&["audit", "run.plim"]).expect(0);
}

/// Goal: fields that the operator withholds are in no published form: run file, report, inventory, JSON.
#[test]
fn withheld_fields_are_in_no_output() {
    let fixture = Fixture::new();
    let notes = "format = 1\nwithhold = [\"system.command-line\", \"system.build\", \"system.init\"]\n";
    fixture.write("lab.toml", notes);
    let load = ["--load", "1", "--settle", "0", "--duration", "1", "--out", "run.plim"];
    let ended = fixture.run(&[&["run", "one-object", "--notes", "lab.toml"], &load[..]].concat());
    ended.assert_run();
    let run = fixture.path("run.plim");
    for name in ["kernel", "kernel build", "kernel command line", "first process"] {
        assert_eq!(fixture.fact(&run, "System", name).unwrap(), "withheld by the operator");
    }
    let report = |format: &str| {
        fixture.run(&["report", "run.plim", "--format", format, "--out", "-"]).expect(0).stdout
    };
    let inventory =
        |more: &[&str]| fixture.run(&[&["inventory", "--notes", "lab.toml"], more].concat()).expect(0).stdout;
    let forms = [
        String::from_utf8_lossy(&fs::read(&run).unwrap()).into_owned(),
        fs::read_to_string(fixture.path("run.html")).unwrap(),
        report("markdown"),
        report("json"),
        inventory(&[]),
        inventory(&["--json"]),
    ];
    let secrets =
        ["/proc/version", "/proc/cmdline", "/proc/sys/kernel/version", "/proc/sys/kernel/osrelease"];
    for path in secrets {
        let secret = fs::read_to_string(path).unwrap();
        // Shorter texts may occur by chance.
        let secret = Some(secret.trim()).filter(|secret| 8 < secret.len());
        for form in secret.iter().flat_map(|secret| forms.iter().map(move |form| (secret, form))) {
            assert!(!form.1.contains(form.0), "{path}");
        }
    }
    assert!(forms[1..].iter().all(|form| form.contains("withheld by the operator")));
}

#[test]
fn mistakes_in_notes_are_reported_before_the_run() {
    let fixture = Fixture::new();
    fixture.write("lab.toml", "format = 1\n[machine]\nvendro = \"x\"\n");
    for command in [&["inventory", "--notes", "lab.toml"][..], &["run", "one-object", "--notes", "lab.toml"]]
    {
        let ended = fixture
            .run(command)
            .expect(2)
            .expect_stderr("did you mean `vendor`?")
            .expect_stderr("lab.toml:3");
        assert_eq!(ended.stdout, "");
    }
    fixture.run(&["inventory", "--notes", "none.toml"]).expect(2).expect_stderr("cannot read `none.toml`");
    assert!(!fixture.path("runs").exists());
}
