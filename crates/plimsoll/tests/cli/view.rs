//! The full-screen view, on a terminal that `script` creates.

use crate::support::{ExitedCommand, Fixture};

const ENTER: &str = "\x1b[?1049h";
const LEAVE: &str = "\x1b[?1049l";

/// Runs a load point on a terminal of 100×30 with the output of `keys` as input, and then prints the terminal's settings.
fn on_terminal(fixture: &Fixture, settings: &str, seconds: u32, keys: &str) -> ExitedCommand {
    let run = format!("$plimsoll run one-object --load 1 --duration {seconds} --out run.plim");
    let inside = format!("stty rows 30 cols 100; {settings} {run}; echo code $?; stty -a");
    fixture.shell(&format!("{{ {keys}; }} | script -qec '{inside}' /dev/null")).expect(0)
}

/// Splits the output into the parts before, during and after the full-screen view.
#[track_caller]
fn parts(ended: &ExitedCommand) -> [&str; 3] {
    let (before, rest) = ended.stdout.split_once(ENTER).expect("the alternate screen is entered");
    let (during, after) = rest.split_once(LEAVE).expect("the alternate screen is left");
    assert!(!after.contains(ENTER) && !after.contains(LEAVE), "once each");
    [before, during, after]
}

#[test]
fn the_view_takes_the_terminal_over_and_restores_it() {
    let fixture = Fixture::new();
    let ended = on_terminal(&fixture, "TERM=xterm", 2, "true");
    let [before, during, after] = parts(&ended);
    assert!(before.contains("load points   1 user"), "{before}");
    assert!(during.contains("Validity") && during.contains("Completed/s"), "{during}");
    assert!(!during.contains("Server: built-in"), "lines are buffered");
    assert!(after.contains("Server: built-in") && after.contains("1/1  1 user"), "{after}");
    assert!(after.contains("run.plim") && after.contains("\x1b[?25h"), "{after}");
    assert!(after.contains(" icanon") && after.contains(" echo "), "keys work as before: {after}");
}

#[test]
fn q_stops_the_run_and_keeps_its_records() {
    let fixture = Fixture::new();
    let keys = "until [ -e run.plim ]; do sleep 0.05; done; printf q";
    let ended = on_terminal(&fixture, "TERM=xterm", 60, keys);
    let [_, _, after] = parts(&ended);
    assert!(after.contains("Stopping; the records so far are kept."), "{after}");
    assert!(after.contains("code 130"), "{after}");
    fixture.run(&["runs", "."]).expect(0).expect_stdout("interrupted by the user");
}

#[test]
fn a_dumb_or_colorless_terminal_gets_plain_lines() {
    for settings in ["TERM=dumb", "TERM=xterm NO_COLOR=1"] {
        let fixture = Fixture::new();
        let ended = on_terminal(&fixture, settings, 1, "true");
        assert!(!ended.stdout.contains(ENTER), "{}", ended.stdout);
        assert!(ended.stdout.contains("Starting built-in."), "{}", ended.stdout);
    }
}
