//! The benchmark of the echo family: users send a message, wait for its return, and think.

use std::sync::Arc;

use model::echo::{EchoMessage, EchoWorkload};
use model::{Mix, Step, User, UserReply};
use units::{Rng, StreamPurpose, Weights};

use crate::Builtin;

/// Messages of two lengths.
pub(crate) const ECHO: Builtin = Builtin {
    id: "echo",
    definition_file: "echo.toml",
    definition: include_str!("definition.toml"),
    filelists: &[],
};

/// Number of different contents that messages of a kind have.
const CONTENTS: u64 = 1 << 20;

/// Users and scheduled messages of an echo workload.
#[derive(Debug, Clone)]
pub struct Messages {
    mix: Arc<MessageMix>,
    seed: u64,
}

/// The messages of a workload, prepared for random selection.
#[derive(Debug)]
struct MessageMix {
    weights: Weights,
    workload: EchoWorkload,
}

impl Messages {
    /// Creates them for a workload; the seed is that of the run.
    ///
    /// # Panics
    /// The workload breaks its invariants: it has no messages with weights.
    pub fn new(workload: &EchoWorkload, seed: u64) -> Messages {
        let weights = workload.messages.iter().map(|message| message.weight);
        let weights = Weights::new(weights).expect("a workload has messages with weights");
        let mix = Arc::new(MessageMix { weights, workload: workload.clone() });
        Messages { mix, seed }
    }
}

impl MessageMix {
    fn message(&self, rng: &mut Rng) -> EchoMessage {
        self.workload.message(rng.weighted(&self.weights) as u16, rng.below(CONTENTS))
    }
}

/// A virtual user that sends messages.
#[derive(Debug, Clone)]
pub struct EchoUser {
    mix: Arc<MessageMix>,
}

impl User for EchoUser {
    type Operation = EchoMessage;

    fn next(&mut self, last: Option<UserReply>, rng: &mut Rng) -> Step<EchoMessage> {
        // The answer is there once: a user that thought comes back without it.
        match last.and_then(|_| self.mix.workload.think.draw(rng)) {
            Some(time) => Step::think(time),
            None => Step::Perform(self.mix.message(rng)),
        }
    }
}

impl Mix for Messages {
    type Operation = EchoMessage;
    type User = EchoUser;

    fn user(&self, _: u32) -> EchoUser {
        EchoUser { mix: Arc::clone(&self.mix) }
    }

    fn scheduled(&self, k: u64) -> EchoMessage {
        self.mix.message(&mut Rng::new(self.seed, StreamPurpose::Schedule, k))
    }

    fn n_kinds(&self) -> usize {
        self.mix.workload.messages.len()
    }

    fn n_units(&self) -> usize {
        0
    }
}
