//! Files that open and files that do not, with their error messages.

use std::fs;
use std::path::Path;

use model::{AgentPlan, Catalog, Phase, RateTime, RunEnding, Score};
use runfile::{Run, RunFileError, VerifyFinding, Writer};
use rusqlite::Connection;

use crate::support::{Synthesis, finished_run, header, intervals};

fn refusal(path: &Path) -> String {
    let why = Run::open(path).unwrap_err();
    why.to_string().replace(&path.display().to_string(), "FILE")
}

fn refusal_of(bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.plim");
    fs::write(&path, bytes).unwrap();
    refusal(&path)
}

#[test]
fn other_kinds_of_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other.db");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    assert_eq!(
        refusal(&other),
        "`FILE` is not a run file: it is an SQLite database with application id 0x00000000, expected 0x506c696d"
    );
    assert_eq!(refusal_of(b""), "`FILE` is not a run file: it is empty");
    assert_eq!(refusal_of(&[b'x'; 5000]), "`FILE` is not a run file: it is not an SQLite database");
    assert_eq!(
        refusal_of(b"SQLite format 3\0"),
        "`FILE` is damaged: its header: it is no longer that of an SQLite database",
        "a run file that was cut off, or any other such file"
    );
    assert_eq!(refusal(folder.path()), "`FILE` is not a run file: it is a directory");
    let missing = refusal(&folder.path().join("none.plim"));
    assert_eq!(missing, "opening `FILE`: No such file or directory (os error 2)");
}

#[test]
fn a_header_that_was_overwritten_in_part_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plim");
    finished_run(&path, 1, 1);
    let mut bytes = fs::read(&path).unwrap();
    bytes[..8].fill(b'x');
    fs::write(&path, bytes).unwrap();
    let why = Run::open(&path).unwrap_err();
    assert!(why.is_damage() && why.to_string().contains("is damaged: its header: "), "{why}");
    fs::write(&path, "no run at all, and long enough for a header of a hundred bytes; ".repeat(3)).unwrap();
    assert!(!Run::open(&path).unwrap_err().is_damage());
}

#[test]
fn another_format_is_refused_with_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plim");
    finished_run(&path, 1, 1);
    for (format, hint) in [(6, "install the newest Plimsoll"), (4, "open it with the build that recorded it")]
    {
        Connection::open(&path).unwrap().pragma_update(None, "user_version", format).unwrap();
        let why = Run::open(&path).unwrap_err();
        assert!(matches!(why, RunFileError::OtherFormat { found, known: 5, .. } if found == format));
        assert_eq!(why.hint().as_deref(), Some(hint));
    }
}

/// Format 1 was never released: its plans are not converted.
#[test]
fn a_plan_of_another_format_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plim");
    finished_run(&path, 1, 1);
    let change = r#"UPDATE header SET plan_json = '{"format": 1, "workload": {"objects": []}}'"#;
    Connection::open(&path).unwrap().execute_batch(change).unwrap();
    assert_eq!(refusal(&path), "`FILE` has plan format 1, this build reads 4");
    assert!(Run::open(&path).unwrap_err().hint().is_some());
}

/// Only the first pages are left, as after the loss of a disk.
/// The catalog of a run file is foreign input; everything else relies on it.
#[test]
fn a_catalog_that_cannot_be_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plim");
    let mut header = header(1);
    header.plan.catalog.kinds[1].share = Some(2.0);
    Writer::create(&path, &header).unwrap();
    let why = Run::open(&path).unwrap_err();
    assert!(why.is_damage(), "{why}");
    assert_eq!(
        refusal(&path),
        "`FILE` is damaged: plan: the shares of the kinds in the catalog do not add up"
    );
}

/// So are its load agents.
#[test]
fn load_agents_that_cannot_be_are_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plim");
    for (threads, text) in [
        (vec![], "the plan has no load agent"),
        (vec![0], "load agent 0 of the plan has no load threads"),
        (vec![2, 1], "the shares of load agent 1 of the plan begin at 0 in place of 2"),
    ] {
        let mut header = header(1);
        header.plan.agents = threads.iter().map(|n| AgentPlan::only(*n)).collect();
        let _ = std::fs::remove_file(&path);
        drop(Writer::create(&path, &header).unwrap());
        assert_eq!(refusal(&path), format!("`FILE` is damaged: plan: {text}"));
    }
}

#[test]
fn a_score_or_a_word_that_cannot_be_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plim");
    let refused = |change: fn(&mut Catalog)| {
        let mut header = header(1);
        change(&mut header.plan.catalog);
        let _ = std::fs::remove_file(&path);
        Writer::create(&path, &header).unwrap();
        refusal(&path)
    };
    fn set_weights(catalog: &mut Catalog, weight: f64) {
        let weights = vec![weight; catalog.kinds.len()];
        catalog.score = Score::Weighted { weights, per: RateTime::Minute };
    }
    let changes: [fn(&mut Catalog); 3] = [
        |catalog| catalog.score = Score::Throughput { measures: vec![17] },
        |catalog| set_weights(catalog, 0.0),
        |catalog| set_weights(catalog, -1.0),
    ];
    for change in changes {
        assert_eq!(
            refused(change),
            "`FILE` is damaged: plan: the score in the catalog cannot be computed from what it counts"
        );
    }
    assert_eq!(
        refused(|catalog| catalog.words.user.many = "\u{1b}[2J".to_owned()),
        "`FILE` is damaged: plan: the catalog's word for `user` is not usable"
    );
}

#[test]
fn a_catalog_that_is_not_that_of_the_workload_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plim");
    let mut header = header(1);
    header.plan.catalog.kinds[1].share_gap_max = Some(0.5);
    drop(Writer::create(&path, &header).unwrap());
    assert_eq!(Run::open(&path).unwrap().verify(), [VerifyFinding::CatalogDiffers]);
}

#[test]
fn a_cut_file_is_damaged_and_not_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plim");
    finished_run(&path, 1, 3);
    let whole = fs::read(&path).unwrap();
    for n_bytes in [100, 1024, 5000, whole.len() / 2, whole.len() - 1024] {
        fs::write(&path, &whole[..n_bytes]).unwrap();
        let why = refusal(&path);
        assert!(why.starts_with("`FILE` is damaged: "), "{n_bytes} bytes: {why}");
    }
}

#[test]
fn a_run_opens_while_it_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plim");
    let mut writer = Writer::create(&path, &header(1)).unwrap();
    let mut synthesis = Synthesis::new(4, 5);
    for index in 0..12 {
        writer.interval(&synthesis.second(0, 0, index, Phase::Steady)).unwrap();
        let run = Run::open(&path).unwrap();
        assert_eq!((intervals(&run).len(), run.ending()), (index as usize + 1, &RunEnding::Missing));
    }
}

#[test]
fn a_run_opens_before_its_first_second_and_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plim");
    let writer = Writer::create(&path, &header(1)).unwrap();
    let copy = folder.path().join("copy.plim");
    fs::copy(&path, &copy).unwrap();
    drop(writer);
    for path in [&path, &copy] {
        let run = Run::open(path).unwrap();
        assert_eq!((run.header(), run.ending()), (&header(1), &RunEnding::Missing));
        assert_eq!((intervals(&run), run.verify()), (vec![], vec![]));
    }
}

#[test]
fn a_finished_run_opens_in_a_read_only_directory_and_leaves_nothing_there() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("read only");
    fs::create_dir(&inner).unwrap();
    let path = inner.join("run.plim");
    finished_run(&path, 1, 3);
    let mut permissions = fs::metadata(&inner).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&inner, permissions).unwrap();
    let run = Run::open(&path).unwrap();
    assert_eq!(intervals(&run).len(), 3);
    assert_eq!(fs::read_dir(&inner).unwrap().count(), 1);
}
