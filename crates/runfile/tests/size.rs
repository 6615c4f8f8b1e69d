//! The size of a full run.

use std::fs;

use model::{Phase, RunEnding};
use runfile::Writer;
use units::WallTime;

use crate::support::{Synthesis, header};

/// The budget of a full WebStone 2.0.1 run: 20 load points of 600 s.
const FULL_RUN_BYTES: f64 = 30e6;

/// Returns the file's size after `seconds` seconds at each of three load points.
fn size(seconds: u32, rate: u32) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plim");
    let mut writer = Writer::create(&path, &header(20)).unwrap();
    let mut synthesis = Synthesis::new(7, rate);
    for load_point in [0, 10, 19] {
        for index in 0..seconds {
            writer.interval(&synthesis.second(load_point, 0, index, Phase::Steady)).unwrap();
        }
    }
    writer.finish(WallTime(0), &RunEnding::Complete).unwrap();
    fs::metadata(&path).unwrap().len() as f64
}

/// Goal: 12,000 s take at most 30 MB. Method: the size of a second from the difference of a short and a longer
/// run, so that the fixed part (schema, header, partly used pages) counts once.
#[test]
fn a_full_webstone_run_fits_its_budget() {
    let short = size(10, 5_000);
    let long = size(30, 5_000);
    let full = short + (long - short) / 60.0 * (12_000.0 - 30.0);
    println!("full run {:.1} MB", full / 1e6);
    assert!(full <= FULL_RUN_BYTES, "{full} bytes");
}
