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
        /// File servers, and directories.
        File = "file",
        /// Databases of the order-entry workload.
        OrderEntry = "order-entry",
        /// Databases of a user's own statements.
        Sql = "sql",
        /// Mail servers.
        Mail = "mail",
        /// Echo servers, for tests.
        Echo = "echo" if feature = "echo",
    }
}
