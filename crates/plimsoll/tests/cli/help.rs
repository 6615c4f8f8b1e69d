//! Help, completions, manual page.

use crate::support::Lab;

#[test]
fn the_commands_are_listed() {
    insta::assert_snapshot!(Lab::new().run(&["-h"]).expect(0).stdout, @r"
    Find out how much load a server carries, what stops it, and whether the answer can be trusted

    Usage: plimsoll [OPTIONS] <COMMAND>

    Commands:
      list         List the benchmarks
      show         Show a benchmark: load plan, workload, rules
      doctor       Look whether this machine is fit for a run
      inventory    List what can be found out about this machine, with where it is read
      run          Run a benchmark and report on it
      runs         List runs and how they ended
      suts         List servers and accelerators by recipe, and what installs those that are missing
      report       Write the report of a run, or one of several
      compare      Compare runs: how much they differ, and how sure that is
      export       Write what a run recorded in a form that other tools read
      audit        Recompute a run, or check a published report, and list what does not follow
      seal         Sign run files, so that others can see whose they are and that they are unchanged
      history      Show published results, or a run beside them
      populate     Lay out a benchmark's file set
      calibrate    Measure what the load generator itself can do on this machine
      serve        Run one of the built-in servers
      accelerate   Stand before a web server and answer for it what it has answered before
      completions  Print a completion script for a shell
      man          Print the manual page
      help         Print this message or the help of the given subcommand(s)

    Options:
          --json     Print results as JSON on standard output
      -h, --help     Print help (see more with '--help')
      -V, --version  Print version
    ");
}

#[test]
fn every_command_has_help() {
    let lab = Lab::new();
    let commands = [
        "list",
        "show",
        "doctor",
        "inventory",
        "run",
        "runs",
        "suts",
        "report",
        "compare",
        "export",
        "audit",
        "seal",
        "history",
        "populate",
        "calibrate",
        "serve",
        "accelerate",
        "completions",
        "man",
    ];
    for command in commands {
        let help = lab.run(&[command, "--help"]).expect(0).stdout;
        let first = help.lines().next().unwrap();
        assert!(!first.is_empty() && !first.ends_with('.'), "{command}: {first}");
        assert!(help.contains(&format!("Usage: plimsoll {command}")), "{help}");
    }
    lab.run(&["serve", "web", "--help"]).expect(0).prints("--fault");
    lab.run(&["--version"]).expect(0).prints("plimsoll 0.");
}

#[test]
fn completions_and_the_manual_page_are_printed() {
    let lab = Lab::new();
    for shell in ["bash", "zsh", "fish"] {
        lab.run(&["completions", shell]).expect(0).prints("calibrate");
    }
    lab.run(&["man"]).expect(0).prints(".TH plimsoll");
}

#[test]
fn a_command_line_without_a_command_shows_help() {
    Lab::new().run(&[]).expect(2).says("Usage: plimsoll");
}
