//! The load file of Debian's package `dbench` 4.0-2.1: golden checks 1 to 13 of the specification.
//!
//! The file is not ours to distribute. Without the package, `DBENCH_LOADFILE` can name a copy.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::BufReader;
use std::sync::{Arc, LazyLock};

use files::{
    Expectation, FileAction, FileAnswer, FileKind, FileOperation, FilePath, FileStep, InfoLevel, LoadFile,
    LoadSummary, ReplayClient,
};

static LOAD_FILE: LazyLock<Arc<LoadFile>> = LazyLock::new(|| {
    let path = std::env::var("DBENCH_LOADFILE");
    let path = path.unwrap_or_else(|_| "/usr/share/dbench/client.txt".to_owned());
    let file =
        File::open(&path).unwrap_or_else(|error| panic!("{path}: {error}\nhint: apt-get install dbench"));
    Arc::new(LoadFile::read(BufReader::new(file)).unwrap())
});

/// The operations that make the folders and files, before the first pass.
const SET_UP: usize = 605;

fn operations() -> impl Iterator<Item = FileOperation> {
    (0..LOAD_FILE.n_lines()).map(|index| LOAD_FILE.operation(index, 1).unwrap())
}

fn text(path: FilePath) -> String {
    let FilePath::Captured(captured) = path else { panic!("{path}") };
    let mut text = String::new();
    LOAD_FILE.path(captured, &mut text);
    text
}

fn count(is_counted: impl Fn(&FileOperation) -> bool) -> usize {
    operations().filter(is_counted).count()
}

/// Golden checks 1, 2 and 5: 458,344 operations, each kind as often as measured, 59,743 of which must fail.
#[test]
fn operations_are_counted() {
    let LoadSummary { counts, n_expected_failures, .. } = LOAD_FILE.summary();
    assert_eq!((LOAD_FILE.n_lines(), LOAD_FILE.n_skipped()), (458_344, 0));
    assert_eq!(counts.iter().sum::<u64>(), 458_344);
    let expected = [
        (FileKind::Read, 124_199),
        (FileKind::OpenMissing, 21_030),
        (FileKind::PathHit, 47_429),
        (FileKind::PathMiss, 24_256 + 129),
        (FileKind::Close, 58_200),
        (FileKind::Write, 39_502),
        (FileKind::FindHit, 13_437),
        (FileKind::FindMiss, 14_328),
        (FileKind::Unlink, 16_000),
        (FileKind::VolumeQuery, 13_168),
        (FileKind::FileQuery, 12_585),
        (FileKind::Set, 6_454),
        (FileKind::Flush, 5_553),
        (FileKind::Rename, 3_355),
        (FileKind::Lock, 258),
        (FileKind::Unlock, 258),
        (FileKind::RemoveTree, 2),
        (FileKind::MakeFolder, 1),
        (FileKind::RemoveFolder, 0),
    ];
    for (kind, count) in expected {
        assert_eq!(counts[kind.index()], count, "{}", kind.name());
    }
    let opened = counts[FileKind::Open.index()] + counts[FileKind::Create.index()];
    assert_eq!((opened, n_expected_failures), (58_200, 59_743));
}

/// Golden checks 3, 4, 12 and 13: bytes, their ratio, the share of bulk rounds, bytes per operation.
#[test]
fn bytes_are_counted() {
    let LoadSummary { read_bytes, written_bytes, counts, .. } = LOAD_FILE.summary();
    assert_eq!((read_bytes, written_bytes), (1_472_088_767, 1_015_974_170));
    let ratio = |over: u64, under: u64| over as f64 / under as f64;
    assert_eq!((1000.0 * ratio(read_bytes, written_bytes)).round(), 1449.0);
    let operations = ratio(counts[FileKind::Read.index()], counts[FileKind::Write.index()]);
    assert_eq!((1000.0 * operations).round(), 3144.0);
    let total = read_bytes + written_bytes;
    assert_eq!((1000.0 * ratio(1_134_440_448 + 476_676_112, total)).round(), 648.0);
    let per_operation = ratio(total, LOAD_FILE.n_lines() as u64);
    assert_eq!((per_operation.round(), (10.0 * 1e6 / per_operation).round()), (5428.0, 1842.0));
}

/// Golden check 6: 7,424 writes of one byte, and as many questions for the size.
#[test]
fn files_grow_by_one_byte_and_a_question() {
    let is_byte = |operation: &FileOperation| operation.written_bytes() == 1;
    let is_question =
        |operation: &FileOperation| matches!(operation.action, FileAction::FileQuery(_, InfoLevel::STANDARD));
    assert_eq!((count(is_byte), count(is_question)), (7424, 7424));
}

/// Golden check 7: the folders and files that the first 605 operations make.
#[test]
fn the_set_up_makes_a_workspace() {
    let mut n_writes = 0;
    let mut bytes = 0;
    let mut folders = BTreeSet::new();
    let mut sizes = BTreeMap::new();
    let mut open = BTreeMap::new();
    for operation in operations().take(SET_UP) {
        match operation.action {
            FileAction::CreateFolder(_, path) => {
                folders.insert(text(path));
            }
            FileAction::Create(handle, path, _) => {
                open.insert(handle, path);
                sizes.entry(text(path)).or_insert(0);
            }
            FileAction::Write(handle, range) => {
                n_writes += 1;
                bytes += range.length;
                let size = sizes.entry(text(open[&handle])).or_insert(0);
                *size = range.end().max(*size);
            }
            _ => {}
        }
    }
    assert_eq!((n_writes, bytes), (391, 20_971_589));
    assert_eq!((sizes.len(), folders.len()), (56, 11));
    assert_eq!(sizes.values().sum::<u64>(), 20_971_520);
}

/// Golden check 8: the rest in 129 passes.
#[test]
fn a_pass_has_its_mean_numbers() {
    let rest: Vec<FileOperation> = operations().skip(SET_UP).collect();
    let per_pass = |total: u64| total as f64 / 129.0;
    let number = |is_counted: fn(&FileOperation) -> bool| {
        (10.0 * per_pass(rest.iter().filter(|one| is_counted(one)).count() as u64)).round()
    };
    assert_eq!((rest.len(), (10.0 * per_pass(rest.len() as u64)).round()), (457_739, 35_484.0));
    assert_eq!(per_pass(rest.iter().map(FileOperation::read_bytes).sum()).round(), 11_411_541.0);
    assert_eq!(per_pass(rest.iter().map(FileOperation::written_bytes).sum()).round(), 7_713_198.0);
    assert_eq!(number(|one| one.opens().is_some()), 4506.0);
    assert_eq!(number(|one| one.kind() == FileKind::OpenMissing), 1630.0);
    assert_eq!(number(|one| one.kind() == FileKind::Unlink), 1240.0);
    assert_eq!(number(|one| one.kind() == FileKind::Rename), 260.0);
}

/// Golden checks 9 and 10: what is opened is closed, each deletion and rename is asked about before, and at most 23
/// files are open.
#[test]
fn openings_questions_and_locks_are_paired() {
    let is_tag = |operation: &FileOperation| {
        matches!(operation.action, FileAction::PathQuery(_, InfoLevel::ATTRIBUTE_TAG))
    };
    assert_eq!(count(|operation| operation.opens().is_some()), 58_200);
    assert_eq!(count(is_tag), 16_000 + 3_355);
    let LoadSummary { open_max, file_bytes_max, has_pauses, .. } = LOAD_FILE.summary();
    assert_eq!((open_max, file_bytes_max, has_pauses), (23, 23_965_486, false));
}

/// Golden check 11: the commonest sizes.
#[test]
fn sizes_are_counted() {
    let read = |bytes| count(|operation| operation.read_bytes() == bytes);
    let written = |bytes| count(|operation| operation.written_bytes() == bytes);
    assert_eq!((read(4096), read(61_440)), (83_172, 16_641));
    assert_eq!((written(65_536), written(4096)), (12_658, 9_942));
    let distinct = |bytes: fn(&FileOperation) -> u64| {
        operations().map(|one| bytes(&one)).filter(|bytes| 0 < *bytes).collect::<BTreeSet<u64>>().len()
    };
    assert_eq!((distinct(FileOperation::read_bytes), distinct(FileOperation::written_bytes)), (67, 59));
}

/// A replay performs every line in every loop, for its client.
#[test]
fn a_replay_performs_every_line() {
    let mut client = ReplayClient::new(Arc::clone(&LOAD_FILE), 7);
    for _ in 0..2 {
        let mut n_operations = 0;
        let mut bytes = 0;
        let mut answer = None;
        loop {
            match client.next(answer.take()) {
                FileStep::Perform(operation) => {
                    n_operations += 1;
                    bytes += operation.read_bytes() + operation.written_bytes();
                    if let FileAction::Unlink(path) = operation.action {
                        let text = text(path);
                        assert!(text.starts_with("clients/client7/"), "{text}");
                    }
                    answer = Some(FileAnswer::Done);
                }
                FileStep::UnitEnd => break,
                step => panic!("{step:?}"),
            }
        }
        assert_eq!((n_operations, bytes), (458_344, 2_488_062_937_u64));
    }
}

/// The printed form is read again as the same.
#[test]
fn the_file_is_the_same_when_it_is_printed_and_read() {
    let printed = LOAD_FILE.to_string();
    let read = LoadFile::read(printed.as_bytes()).unwrap();
    assert!(read == **LOAD_FILE);
    assert_eq!(count(|operation| operation.expected == Expectation::Any), 0);
}
