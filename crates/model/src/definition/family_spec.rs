//! The fixed answers of the families to definitions, settings and recipes. Each family states its own in its file.

use languages::reader::TomlTable;
use languages::spec::ValueSpec;

use super::{WorkloadDefinition, app, file, mail, order_entry, sql, web};
use crate::{ChosenSetting, Family, Headline, Setting};

/// The fixed answers of a family.
pub(super) struct FamilySpec {
    /// Whether Plimsoll starts servers of the family: by their recipes, and of most families a built-in one.
    pub(super) is_started: bool,
    /// Whether schemas describe the family: not one that only tests have.
    pub(super) is_described: bool,
    /// The headline that is the score of its catalogs, if that is one that few families have.
    pub(super) own_headline: Option<Headline>,
    /// The settings of its benchmarks, in the order in which they are listed.
    pub(super) settings: &'static [Setting],
    /// The values of `target`, a running server.
    pub(super) target: fn() -> ValueSpec<String>,
    /// Returns the settings that a workload has no use for, whatever a run sets: definitions do not name them.
    pub(super) no_use: fn(&WorkloadDefinition) -> Vec<&'static str>,
    /// Reads the workload of a definition; `None` if something is wrong with it, which is reported.
    pub(super) read: fn(WorkloadParts) -> Option<WorkloadDefinition>,
}

/// The parts of a definition that a workload is made of.
pub(super) struct WorkloadParts<'a> {
    /// The table `[workload]`.
    pub(super) workload: Option<TomlTable<'a>>,
    /// The settings of `[protocol]`; `None` if something is wrong with them.
    pub(super) protocol: Option<&'a [ChosenSetting]>,
    /// The running server, as it is written.
    pub(super) target: Option<&'a str>,
    /// The highest level of load that the definition names.
    pub(super) level_max: Option<f64>,
}

impl Family {
    /// Returns the fixed answers of the family.
    pub(super) fn spec(self) -> &'static FamilySpec {
        match self {
            Family::Web => &web::SPEC,
            Family::App => &app::SPEC,
            Family::File => &file::SPEC,
            Family::OrderEntry => &order_entry::SPEC,
            Family::Sql => &sql::SPEC,
            Family::Mail => &mail::SPEC,
            #[cfg(feature = "echo")]
            Family::Echo => &super::echo::SPEC,
        }
    }

    /// Returns whether Plimsoll starts servers of the family: by their recipes, and of most families a built-in one.
    pub fn is_started(self) -> bool {
        self.spec().is_started
    }

    /// Returns whether schemas describe the family: not one that only tests have.
    pub(super) fn is_described(&self) -> bool {
        self.spec().is_described
    }

    /// Returns why benchmarks of the family cannot be known by a headline; `None` if they can.
    pub(super) fn reason_to_lack(self, headline: Headline) -> Option<&'static str> {
        headline.reason_to_lack().filter(|_| self.spec().own_headline != Some(headline))
    }

    /// Returns the settings of its benchmarks, in the order in which they are listed.
    pub fn settings(self) -> &'static [Setting] {
        self.spec().settings
    }
}

impl Headline {
    /// Returns whether schemas describe the headline: not one that only a family of tests has.
    pub(super) fn is_described(&self) -> bool {
        Family::ALL
            .into_iter()
            .filter(Family::is_described)
            .any(|family| family.reason_to_lack(*self).is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_describe_every_family_but_that_of_tests() {
        let others = Family::ALL.into_iter().filter(|family| !family.is_described());
        assert!(others.map(Family::name).all(|name| name == "echo"));
    }

    #[test]
    fn servers_of_a_family_are_started_unless_their_data_are_the_users() {
        let started = Family::ALL.into_iter().filter(|family| family.is_started());
        assert_eq!(
            started.map(Family::name).collect::<Vec<_>>(),
            ["web", "application", "file", "order-entry", "mail"]
        );
    }
}
