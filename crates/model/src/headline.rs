//! The headline figure, as a definition names it: a score with its words.

use languages::names;
use serde::{Deserialize, Serialize};

use crate::{Catalog, RateTime, Score, Words};

names! {
    /// The headline figure of a benchmark.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Headline {
        /// Connections per second, with the number of clients and the mean response time.
        ConnectionRate = "connection-rate",
        /// Operations per second, with the mean response time.
        OperationRate = "operation-rate",
        /// Requests per second, with the throughput.
        RequestRate = "request-rate",
        /// Transactions per second, with the number of users and the mean response time.
        TransactionRate = "transaction-rate",
        /// Megabits that operations transfer per second.
        Throughput = "throughput",
        /// The weighted harmonic mean of the rates of the kinds of operations, by their shares of the mix: with
        /// users only.
        HarmonicRate = "harmonic-rate",
        /// New orders per minute, those that are rolled back included, with the number of users and the mean response
        /// time: of order entry only.
        NewOrderRate = "new-order-rate",
        /// Operations per minute, each counted with the weight of its kind, with the number of users and the mean response
        /// time: of families whose kinds have weights only.
        WeightedRate = "weighted-rate",
    }
}

impl Headline {
    /// Returns why families do not have the headline unless they state such a score; `None` if every family has it.
    pub(crate) fn reason_to_lack(self) -> Option<&'static str> {
        match self {
            Headline::NewOrderRate => Some("only `order-entry` has new orders"),
            Headline::WeightedRate => Some("its operations have no weights"),
            Headline::ConnectionRate
            | Headline::OperationRate
            | Headline::RequestRate
            | Headline::TransactionRate
            | Headline::Throughput
            | Headline::HarmonicRate => None,
        }
    }

    /// Returns the catalog of a family with the score of the headline, and its words where they are not the family's.
    pub fn applied(self, catalog: Catalog) -> Catalog {
        let words = self.words(&catalog);
        let score = match self {
            Headline::ConnectionRate
            | Headline::OperationRate
            | Headline::RequestRate
            | Headline::TransactionRate => Score::Rate { kinds: Vec::new(), per: RateTime::Second },
            Headline::Throughput => Score::Throughput { measures: catalog.transferred.clone() },
            Headline::HarmonicRate => Score::Harmonic {
                weights: catalog.kinds.iter().map(|kind| kind.share.unwrap_or(0.0)).collect(),
            },
            // The score that the family states.
            Headline::NewOrderRate | Headline::WeightedRate => catalog.score.clone(),
        };
        // It is about the family's score.
        let sizing = catalog.sizing.filter(|_| self.reason_to_lack().is_some());
        Catalog { score, words, sizing, ..catalog }
    }

    fn words(self, catalog: &Catalog) -> Words {
        let family = &catalog.words;
        let of_operations = if catalog.score.is_operation_rate() {
            family.clone()
        } else {
            // The family's own are those of its score.
            let score = format!("{} per second", family.operation.many);
            Words { score, score_heading: family.rate_heading(), ..family.clone() }
        };
        let counted = |operation: &str, user: &str| Words {
            unit: family.unit.clone(),
            ..Words::of_rate(operation, user)
        };
        match self {
            Headline::ConnectionRate => Words {
                score_heading: "Conn/second".to_owned(),
                response_heading: "Latency".to_owned(),
                ..counted("connection", "client")
            },
            Headline::OperationRate => of_operations,
            Headline::NewOrderRate | Headline::WeightedRate => family.clone(),
            Headline::RequestRate => counted("request", "client"),
            Headline::TransactionRate => counted("transaction", "user"),
            Headline::Throughput => Words {
                score: "megabits per second".to_owned(),
                score_heading: "Mbit/second".to_owned(),
                ..family.clone()
            },
            Headline::HarmonicRate => Words {
                score: format!("weighted {}", of_operations.score),
                score_heading: format!("Weighted {}", of_operations.score_heading.to_lowercase()),
                ..of_operations
            },
        }
    }
}
