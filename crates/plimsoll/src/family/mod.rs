//! The protocol families on the command line: what is different for each of them there.
//!
//! A family is a file here, with its [`FamilyCommandLine`]. The function [`command_line()`] finds it; nothing else in
//! this program asks which family there is.

mod app;
mod calibrated;
mod command_line;
mod database;
#[cfg(feature = "echo")]
mod echo;
mod file;
mod mail;
mod order_entry;
mod sql;
mod web;

use model::Family;

pub(crate) use app::memory_limit_hint;
pub(crate) use calibrated::CalibratedWorkload;
pub(crate) use command_line::{FamilyCommandLine, StartedServers, ThinkTimeSettings};
pub(crate) use database::session_hint;
pub(crate) use file::{directory_hint, export_hint, share_hint};
pub(crate) use order_entry::data_hint;
pub(crate) use web::not_fetched_hint;

/// Returns the command line of a family.
pub(crate) fn command_line(family: Family) -> &'static FamilyCommandLine {
    match family {
        Family::Web => &web::COMMAND_LINE,
        Family::App => &app::COMMAND_LINE,
        Family::File => &file::COMMAND_LINE,
        Family::OrderEntry => &order_entry::COMMAND_LINE,
        Family::Sql => &sql::COMMAND_LINE,
        Family::Mail => &mail::COMMAND_LINE,
        #[cfg(feature = "echo")]
        Family::Echo => &echo::COMMAND_LINE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_tells_of_started_servers_if_its_servers_are_started() {
        for family in Family::ALL {
            assert_eq!(command_line(family).started.is_some(), family.is_started(), "{family}");
        }
    }

    #[test]
    fn no_two_families_have_a_scheme_in_common() {
        let mut schemes: Vec<&str> =
            Family::ALL.iter().flat_map(|family| command_line(*family).own_schemes).copied().collect();
        schemes.sort_unstable();
        assert_eq!(schemes, ["app", "file", "imap", "imaps", "nfs", "orders", "smb"]);
    }
}
