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
    }
}

impl Headline {
    /// Returns the catalog of a family with the score of the headline, and its words where they are not the family's.
    pub fn applied(self, catalog: Catalog) -> Catalog {
        let words = self.words(&catalog.words);
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
            Headline::NewOrderRate => catalog.score.clone(),
        };
        // It is about the family's score.
        let sizing = catalog.sizing.filter(|_| self == Headline::NewOrderRate);
        Catalog { score, words, sizing, ..catalog }
    }

    fn words(self, family: &Words) -> Words {
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
            Headline::OperationRate | Headline::NewOrderRate => family.clone(),
            Headline::RequestRate => counted("request", "client"),
            Headline::TransactionRate => counted("transaction", "user"),
            Headline::Throughput => Words {
                score: "megabits per second".to_owned(),
                score_heading: "Mbit/second".to_owned(),
                ..family.clone()
            },
            Headline::HarmonicRate => Words {
                score: format!("weighted {}", family.score),
                score_heading: format!("Weighted {}", family.score_heading.to_lowercase()),
                ..family.clone()
            },
        }
    }
}
