//! Processes that are killed while they write.

use std::env;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use orderstore::{OrderStore, Synchronous};

use crate::fixture::{Fixture, User, violated};

/// The variable with the path of the data, in the process that is killed.
const PATH: &str = "ORDERSTORE_TEST_PATH";

/// Golden check 9.4: whoever is killed while writing leaves whole transactions only, none of which is lost.
#[test]
fn a_killed_writer_leaves_consistent_data() {
    if let Some(path) = env::var_os(PATH) {
        write_until_killed(Path::new(&path));
    }
    let fixture = Fixture::new(1);
    let before = fixture.open().totals().unwrap();
    let mut writer = Command::new(env::current_exe().unwrap());
    writer.args(["--exact", "crash::a_killed_writer_leaves_consistent_data", "--nocapture"]);
    let mut writer = writer.env(PATH, &fixture.path).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(writer.stdout.take().unwrap()).lines().map(Result::unwrap);
    let placed = |line: String| line.strip_prefix("placed ").map(|count| count.parse::<i64>().unwrap());
    let reported = lines.filter_map(placed).nth(150).unwrap();
    writer.kill().unwrap();
    writer.wait().unwrap();

    let store = fixture.open();
    assert_eq!(violated(&store), [11]);
    let placed = store.totals().unwrap().placed_since(&before);
    assert!(reported <= placed, "{reported} reported, {placed} placed");
}

/// Performs transactions for ever, and says after each how many orders have been placed.
fn write_until_killed(path: &Path) -> ! {
    let store = OrderStore::open(path, Synchronous::Full).unwrap();
    let mut session = store.session().unwrap();
    let mut user = User::new(0, store.population());
    let mut placed = 0;
    loop {
        placed += user.perform(&mut session, 1).placed;
        println!("placed {placed}");
    }
}
