//! Families: the kinds of servers that benchmarks load.

use languages::names;

names! {
    /// A kind of server.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Family without serde {
        /// Web servers.
        Web = "web",
        /// Application servers.
        App = "application",
        /// Databases of the order-entry workload.
        OrderEntry = "order-entry",
        /// Databases of a user's own statements.
        Sql = "sql",
        /// Echo servers, for tests.
        Echo = "echo" if feature = "echo",
    }
}

impl Family {
    /// Returns whether Plimsoll starts servers of the family: a built-in one, and others by their recipes.
    pub const fn is_started(self) -> bool {
        match self {
            Family::Web | Family::App | Family::OrderEntry => true,
            // A server that is started has none of the user's data.
            Family::Sql => false,
            #[cfg(feature = "echo")]
            Family::Echo => false,
        }
    }

    /// Returns whether schemas describe the family: not one that only tests have.
    pub(crate) const fn is_described(&self) -> bool {
        match self {
            Family::Web | Family::App | Family::OrderEntry | Family::Sql => true,
            #[cfg(feature = "echo")]
            Family::Echo => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use languages::Named;

    use super::*;

    #[test]
    fn the_family_of_tests_is_there_with_its_feature_only() {
        let has_echo = cfg!(feature = "echo");
        assert_eq!(Family::named("echo").is_some(), has_echo);
        assert_eq!(Family::ALL.len(), Family::NAMES.len());
        let for_tests = Family::ALL.into_iter().filter(|family| !family.is_described());
        assert_eq!(for_tests.map(Family::name).collect::<Vec<_>>(), ["echo"][usize::from(!has_echo)..]);
    }

    #[test]
    fn servers_of_a_family_are_started_unless_their_data_are_the_users() {
        let started = Family::ALL.into_iter().filter(|family| family.is_started());
        assert_eq!(started.map(Family::name).collect::<Vec<_>>(), ["web", "application", "order-entry"]);
    }
}
