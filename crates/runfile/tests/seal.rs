//! Seals of run files: the changes they detect.

use std::fs;
use std::path::{Path, PathBuf};

use model::{Phase, RunEnding};
use runfile::{Run, Seal, SealFinding, SealKey, Writer};
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;
use units::WallTime;

use crate::support::{Synthesis, finished_run, header};

const AT: WallTime = WallTime(1_800_000_000_000);

/// A finished run of a load point of 5 s and its seal.
fn sealed() -> (TempDir, PathBuf, Seal) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plim");
    finished_run(&path, 1, 5);
    let seal = Seal::new(&Run::open(&path).unwrap(), &key(), AT).unwrap();
    (folder, path, seal)
}

fn key() -> SealKey {
    SealKey::new([7; 32])
}

/// Returns the names of the statements that do not hold, or `forged`.
fn findings(seal: &Seal, path: &Path) -> Vec<&'static str> {
    let name = |finding: SealFinding| match finding {
        SealFinding::Forged(_) => "forged",
        SealFinding::Differs { name, .. } => name,
    };
    seal.check(&Run::open(path).unwrap()).unwrap().into_iter().map(name).collect()
}

#[test]
fn an_unchanged_file_matches_its_seal() {
    let (_folder, path, seal) = sealed();
    let before = fs::read(&path).unwrap();
    assert_eq!(findings(&seal, &path), [""; 0]);
    let stored = Seal::parse(&serde_json::to_string_pretty(&seal.json()).unwrap()).unwrap();
    assert_eq!(findings(&stored, &path), [""; 0]);
    assert_eq!((stored.at, stored.signer), (AT, key().public()));
    assert_eq!(stored.file.file_blake3, blake3::hash(&before));
    assert_eq!(fs::read(&path).unwrap(), before, "sealing changed the file");
}

/// The same run, file and time give the same seal.
#[test]
fn a_seal_is_a_function_of_file_key_and_time() {
    let (_folder, path, seal) = sealed();
    assert_eq!(Seal::new(&Run::open(&path).unwrap(), &key(), AT).unwrap(), seal);
}

/// No reader looks at the last byte of the file; the seal covers it nevertheless.
#[test]
fn every_byte_of_the_file_is_covered() {
    let (_folder, path, seal) = sealed();
    let whole = fs::read(&path).unwrap();
    let mut changed = whole.clone();
    *changed.last_mut().unwrap() ^= 1;
    fs::write(&path, &changed).unwrap();
    assert_eq!(findings(&seal, &path), ["file_blake3"]);
    fs::write(&path, [whole.as_slice(), b"\0"].concat()).unwrap();
    assert_eq!(findings(&seal, &path), ["file_bytes", "file_blake3"]);
}

/// `verify` accepts a file whose hashes were all computed again; a seal does not. Here the plan is another.
#[test]
fn a_file_with_recomputed_hashes_does_not_match_its_seal() {
    let (_folder, path, seal) = sealed();
    fs::remove_file(&path).unwrap();
    let mut other = header(1);
    other.plan.seed = 5;
    let mut writer = Writer::create(&path, &other).unwrap();
    writer.interval(&Synthesis::new(1, 3).second(0, 0, 0, Phase::Steady)).unwrap();
    writer.finish(WallTime(0), &RunEnding::Complete).unwrap();
    assert_eq!(Run::open(&path).unwrap().verify(), []);
    let found = findings(&seal, &path);
    assert!(
        ["file_blake3", "plan_blake3", "records_blake3"].iter().all(|name| found.contains(name)),
        "{found:?}"
    );
}

#[test]
fn every_statement_of_the_seal_is_signed() {
    let (_folder, path, seal) = sealed();
    let other = SealKey::new([8; 32]).public().to_string();
    let hash = blake3::hash(b"other").to_string();
    for (key, value) in [
        ("benchmark", json!("web96")),
        ("benchmark_version", json!(2)),
        ("file_bytes", json!(1)),
        ("file_blake3", json!(hash)),
        ("plan_blake3", json!(hash)),
        ("records_blake3", json!(hash)),
        ("sealed_unix_ms", json!(AT.0 + 1)),
        ("public_key", json!(other)),
        ("signature", json!("00".repeat(64))),
    ] {
        let mut changed: Value = seal.json();
        assert_ne!(changed[key], value, "{key}");
        changed[key] = value;
        let changed = Seal::parse(&changed.to_string()).unwrap();
        assert_eq!(findings(&changed, &path)[0], "forged", "{key}");
    }
    let n_keys = seal.json().as_object().unwrap().len();
    assert_eq!(n_keys, 10, "nine keys are changed above, the tenth is the format");
}

#[test]
fn a_run_without_an_end_is_not_sealed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plim");
    let mut writer = Writer::create(&path, &header(1)).unwrap();
    writer.interval(&Synthesis::new(1, 3).second(0, 0, 0, Phase::Steady)).unwrap();
    let error = Seal::new(&Run::open(&path).unwrap(), &key(), AT).unwrap_err();
    assert!(error.to_string().contains("has no ending"), "{error}");
}

#[test]
fn a_changed_run_is_not_sealed() {
    let (_folder, path, _) = sealed();
    Connection::open(&path).unwrap().execute("UPDATE header SET program = 'another'", []).unwrap();
    let error = Seal::new(&Run::open(&path).unwrap(), &key(), AT).unwrap_err();
    assert!(
        error.to_string().ends_with("was changed after it was written: the header was changed"),
        "{error}"
    );
}
