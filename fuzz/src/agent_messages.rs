//! Messages of the link between the controller and a load agent, in both directions.

use fleet::untrusted::{message_of_agent, message_to_agent};

/// A message of an agent.
pub fn of_agent(bytes: &[u8]) {
    message_of_agent(bytes);
}

/// A message of the controller.
pub fn to_agent(bytes: &[u8]) {
    message_to_agent(bytes);
}
