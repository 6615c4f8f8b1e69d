//! Files that are said to be run files.

use std::path::PathBuf;
use std::sync::LazyLock;

use runfile::{Header, Run, Writer, summary};
use units::WallTime;

static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("plimsoll-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
});

/// A right run file that was not closed.
static RIGHT: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let path = FOLDER.join("right.plim");
    let phases = testkit::phases(0, 1);
    let header = Header {
        program: "fuzz".to_owned(),
        created: WallTime(0),
        command_line: String::new(),
        plan: testkit::closed_plan(1, &[1], phases),
        testbed: Default::default(),
    };
    drop(Writer::create(&path, &header).expect("a run file"));
    std::fs::read(&path).expect("a run file")
});

/// Opens bytes as they are, and a right run file that they overwrite from a place on.
pub fn open(bytes: &[u8]) {
    read(bytes);
    let Some((place, patch)) = bytes.split_first_chunk::<3>() else { return };
    let mut file = RIGHT.clone();
    let at = u32::from_be_bytes([0, place[0], place[1], place[2]]) as usize % file.len();
    let end = (at + patch.len()).min(file.len());
    file[at..end].copy_from_slice(&patch[..end - at]);
    read(&file);
}

fn read(bytes: &[u8]) {
    let path = FOLDER.join("tried.plim");
    std::fs::write(&path, bytes).expect("room on the disk");
    let _ = summary(&path);
    let Ok(run) = Run::open(&path) else { return };
    let _ = run.records(|_| {});
    let _ = (run.examples(), run.events(), run.results(), run.load_points(), run.verify());
}
