//! The connections that a server has for a user, beside those of others.
//!
//! The last ones are not for a load: whoever wants to see what goes wrong in a database needs one, and so do the programs that
//! use it already.

use super::connection::TextRow;

/// The connections of a server that a load leaves to others, besides those that the server keeps for its administrators.
pub const KEPT_CONNECTIONS: u64 = 5;

/// The type of other users' sessions is null for users without the right to see it; their user is not. Limits of roles and
/// databases do not hold for superusers.
pub(crate) const OF_POSTGRESQL: &str = "WITH clients AS (SELECT usesysid, datid FROM pg_stat_activity \
    WHERE COALESCE(backend_type, 'client backend') = 'client backend' AND usesysid IS NOT NULL \
    AND pid <> pg_backend_pid()) \
    SELECT '`max_connections`', current_setting('max_connections')::int, (SELECT COUNT(*) FROM clients), \
    CASE WHEN current_setting('is_superuser') = 'on' THEN 0 \
    ELSE current_setting('superuser_reserved_connections')::int \
    + COALESCE(current_setting('reserved_connections', true), '0')::int END \
    UNION ALL SELECT 'role’s `CONNECTION LIMIT`', rolconnlimit, \
    (SELECT COUNT(*) FROM clients WHERE usesysid = pg_roles.oid), 0 \
    FROM pg_roles WHERE rolname = session_user AND 0 <= rolconnlimit AND NOT rolsuper \
    UNION ALL SELECT 'database’s `CONNECTION LIMIT`', datconnlimit, \
    (SELECT COUNT(*) FROM clients WHERE datid = pg_database.oid), 0 \
    FROM pg_database WHERE datname = current_database() AND 0 <= datconnlimit \
    AND current_setting('is_superuser') <> 'on'";

/// The second is of the account, where it has one, or else of all accounts.
pub(crate) const OF_MARIADB: &str = "SELECT '`max_connections`', @@max_connections, \
    CAST((SELECT VARIABLE_VALUE - 1 FROM information_schema.GLOBAL_STATUS \
    WHERE VARIABLE_NAME = 'THREADS_CONNECTED') AS SIGNED), 0 \
    UNION ALL SELECT '`max_user_connections`', @@SESSION.max_user_connections, \
    (SELECT COUNT(*) - 1 FROM information_schema.PROCESSLIST WHERE USER = SUBSTRING_INDEX(USER(), '@', 1)), 0 \
    FROM DUAL WHERE 0 < @@SESSION.max_user_connections";

/// The connections that a server has for a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseConnections {
    /// The limit that leaves the fewest: `` `max_connections` ``.
    pub limit: String,
    /// Its value.
    pub most: u64,
    /// Those of them that this user can have beside the others that are there, and those that are left to others.
    pub free: u64,
    /// Those that are left to others: none where the limit is that of a user or a database.
    pub kept: u64,
}

/// Returns the connections by the limit that leaves the fewest; `None` of rows that are not those of a query of limits. The
/// first of them is that of the server.
pub(crate) fn connections_of(rows: &[TextRow]) -> Option<DatabaseConnections> {
    let of_limit = |(index, row): (usize, &TextRow)| {
        let number = |column: usize| row.get(column)?.1.as_ref()?.parse::<u64>().ok();
        let [most, used, reserved] = [number(1)?, number(2)?, number(3)?];
        let limit = row.first().and_then(|(_, name)| name.clone())?;
        let kept = if index == 0 { KEPT_CONNECTIONS } else { 0 };
        let free = [used, reserved, kept].into_iter().fold(most, u64::saturating_sub);
        Some(DatabaseConnections { limit, most, free, kept })
    };
    let limits = rows.iter().enumerate().map(of_limit).collect::<Option<Vec<_>>>()?;
    limits.into_iter().min_by_key(|limit| limit.free)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(texts: [&str; 4]) -> TextRow {
        texts.iter().map(|text| (String::new(), Some((*text).to_owned()))).collect()
    }

    #[test]
    fn the_last_connections_of_a_server_are_left_to_others() {
        let of = |rows: &[TextRow]| connections_of(rows).map(|found| (found.limit, found.free, found.kept));
        let server = || row(["max", "20", "2", "3"]);
        assert_eq!(of(&[server()]), Some(("max".to_owned(), 10, 5)));
        assert_eq!(of(&[row(["max", "20", "14", "3"])]), Some(("max".to_owned(), 0, 5)));
        assert_eq!(of(&[server(), row(["role", "3", "1", "0"])]), Some(("role".to_owned(), 2, 0)));
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[row(["max", "twenty", "2", "3"])]), None);
    }
}
