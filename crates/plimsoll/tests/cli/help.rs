//! Help, completions, manual page.

use crate::support::Fixture;

/// All commands.
const COMMANDS: [&str; 20] = [
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
    "agent",
    "completions",
    "man",
];

#[test]
fn the_commands_are_listed() {
    insta::assert_snapshot!(Fixture::new().run(&["-h"]).expect(0).stdout, @r"
    Measure how much load a server can handle, what limits it, and whether the result can be trusted

    Usage: plimsoll [OPTIONS] <COMMAND>

    Commands:
      run          Load a URL (`http://localhost:8080/`) or run a benchmark, and write a report
      list         List the benchmarks
      show         Show a benchmark's load plan and workload
      doctor       Check that this machine is ready for a run
      inventory    List this machine's hardware and software settings, with the source of each
      runs         List recorded runs and how they ended
      suts         List servers and accelerators, and how to install missing ones
      report       Write the report of one run, or one report of several runs
      compare      Compare runs: how much they differ, and how certain that is
      export       Export a run's records in a format that other tools read
      audit        Recompute a run, or check a published report, and list the inconsistencies
      seal         Sign run files, so that others can verify who made them and that they are unchanged
      history      Show published results, or compare a run with them
      populate     Create a benchmark's file set on disk
      calibrate    Measure the capacity of the load generator on this machine
      serve        Run one of the built-in servers
      accelerate   Run a caching reverse proxy in front of a web server
      agent        Work as a load agent of a run on this or another machine
      completions  Print a shell completion script
      man          Print the manual page, or write those of all commands
      help         Print this message or the help of the given subcommand(s)

    Options:
          --json     Print results as JSON on standard output
      -h, --help     Print help (see more with '--help')
      -V, --version  Print version
    ");
}

#[test]
fn every_command_has_help() {
    let fixture = Fixture::new();
    for command in COMMANDS {
        let help = fixture.run(&[command, "--help"]).expect(0).stdout;
        let first = help.lines().next().unwrap();
        assert!(!first.is_empty() && !first.ends_with('.'), "{command}: {first}");
        assert!(help.contains(&format!("Usage: plimsoll {command}")), "{help}");
    }
    fixture.run(&["serve", "web", "--help"]).expect(0).expect_stdout("--fault");
    fixture.run(&["--version"]).expect(0).expect_stdout("plimsoll 0.");
}

/// Flags of the server once stood under the heading of those before them, "Requests to URLs".
#[test]
fn the_flags_of_run_stand_under_their_headings() {
    let help = Fixture::new().run(&["run", "--help"]).expect(0).stdout;
    let heading_of = |flag: &str| {
        let at = help.lines().position(|line| line.trim_start().starts_with(flag)).expect(flag);
        let headings = help.lines().take(at).filter(|line| line.ends_with(':') && !line.starts_with(' '));
        headings.last().unwrap().to_owned()
    };
    for (flag, heading) in [
        ("--rate ", "Options:"),
        ("--seed ", "Options:"),
        ("--ramp ", "Load over time:"),
        ("--until ", "Load over time:"),
        ("--urls ", "Requests to URLs:"),
        ("--target ", "Server and load generator:"),
        ("--load-cpus ", "Server and load generator:"),
        ("--agents ", "Server and load generator:"),
        ("--monitor ", "Monitoring:"),
        ("--otlp ", "Monitoring:"),
        ("--notes ", "Output:"),
        ("--dry-run", "Output:"),
    ] {
        assert_eq!(heading_of(flag), heading, "{flag}");
    }
}

#[test]
fn completions_and_the_manual_page_are_printed() {
    let fixture = Fixture::new();
    for shell in ["bash", "zsh", "fish"] {
        let run = fixture.run(&["completions", shell]).expect(0);
        run.expect_stdout("calibrate").expect_stdout("connection=keep-alive").expect_stdout("streams=");
    }
    let run = fixture.run(&["completions", "bash", "--program", "plimsoll-accelerator"]).expect(0);
    run.expect_stdout("_plimsoll__accelerator()").expect_stdout("--upgrade-socket");
    fixture.run(&["man"]).expect(0).expect_stdout(".TH plimsoll");
}

#[test]
fn every_command_has_a_manual_page_and_so_has_the_accelerator() {
    let fixture = Fixture::new();
    std::fs::create_dir(fixture.path("pages")).unwrap();
    let written = fixture.run(&["man", "--to", "pages"]).expect(0).stdout;
    let names: Vec<_> = written.lines().map(|path| path.strip_prefix("pages/").unwrap()).collect();
    assert_eq!(names.len(), COMMANDS.len() + 2, "{written}");
    let pages = COMMANDS.map(|command| format!("plimsoll-{command}"));
    for page in pages.iter().map(String::as_str).chain(["plimsoll", "plimsoll-accelerator"]) {
        assert!(names.contains(&format!("{page}.1").as_str()), "{page}: {written}");
        let text = std::fs::read_to_string(fixture.path("pages").join(format!("{page}.1"))).unwrap();
        assert!(text.contains(&format!(".TH {page} 1")), "{text}");
    }
    fixture.run(&["man", "--to", "missing"]).expect(2).expect_stderr("cannot write `missing/plimsoll-");
}

#[test]
fn a_command_line_without_a_command_shows_help() {
    Fixture::new().run(&[]).expect(2).expect_stderr("Usage: plimsoll");
}
