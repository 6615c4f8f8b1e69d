//! Seals: creation, verification, and detection of changes to the seal or the run.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::support::Fixture;

/// Records a short run and seals it with a new key; returns the public key.
fn sealed(fixture: &Fixture) -> String {
    let arguments =
        ["run", "one-object", "--load", "1", "--settle", "0", "--duration", "1", "--out", "run.plim"];
    let ended = fixture.run(&arguments);
    ended.assert_run();
    let run = fs::read(fixture.path("run.plim")).unwrap();
    let ended = fixture.run(&["seal", "--new-key", "run.plim"]).expect(0).expect_stderr("keep it secret");
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert!(lines[0].starts_with("ed25519:"), "{lines:?}");
    assert_eq!(lines[1..], ["run.plim.seal"]);
    assert_eq!(fs::read(fixture.path("run.plim")).unwrap(), run, "sealing changed the run file");
    lines[0].to_owned()
}

/// One run for all cases: each change is undone before the next.
#[test]
fn a_sealed_run_is_verified_and_changes_are_found() {
    let fixture = Fixture::new();
    let public = sealed(&fixture);
    let audit = |arguments: &[&str]| fixture.run(&[&["audit", "run.plim"], arguments].concat());
    audit(&[])
        .expect(0)
        .expect_stdout(&format!("by {public}\n"))
        .expect_stdout("run.plim: no differences found");
    audit(&["--signed-by", &public]).expect(0);
    fixture.write("their.pub", &format!("{public}\n"));
    audit(&["--signed-by", "their.pub"]).expect(0);
    let json = audit(&["--json"]).expect(0).json();
    assert_eq!(json["seal"]["public_key"], public.as_str());

    let other = fixture.run(&["seal", "--new-key", "--key", "other.key"]).expect(0).stdout;
    audit(&["--signed-by", other.trim()])
        .expect(6)
        .expect_stdout(&format!("seal: signed by `{public}`, expected `{}`", other.trim()));

    let run = fs::read(fixture.path("run.plim")).unwrap();
    let mut changed = run.clone();
    changed.push(0);
    fs::write(fixture.path("run.plim"), &changed).unwrap();
    let ended =
        audit(&[]).expect(6).expect_stdout("seal: `file_bytes` was").expect_stdout("seal: `file_blake3` was");
    assert!(!ended.stdout.contains("sealed 20"), "{}", ended.stdout);
    fs::write(fixture.path("run.plim"), &run).unwrap();

    let seal = fs::read_to_string(fixture.path("run.plim.seal")).unwrap();
    fixture.write("run.plim.seal", &seal.replace("\"benchmark_version\": ", "\"benchmark_version\": 9"));
    audit(&[])
        .expect(6)
        .expect_stdout("seal: the seal was changed")
        .expect_stdout("`benchmark_version` was `9");
    fixture.write("run.plim.seal", &seal.replace("\"benchmark\"", "\"note\": \"audited\", \"benchmark\""));
    audit(&[]).expect(6).expect_stdout("seal: the seal has keys that are not signed");
    fixture.write("run.plim.seal", "yes, it is ours");
    audit(&[]).expect(6).expect_stdout("seal: the seal is not JSON");

    fs::remove_file(fixture.path("run.plim.seal")).unwrap();
    let json = audit(&["--json"]).expect(0).json();
    assert!(json["seal"].is_null());
    audit(&["--signed-by", &public])
        .expect(6)
        .expect_stdout("seal: `run.plim.seal` does not exist, expected a seal");
}

#[test]
fn a_key_is_private_and_never_overwritten() {
    let fixture = Fixture::new();
    let key = fixture.path("config/plimsoll/seal.key");
    let public = fixture.run(&["seal", "--new-key"]).expect(0).stdout;
    assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    let text = fs::read_to_string(&key).unwrap();
    let secret = text.lines().last().unwrap().strip_prefix("ed25519-secret:").unwrap();

    let ended = fixture.run(&["seal", "--new-key"]).expect(2).expect_stderr("a key is never overwritten");
    assert_eq!(fs::read_to_string(&key).unwrap(), text);
    let json = fixture.run(&["seal", "--new-key", "--key", "other.key", "--json"]).expect(0);
    assert_ne!(json.json()["public_key"], public.trim());

    fs::set_permissions(&key, fs::Permissions::from_mode(0o640)).unwrap();
    let refused = fixture
        .run(&["seal", "run.plim"])
        .expect(2)
        .expect_stderr("other users have access")
        .expect_stderr("chmod 600");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&key, text.replace("secret:", "secret:zz")).unwrap();
    let broken = fixture
        .run(&["seal", "run.plim"])
        .expect(2)
        .expect_stderr("expected a key that `plimsoll seal --new-key` made");
    for ended in [ended, json, refused, broken] {
        assert!(
            !format!("{public}{}{}", ended.stdout, ended.stderr).contains(secret),
            "the secret was shown"
        );
    }
}

#[test]
fn failures_to_seal_are_reported() {
    let fixture = Fixture::new();
    fixture.run(&["seal"]).expect(2).expect_stderr("<RUN>");
    fixture
        .run(&["seal", "run.plim"])
        .expect(2)
        .expect_stderr("cannot read the key")
        .expect_stderr("--new-key");
    sealed(&fixture);
    fixture
        .run(&["seal", "run.plim"])
        .expect(2)
        .expect_stderr("cannot write `run.plim.seal`")
        .expect_stderr("move the old seal away");
    fixture.run(&["seal", "none.plim"]).expect(2).expect_stderr("none.plim");
    fs::remove_file(fixture.path("run.plim.seal")).unwrap();
    let database = rusqlite::Connection::open(fixture.path("run.plim")).unwrap();
    database.execute("UPDATE header SET command_line = 'plimsoll run'", []).unwrap();
    database.close().unwrap();
    fixture
        .run(&["seal", "run.plim"])
        .expect(6)
        .expect_stderr("was changed after it was written: the header was changed");
    assert!(!fixture.path("run.plim.seal").exists());
    fixture
        .run(&["audit", "run.plim", "--signed-by", "nobody"])
        .expect(2)
        .expect_stderr("cannot read `nobody`");
    fixture
        .run(&["audit", "run.plim", "--signed-by", "ed25519:00"])
        .expect(2)
        .expect_stderr("expected a public key");
    fixture
        .run(&["audit", "report.toml", "--signed-by", "x"])
        .expect(2)
        .expect_stderr("a published report has no seal");
}
