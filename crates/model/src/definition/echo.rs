//! The table `[workload]` of an echo benchmark.

use std::collections::BTreeSet;

use languages::reader::{TomlTable, ValueError};
use languages::spec::{line, time, whole, whole_u32};

use super::WorkloadDefinition;
use super::family_spec::FamilySpec;
use super::think::read_think;
use super::values::server_url;
use crate::setting::echo::SETTINGS;
use crate::workload::echo::{EchoMessageKind, EchoNotice, EchoWorkload};
use crate::{Headline, Workload};

/// The answers of echo servers, which only tests have.
pub(super) static SPEC: FamilySpec = FamilySpec {
    is_started: false,
    is_described: false,
    own_headline: Some(Headline::WeightedRate),
    settings: SETTINGS,
    target: server_url,
    no_use: |_| Vec::new(),
    read: |parts| read(parts.workload).map(Workload::Echo).map(WorkloadDefinition::Complete),
};

/// The longest message, in bytes.
const MESSAGE_MAX: u32 = 1 << 20;

/// The most messages for which one stands in a weighted score.
const COUNTS_AS_MAX: u32 = 1000;

/// Reads `[workload]`.
fn read(workload: Option<TomlTable>) -> Option<EchoWorkload> {
    let mut table = workload?;
    let tables = table.required_tables("messages", "The kinds of messages.");
    let think = read_think(&mut table, "The pause of users after each message; if absent: `none`.");
    table.finish();
    let mut messages = Vec::new();
    let mut names = BTreeSet::new();
    for table in tables? {
        let message = read_message(table, &mut names);
        messages.push(message);
    }
    Some(EchoWorkload { messages: messages.into_iter().collect::<Option<_>>()?, think })
}

fn read_message(mut table: TomlTable, names: &mut BTreeSet<String>) -> Option<EchoMessageKind> {
    let name = table.required("name", "The name in reports.", line());
    let bytes = table.required("bytes", "The length in bytes.", whole_u32(0..=MESSAGE_MAX));
    let about = "Its share of all messages is this divided by the sum of all weights.";
    let weight = table.required("weight", about, whole(1..=u64::from(u32::MAX)));
    let about = "The number of messages for which it stands in a weighted score; if absent: 1.";
    let counts_as = table.optional("counts-as", about, whole_u32(1..=COUNTS_AS_MAX)).unwrap_or(1);
    let about =
        "The time from the message to the notice that the server sends of it; if absent: it sends none.";
    let notice = table.optional("notice", about, time()).map(|after| EchoNotice { after });
    if let Some(name) = name.as_ref().filter(|name| !names.insert((*name).clone())) {
        table.reject("name", ValueError::new(format!("another message is called `{name}`")));
    }
    table.finish();
    Some(EchoMessageKind { name: name?, bytes: bytes?, weight: weight?, counts_as, notice })
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::*;
    use crate::definition::parse::problem_of;
    use crate::{Definition, RateTime, Score};

    const DEFINITION: &str = r#"
format = 1
id = "echo"
version = 1
title = "Echo"
summary = "For tests."
family = "echo"
headline = "operation-rate"

[workload]
messages = [{ name = "short", bytes = 64, weight = 9 }]

[protocol]

[load]
users = "2"

[phases]
steady = "30 s"
"#;

    #[test]
    fn a_message_may_ask_for_a_notice() {
        let text = DEFINITION.replace("weight = 9", "weight = 9, notice = \"20 ms\"");
        let definition = Definition::parse("my.toml", &text).unwrap();
        let WorkloadDefinition::Complete(workload) = &definition.workload else { panic!("no files") };
        let Workload::Echo(echo) = workload else { panic!("of echo servers") };
        assert_eq!(echo.messages[0].notice, Some(EchoNotice { after: Nanos::from_millis(20) }));
        let catalog = workload.catalog();
        assert_eq!((catalog.check(), catalog.notices.len()), (Ok(()), 1));
        let stored = serde_json::to_value(workload).unwrap();
        assert_eq!(serde_json::from_value::<Workload>(stored).unwrap(), *workload);
    }

    /// Weights 3 and, where nothing is said, 1.
    #[test]
    fn messages_have_weights_in_a_weighted_score() {
        let messages = r#"messages = [{ name = "short", bytes = 64, weight = 9 }]"#;
        let weighted = r#"messages = [
            { name = "short", bytes = 64, weight = 9 },
            { name = "long", bytes = 640, weight = 1, counts-as = 3 },
        ]"#;
        let text = DEFINITION.replace(messages, weighted).replace("operation-rate", "weighted-rate");
        let definition = Definition::parse("my.toml", &text).unwrap();
        let WorkloadDefinition::Complete(workload) = &definition.workload else { panic!("no files") };
        let catalog = definition.headline.applied(workload.catalog());
        let score = Score::Weighted { weights: vec![1.0, 3.0], per: RateTime::Minute };
        assert_eq!((&catalog.score, catalog.check()), (&score, Ok(())));
        assert_eq!(catalog.words.score, "weighted messages per minute");
        // Of all messages, whatever they count as.
        let all = Headline::OperationRate.applied(workload.catalog());
        assert!(all.score.is_operation_rate());
        let words = [all.words.score.as_str(), all.words.score_heading.as_str()];
        assert_eq!(words, ["messages per second", "Messages/second"]);
        let found = [
            problem_of(&text, "counts-as = 3", "counts-as = 0"),
            problem_of(&text, "weighted-rate", "new-order-rate"),
        ];
        insta::assert_snapshot!(found.join("\n"), @r#"
        line 13, `0`: `workload.messages.counts-as` is not valid: expected a whole number from 1 to 1000, found 0
        line 8, `"new-order-rate"`: `headline` is not valid: expected a headline of the family: only `order-entry` has new orders
        "#);
    }

    /// The reported case: without a message a load thread had nothing to choose from.
    #[test]
    fn there_is_at_least_one_message() {
        let whole = r#"messages = [{ name = "short", bytes = 64, weight = 9 }]"#;
        let found = ["messages = []", ""].map(|slip| problem_of(DEFINITION, whole, slip));
        insta::assert_snapshot!(found.join("\n"), @"
        line 11, `[]`: `workload.messages` is not valid: expected at least one table, found none
        line 10, `workload`: `workload.messages` is missing: `messages` must be given here
        ");
    }
}
