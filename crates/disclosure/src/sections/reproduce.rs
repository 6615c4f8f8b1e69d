//! Instructions to repeat the run.

use crate::{Block, Report, Section, Text};

pub(super) fn section(report: &Report) -> Option<Section> {
    let provenance = report.provenance;
    let mut blocks = vec![Block::Paragraph(
        "The same plan and seed give the same operations in the same order per user (closed loop) or per schedule (open loop), \
         on any number of load threads."
            .into(),
    )];
    if !provenance.command.is_empty() {
        let text = provenance.command.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ");
        blocks.push(Block::Code { caption: "Command line".into(), text });
    }
    blocks.push(Block::Facts(facts(report)));
    Some(Section { id: "reproduce", title: "How to reproduce".into(), blocks })
}

fn facts(report: &Report) -> Vec<(String, Text)> {
    let plan = report.plan;
    let provenance = report.provenance;
    let cpus: Vec<String> = plan.load_cpus().iter().map(u32::to_string).collect();
    let pinned =
        if cpus.is_empty() { "not pinned".to_owned() } else { format!("pinned to CPU {}", cpus.join(", ")) };
    let benchmark = &plan.benchmark;
    let benchmark =
        (!benchmark.is_urls()).then(|| format!("{}, version {}", benchmark.id, benchmark.version));
    let facts = [
        ("Program", Some(provenance.program.clone())),
        ("Benchmark", benchmark),
        ("Seed", Some(plan.seed.to_string())),
        ("Content seed", report.web().map(|web| web.content_seed.to_string())),
        ("Load threads", Some(format!("{}, {pinned}", plan.load_threads()))),
        ("Plan format", Some(plan.format.to_string())),
        ("Run file", provenance.run_file.clone()),
        ("Hash of the last record", provenance.chain_hash.clone()),
        ("Started", provenance.started.clone()),
        ("Ended", provenance.ended.clone()),
    ];
    facts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into()))).collect()
}

/// Quotes a word as a POSIX shell needs it.
fn shell_word(word: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(safe) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_a_shell_would_change_is_quoted() {
        assert_eq!(shell_word("--load=10..200/10"), "--load=10..200/10");
        assert_eq!(shell_word("http://a/?x=1&y=2"), "'http://a/?x=1&y=2'");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
        assert_eq!(shell_word(""), "''");
    }
}
