//! The reasons of a verdict on a terminal: a line per rule, however many load points break it, then the remedies.

use analysis::Reason;
use disclosure::{ReasonGroup, reason_groups};

/// The most remedies that are printed; the report has all.
const HINTS_MAX: usize = 3;

/// Returns the lines, none wider than the terminal.
pub(crate) fn reason_lines(
    reasons: &[Reason],
    width: Option<usize>,
    hint: impl Fn(&Reason) -> Option<&'static str>,
) -> Vec<String> {
    let mut lines: Vec<String> = reason_groups(reasons).iter().map(|group| line(group, width)).collect();
    let mut hints: Vec<&str> = Vec::new();
    for hint in reasons.iter().filter_map(hint) {
        if !hints.contains(&hint) {
            hints.push(hint);
        }
    }
    lines.extend(hints.iter().take(HINTS_MAX).map(|hint| format!("  hint: {hint}")));
    if HINTS_MAX < hints.len() {
        lines.push("  more hints are in the report".to_owned());
    }
    lines
}

/// The least room for the short form of a finding that is cut rather than continued on a second line.
const ROOM_MIN: usize = 20;

/// Returns the line of a rule: with the sentence of the finding, or where that is too wide with its short form, cut at a word.
fn line(group: &ReasonGroup, width: Option<usize>) -> String {
    let place = group.place();
    let rule = group.first.rule();
    let place = if place.is_empty() { place } else { place + ": " };
    let full = format!("  {place}{} (rule `{rule}`)", disclosure::finding_text(&group.first.finding));
    let Some(width) = width.filter(|width| *width < full.chars().count()) else { return full };
    let brief = disclosure::finding_brief(&group.first.finding);
    let around = |text: &str| format!("  {place}{text} (`{rule}`)");
    match width.saturating_sub(around("").chars().count()) {
        room if room < ROOM_MIN => around(&brief),
        room => around(&cut(&brief, room)),
    }
}

/// Shortens a text to a number of letters by whole words.
fn cut(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    let mut shown = String::new();
    for word in text.split(' ') {
        let blank = usize::from(!shown.is_empty());
        if room < shown.chars().count() + blank + word.chars().count() + 1 {
            break;
        }
        if blank == 1 {
            shown.push(' ');
        }
        shown.push_str(word);
    }
    shown + "…"
}

#[cfg(test)]
mod tests {
    use analysis::Finding;
    use analysis::finding::ServerUse;
    use model::Outcome;
    use units::{Nanos, Ratio};

    use super::*;

    fn reason(load_point: Option<u32>, finding: Finding) -> Reason {
        Reason { load_point, stage: None, finding }
    }

    fn waited(ratio: f64) -> Finding {
        Finding::GeneratorRunQueue {
            agent: 0,
            waited: Ratio(ratio),
            limit: Ratio(0.3),
            others: None,
            server: Some(ServerUse::Unknown),
        }
    }

    fn own_hint(reason: &Reason) -> Option<&'static str> {
        disclosure::finding_hint(&reason.finding)
    }

    fn late() -> Finding {
        let p99 = Nanos::from_millis(9);
        let limit = Nanos::from_millis(5);
        Finding::GeneratorLateness { agent: 0, p99, limit, server: Some(ServerUse::Unknown) }
    }

    /// Seven rules at four load points each: seven lines, three hints, and the headline above them is within 24 lines.
    #[test]
    fn seven_reasons_at_four_load_points_are_seven_lines() {
        let findings = [
            waited(0.4),
            late(),
            Finding::GeneratorBusy {
                agent: 0,
                busy: Ratio(0.99),
                limit: Ratio(0.9),
                server: Some(ServerUse::Unknown),
            },
            Finding::Errors {
                n: 100,
                completed: 1000,
                ratio: Ratio(0.1),
                limit: Ratio(0.01),
                most_frequent: Some(Outcome::TimedOut),
            },
            Finding::Delivered { rate: 10.0, offered: 100.0, limit: Ratio(0.95) },
            Finding::TooFewOperations { n: 10, needed: 100 },
            Finding::Schedule { due: 90, scheduled: 100 },
        ];
        let at = |index: u32| findings.iter().map(move |finding| reason(Some(index), finding.clone()));
        let reasons: Vec<Reason> = (0..4).flat_map(at).collect();
        let lines = reason_lines(&reasons, Some(80), own_hint);
        let of_rules: Vec<&String> = lines.iter().filter(|line| line.starts_with("  load points ")).collect();
        assert_eq!(of_rules.len(), 7, "{lines:#?}");
        assert!(of_rules.iter().all(|line| line.chars().count() <= 80), "{lines:#?}");
        let first = "  load points 1 to 4, at 1: waiting for a CPU 40 % of… (`generator-run-queue`)";
        assert_eq!(of_rules[0], first, "{lines:#?}");
        // From 80 columns on, headline and bottleneck above and the files below fit into the rest of 24 lines.
        for (width, rows) in [(60, 22), (80, 14), (100, 14)] {
            let printed =
                crate::wrap::wrapped(&reason_lines(&reasons, Some(width), own_hint).join("\n"), Some(width));
            assert!(printed.lines().count() <= rows, "{width}:\n{printed}");
            assert!(printed.lines().all(|line| line.chars().count() <= width), "{width}:\n{printed}");
        }
    }

    #[test]
    fn a_rule_has_one_line_with_its_load_points_and_a_hint_is_printed_once() {
        let reasons = [
            reason(None, Finding::EndingMissing),
            reason(Some(0), waited(0.45)),
            reason(Some(2), waited(0.4)),
            reason(Some(2), late()),
        ];
        let lines = reason_lines(&reasons, None, own_hint);
        assert!(lines[0].starts_with("  the run file has no ending"), "{lines:#?}");
        let first = "  load points 1 and 3, at 1: load agent 0: its threads waited 45.0 % of the time for a CPU, limit";
        assert!(
            lines[1].starts_with(first) && lines[1].ends_with("(rule `generator-run-queue`)"),
            "{lines:#?}"
        );
        assert!(lines[2].starts_with("  load point 3: load agent 0: the 99th percentile"), "{lines:#?}");
        let hints: Vec<&String> = lines.iter().filter(|line| line.starts_with("  hint: ")).collect();
        assert_eq!(hints.len(), 2, "{lines:#?}");
    }

    #[test]
    fn texts_are_cut_at_words() {
        assert_eq!(
            [30, 12, 5].map(|room| cut("waiting for a CPU", room)),
            ["waiting for a CPU", "waiting for…", "…"]
        );
    }
}
