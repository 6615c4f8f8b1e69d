//! Noise: other load on the machine, which makes runs invalid, and the count of runs that were accepted nevertheless.

use std::env;
use std::fs::OpenOptions;
use std::io::Write;

/// The rule that other programs break.
pub const OTHER_PROGRAMS: &str = "other-programs";

/// Rules that a run may break on a busy machine: other programs had its CPUs, the generator had to wait, users started late,
/// or operations were too few or came in bursts. All others concern the run itself.
pub const RULES: [&str; 7] = [
    OTHER_PROGRAMS,
    "generator-busy",
    "generator-run-queue",
    "generator-lateness",
    "user-time",
    "operations",
    "phase-boundary",
];

/// Rules of which a broken one gives a run the bottleneck *generator*.
const OF_GENERATOR: [&str; 3] = ["generator-busy", "generator-run-queue", "generator-lateness"];

/// Rules that a run may break beside programs that have its CPUs: what was due could not be sent.
const BESIDE_OTHERS: [&str; 1] = ["delivered"];

/// The environment variable that names the file to which [`note_accepted`] appends.
pub const LOG_VARIABLE: &str = "PLIMSOLL_TEST_NOISE_LOG";

/// Returns whether the broken rules of a run concern only other load on the machine.
pub fn is_noise(rules: &[String]) -> bool {
    let has_others = rules.iter().any(|rule| rule == OTHER_PROGRAMS);
    let is_one = |rule: &str| RULES.contains(&rule) || (has_others && BESIDE_OTHERS.contains(&rule));
    !rules.is_empty() && rules.iter().all(|rule| is_one(rule))
}

/// Returns whether a run that was given a wrong bottleneck shows nothing because of other load on the machine: it broke only
/// rules of noise, or is called by its generator, which the noise held up. A server that is limited breaks rules of its own
/// beside them, as that on errors.
pub fn hides_bottleneck(named: &str, rules: &[String]) -> bool {
    let is_held_up = rules.iter().any(|rule| OF_GENERATOR.contains(&rule.as_str()));
    is_noise(rules) || (named == "generator" && is_held_up)
}

/// Notes for the test command that a test accepted a run that is invalid only because of noise.
pub fn note_accepted(rules: &[String]) {
    let Some(path) = env::var_os(LOG_VARIABLE) else { return };
    let thread = std::thread::current();
    let line = format!("{}: {}\n", thread.name().unwrap_or("a test"), rules.join(", "));
    // One write, so that lines of several processes do not mix.
    let noted = OpenOptions::new().append(true).create(true).open(&path);
    noted.and_then(|mut file| file.write_all(line.as_bytes())).expect("the file of accepted runs");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rules_of_a_busy_machine_are_noise() {
        let rules = |rules: &[&str]| rules.iter().map(|rule| (*rule).to_owned()).collect::<Vec<_>>();
        assert!(is_noise(&rules(&["generator-run-queue", "operations"])));
        assert!(!is_noise(&rules(&["generator-run-queue", "errors"])));
        assert!(is_noise(&rules(&["delivered", OTHER_PROGRAMS])) && !is_noise(&rules(&["delivered"])));
        assert!(!is_noise(&[]));
    }

    #[test]
    fn a_generator_that_noise_held_up_hides_the_bottleneck_of_a_server_that_fails_by_itself() {
        let late = ["generator-lateness".to_owned(), "errors".to_owned()];
        assert!(hides_bottleneck("generator", &late) && hides_bottleneck("processor", &late[..1]));
        assert!(!hides_bottleneck("processor", &late) && !hides_bottleneck("generator", &late[1..]));
        assert!(OF_GENERATOR.iter().all(|rule| RULES.contains(rule)));
    }
}
