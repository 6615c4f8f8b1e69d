//! `accelerate`: the caching reverse proxy, as the program `plimsoll-accelerator` runs it.

use plimsoll_accelerator::{AccelerateArguments, AcceleratorExit, AcceleratorFailure};

use crate::exit::{Exit, Failure};

/// Runs the accelerator until a signal stops it.
pub(super) fn perform(arguments: &AccelerateArguments, json: bool) -> Result<Exit, Failure> {
    Ok(plimsoll_accelerator::perform(arguments, json)?.into())
}

impl From<AcceleratorExit> for Exit {
    fn from(exit: AcceleratorExit) -> Exit {
        match exit {
            AcceleratorExit::Stopped => Exit::Valid,
            AcceleratorExit::Internal => Exit::Internal,
            AcceleratorExit::Usage => Exit::Usage,
            AcceleratorExit::Machine => Exit::Testbed,
            AcceleratorExit::Interrupted => Exit::Interrupted,
        }
    }
}

impl From<AcceleratorFailure> for Failure {
    fn from(failure: AcceleratorFailure) -> Failure {
        Failure::new(failure.exit.into(), failure.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_codes_of_both_programs_are_the_same() {
        for exit in [
            AcceleratorExit::Stopped,
            AcceleratorExit::Internal,
            AcceleratorExit::Usage,
            AcceleratorExit::Machine,
            AcceleratorExit::Interrupted,
        ] {
            assert_eq!(Exit::from(exit) as u8, exit as u8);
        }
    }
}
