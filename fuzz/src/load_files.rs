//! Captured mixes of file operations.

use std::sync::Arc;

use files::{FileStep, LoadFile, ReplayClient};

/// A load file that was read is printed and read again as the same, and a client that replays it comes to its end.
pub fn load_file(bytes: &[u8]) {
    let load = match LoadFile::read(bytes) {
        Ok(load) => load,
        Err(error) => return assert!(!error.to_string().is_empty() && !error.problem.hint().is_empty()),
    };
    // Some few bytes can be two million lines.
    if 1000 < load.n_lines() {
        return;
    }
    let printed = load.to_string();
    let again = LoadFile::read(printed.as_bytes());
    assert_eq!(again.map(|again| again.to_string()), Ok(printed));
    let n_lines = load.n_lines();
    let mut client = ReplayClient::new(Arc::new(load), 1);
    let n_steps = (0..).take_while(|_| client.next(None) != FileStep::UnitEnd).count();
    assert!(n_steps <= n_lines);
}
