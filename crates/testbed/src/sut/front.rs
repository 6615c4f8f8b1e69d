//! The accelerator in front of a server.

use std::net::SocketAddr;

use super::choice::Choice;
use super::member::Member;
use super::values::Values;
use crate::recipe::{Recipe, Transport};

/// An accelerator in front of a server: it takes the requests, and asks the server for what it has no copy of. It is
/// within the server's limits, and goes on running when the server is started again.
#[derive(Debug)]
pub struct Front {
    pub recipe: Recipe,
    pub choice: Choice,
    pub values: Values,
    pub member: Member,
    /// How many files it was asked for before load began.
    pub n_warmed: u64,
}

impl Front {
    /// Makes one that is yet to be started.
    pub fn new(recipe: Recipe, choice: Choice, values: Values, mut member: Member) -> Front {
        // Its address is known before; what it says goes into its log.
        member.launch.announces = false;
        Front { recipe, choice, values, member, n_warmed: 0 }
    }

    /// Returns where it answers.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from((self.values.address, self.values.port))
    }

    /// Returns how requests travel to it.
    pub fn transport(&self) -> Transport {
        self.choice.transport
    }
}
