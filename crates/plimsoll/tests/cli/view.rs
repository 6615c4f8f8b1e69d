//! The view that fills a terminal, on a terminal that `script` makes.

use crate::support::{Ended, Lab};

const ENTER: &str = "\x1b[?1049h";
const LEAVE: &str = "\x1b[?1049l";

/// Runs a load point on a terminal of 100×30, with what `keys` prints typed into it, and then asks how the terminal is.
fn on_terminal(lab: &Lab, settings: &str, seconds: u32, keys: &str) -> Ended {
    let run = format!("$plimsoll run one-object --load 1 --duration {seconds} --out run.plim");
    let inside = format!("stty rows 30 cols 100; {settings} {run}; echo code $?; stty -a");
    lab.shell(&format!("{{ {keys}; }} | script -qec '{inside}' /dev/null")).expect(0)
}

/// Splits what was printed into before, while and after the terminal was taken over.
#[track_caller]
fn parts(ended: &Ended) -> [&str; 3] {
    let (before, rest) = ended.stdout.split_once(ENTER).expect("it is taken over");
    let (during, after) = rest.split_once(LEAVE).expect("it is given back");
    assert!(!after.contains(ENTER) && !after.contains(LEAVE), "once each");
    [before, during, after]
}

#[test]
fn a_terminal_is_filled_and_given_back() {
    let lab = Lab::new();
    let ended = on_terminal(&lab, "TERM=xterm", 2, "true");
    let [before, during, after] = parts(&ended);
    assert!(before.contains("load points   1 user"), "{before}");
    assert!(during.contains("Validity") && during.contains("Completed/s"), "{during}");
    assert!(!during.contains("Server: built-in"), "what is told waits");
    assert!(after.contains("Server: built-in") && after.contains("1/1  1 user"), "{after}");
    assert!(after.contains("run.plim") && after.contains("\x1b[?25h"), "{after}");
    assert!(after.contains(" icanon") && after.contains(" echo "), "keys work as before: {after}");
}

#[test]
fn q_ends_the_run_and_keeps_it() {
    let lab = Lab::new();
    let keys = "until [ -e run.plim ]; do sleep 0.05; done; printf q";
    let ended = on_terminal(&lab, "TERM=xterm", 60, keys);
    let [_, _, after] = parts(&ended);
    assert!(after.contains("Stopping; what was recorded is kept."), "{after}");
    assert!(after.contains("code 130"), "{after}");
    lab.run(&["runs", "."]).expect(0).prints("interrupted by the user");
}

#[test]
fn a_terminal_that_cannot_be_filled_gets_lines() {
    for settings in ["TERM=dumb", "TERM=xterm NO_COLOR=1"] {
        let lab = Lab::new();
        let ended = on_terminal(&lab, settings, 1, "true");
        assert!(!ended.stdout.contains(ENTER), "{}", ended.stdout);
        assert!(ended.stdout.contains("Starting built-in."), "{}", ended.stdout);
    }
}
