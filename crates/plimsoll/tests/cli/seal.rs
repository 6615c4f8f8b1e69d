//! Seals: made, checked, and found out when they or their run were changed.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::support::Lab;

/// Records a run of a second and seals it with a new key; returns the public key.
fn sealed(lab: &Lab) -> String {
    let arguments =
        ["run", "one-object", "--load", "1", "--settle", "0", "--duration", "1", "--out", "run.plim"];
    let ended = lab.run(&arguments);
    ended.assert_run();
    let run = fs::read(lab.path("run.plim")).unwrap();
    let ended = lab.run(&["seal", "--new-key", "run.plim"]).expect(0).says("keep it to yourself");
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert!(lines[0].starts_with("ed25519:"), "{lines:?}");
    assert_eq!(lines[1..], ["run.plim.seal"]);
    assert_eq!(fs::read(lab.path("run.plim")).unwrap(), run, "sealing changed the run file");
    lines[0].to_owned()
}

/// One run for all of them: each change is undone before the next.
#[test]
fn a_sealed_run_is_known_again_and_changes_are_found() {
    let lab = Lab::new();
    let public = sealed(&lab);
    let audit = |arguments: &[&str]| lab.run(&[&["audit", "run.plim"], arguments].concat());
    audit(&[]).expect(0).prints(&format!("by {public}\n")).prints("run.plim: everything follows");
    audit(&["--signed-by", &public]).expect(0);
    lab.write("their.pub", &format!("{public}\n"));
    audit(&["--signed-by", "their.pub"]).expect(0);
    let json = audit(&["--json"]).expect(0).json();
    assert_eq!(json["seal"]["public_key"], public.as_str());

    let other = lab.run(&["seal", "--new-key", "--key", "other.key"]).expect(0).stdout;
    audit(&["--signed-by", other.trim()])
        .expect(6)
        .prints(&format!("seal: signed by `{public}`, expected `{}`", other.trim()));

    let run = fs::read(lab.path("run.plim")).unwrap();
    let mut changed = run.clone();
    changed.push(0);
    fs::write(lab.path("run.plim"), &changed).unwrap();
    let ended = audit(&[]).expect(6).prints("seal: `file_bytes` was").prints("seal: `file_blake3` was");
    assert!(!ended.stdout.contains("sealed 20"), "{}", ended.stdout);
    fs::write(lab.path("run.plim"), &run).unwrap();

    let seal = fs::read_to_string(lab.path("run.plim.seal")).unwrap();
    lab.write("run.plim.seal", &seal.replace("\"benchmark_version\": ", "\"benchmark_version\": 9"));
    audit(&[]).expect(6).prints("seal: the seal was changed").prints("`benchmark_version` was `9");
    lab.write("run.plim.seal", &seal.replace("\"benchmark\"", "\"note\": \"audited\", \"benchmark\""));
    audit(&[]).expect(6).prints("seal: the seal has keys that are not signed");
    lab.write("run.plim.seal", "yes, it is ours");
    audit(&[]).expect(6).prints("seal: the seal is not JSON");

    fs::remove_file(lab.path("run.plim.seal")).unwrap();
    let json = audit(&["--json"]).expect(0).json();
    assert!(json["seal"].is_null());
    audit(&["--signed-by", &public]).expect(6).prints("seal: there is no `run.plim.seal`, expected one");
}

#[test]
fn a_key_is_its_owners_alone_and_never_overwritten() {
    let lab = Lab::new();
    let key = lab.path("config/plimsoll/seal.key");
    let public = lab.run(&["seal", "--new-key"]).expect(0).stdout;
    assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    let text = fs::read_to_string(&key).unwrap();
    let secret = text.lines().last().unwrap().strip_prefix("ed25519-secret:").unwrap();

    let ended = lab.run(&["seal", "--new-key"]).expect(2).says("a key is never overwritten");
    assert_eq!(fs::read_to_string(&key).unwrap(), text);
    let json = lab.run(&["seal", "--new-key", "--key", "other.key", "--json"]).expect(0);
    assert_ne!(json.json()["public_key"], public.trim());

    fs::set_permissions(&key, fs::Permissions::from_mode(0o640)).unwrap();
    let refused = lab.run(&["seal", "run.plim"]).expect(2).says("others than its owner").says("chmod 600");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&key, text.replace("secret:", "secret:zz")).unwrap();
    let broken =
        lab.run(&["seal", "run.plim"]).expect(2).says("expected a key that `plimsoll seal --new-key` made");
    for ended in [ended, json, refused, broken] {
        assert!(
            !format!("{public}{}{}", ended.stdout, ended.stderr).contains(secret),
            "the secret was shown"
        );
    }
}

#[test]
fn what_cannot_be_sealed_is_told() {
    let lab = Lab::new();
    lab.run(&["seal"]).expect(2).says("<RUN>");
    lab.run(&["seal", "run.plim"]).expect(2).says("cannot read the key").says("--new-key");
    sealed(&lab);
    lab.run(&["seal", "run.plim"]).expect(2).says("cannot write `run.plim.seal`").says("move it away");
    lab.run(&["seal", "none.plim"]).expect(2).says("none.plim");
    fs::remove_file(lab.path("run.plim.seal")).unwrap();
    let database = rusqlite::Connection::open(lab.path("run.plim")).unwrap();
    database.execute("UPDATE header SET command_line = 'plimsoll run'", []).unwrap();
    database.close().unwrap();
    lab.run(&["seal", "run.plim"]).expect(6).says("was changed after it was written: the header was changed");
    assert!(!lab.path("run.plim.seal").exists());
    lab.run(&["audit", "run.plim", "--signed-by", "nobody"]).expect(2).says("cannot read `nobody`");
    lab.run(&["audit", "run.plim", "--signed-by", "ed25519:00"]).expect(2).says("expected a public key");
    lab.run(&["audit", "report.toml", "--signed-by", "x"]).expect(2).says("a published report has no seal");
}
