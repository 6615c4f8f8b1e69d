//! Connections to databases: prepared statements with parameters, one at a time, and the round trips that they take.

use units::WallTime;

use super::failure::{NO_SUCH_COLUMN, SqlFailure, WRONG_ROWS};
use super::transaction::LastReply;

/// A parameter of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SqlValue<'a> {
    /// A number, of any size that the column has.
    Integer(i64),
    /// A text.
    Text(&'a str),
    /// A point in time.
    Time(WallTime),
    /// Several numbers.
    Integers(&'a [i64]),
    /// Several texts.
    Texts(&'a [&'a str]),
    /// No value.
    Null,
}

impl From<i64> for SqlValue<'_> {
    fn from(number: i64) -> Self {
        SqlValue::Integer(number)
    }
}

impl From<u32> for SqlValue<'_> {
    fn from(number: u32) -> Self {
        SqlValue::Integer(number.into())
    }
}

impl<'a> From<&'a str> for SqlValue<'a> {
    fn from(text: &'a str) -> Self {
        SqlValue::Text(text)
    }
}

impl From<WallTime> for SqlValue<'_> {
    fn from(time: WallTime) -> Self {
        SqlValue::Time(time)
    }
}

impl<'a> From<&'a [i64]> for SqlValue<'a> {
    fn from(numbers: &'a [i64]) -> Self {
        SqlValue::Integers(numbers)
    }
}

impl<'a> From<&'a Vec<i64>> for SqlValue<'a> {
    fn from(numbers: &'a Vec<i64>) -> Self {
        SqlValue::Integers(numbers)
    }
}

impl<'a> From<&'a Vec<&'a str>> for SqlValue<'a> {
    fn from(texts: &'a Vec<&'a str>) -> Self {
        SqlValue::Texts(texts)
    }
}

impl<'a, T: Into<SqlValue<'a>>> From<Option<T>> for SqlValue<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(SqlValue::Null, T::into)
    }
}

/// Makes the parameters of a statement.
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        &[$(crate::database::connection::SqlValue::from($value)),*]
    };
}
pub(crate) use values;

/// The most rows of a result that are kept. No statement of ours has as many.
pub(crate) const ROWS_MAX: usize = 100_000;

/// The most bytes of a message of the server, or of the rows of a result that are kept. No statement of ours has as many, and
/// rows that are only counted are not kept.
pub(crate) const MESSAGE_BYTES_MAX: usize = 64 << 20;

/// Returns the indexes of columns by their names.
///
/// # Errors
/// A name is that of no column.
pub(crate) fn column_indexes(names: &[&str], looked_at: &[&str]) -> Result<Box<[usize]>, SqlFailure> {
    let index = |wanted: &&str| names.iter().position(|name| name == wanted);
    let indexes = looked_at.iter().map(index).collect::<Option<_>>();
    indexes.ok_or(SqlFailure::WrongResult(NO_SUCH_COLUMN))
}

/// The columns of a row of a query without parameters: name and value as a text.
pub(crate) type TextRow = Vec<(String, Option<String>)>;

/// A row of a result. A column that is missing, or of another type, is a wrong result.
pub(crate) trait SqlRow {
    /// Returns a number of any size.
    ///
    /// # Errors
    /// The column has none.
    fn integer(&self, index: usize) -> Result<Option<i64>, SqlFailure>;

    /// Returns a text.
    ///
    /// # Errors
    /// The column has none.
    fn text(&self, index: usize) -> Result<Option<&str>, SqlFailure>;

    /// Returns a point in time.
    ///
    /// # Errors
    /// The column has none.
    fn time(&self, index: usize) -> Result<Option<WallTime>, SqlFailure>;
}

/// A connection on which one request is made at a time. Texts of statements name their parameters `$1`, `$2`, …
pub(crate) trait SqlConnection {
    /// A prepared statement.
    type Statement;

    /// A row of a result.
    type Row: SqlRow;

    /// Prepares a statement.
    ///
    /// # Errors
    /// The server refuses it, or the connection is lost.
    async fn prepare(&mut self, sql: &str) -> Result<Self::Statement, SqlFailure>;

    /// Returns how the text of a statement names its n-th parameter, from 1, as the server reads it.
    fn parameter_name(n: usize) -> String;

    /// The statement after which the server refuses to change anything in this session.
    const READ_ONLY: &'static str;

    /// A query with a row for each limit on connections that holds for this user, that of the server first: its name in a
    /// sentence after "its", its value, the connections of others that it counts, and those that this user cannot have.
    const CONNECTIONS: &'static str;

    /// Returns what the last reply says of the transaction, of a server that refused nothing.
    fn last_reply(&mut self) -> &mut LastReply;

    /// Returns whether a transaction may still be open when a statement of it, its commit, or a procedure that begins and ends
    /// it has failed.
    fn may_be_open(&self) -> bool;

    /// Prepares a statement as it is written, in the server's own words, with so many parameters; the values of the columns
    /// with these names are looked at when it is executed.
    ///
    /// # Errors
    /// The server refuses it or finds other parameters in it, its rows do not have the columns, or the connection is lost.
    async fn prepare_as_written(
        &mut self,
        sql: &str,
        n_parameters: usize,
        looked_at: &[&str],
    ) -> Result<Self::Statement, SqlFailure>;

    /// Executes a statement; returns the number of rows that it has returned, or changed if it returns none. Rows are checked
    /// for their number of columns and the lengths of their values, and not kept.
    ///
    /// # Errors
    /// The server refuses it, or the connection is lost.
    async fn n_rows(
        &mut self,
        statement: &Self::Statement,
        parameters: &[SqlValue<'_>],
    ) -> Result<u64, SqlFailure>;

    /// Executes a statement as [`SqlConnection::n_rows`] does, and has the values of the columns that are looked at taken as
    /// texts, row by row: `take` gets the index of each among them, with its value.
    ///
    /// # Errors
    /// The server refuses it, or the connection is lost.
    async fn texts_of(
        &mut self,
        statement: &Self::Statement,
        parameters: &[SqlValue<'_>],
        take: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<u64, SqlFailure>;

    /// Returns the rows of a statement.
    ///
    /// # Errors
    /// The server refuses it, or the connection is lost.
    async fn rows(
        &mut self,
        statement: &Self::Statement,
        parameters: &[SqlValue<'_>],
    ) -> Result<Vec<Self::Row>, SqlFailure>;

    /// Executes a statement; returns the number of rows that it has changed.
    ///
    /// # Errors
    /// The server refuses it, or the connection is lost.
    async fn execute(
        &mut self,
        statement: &Self::Statement,
        parameters: &[SqlValue<'_>],
    ) -> Result<u64, SqlFailure>;

    /// Executes statements without parameters.
    ///
    /// # Errors
    /// The server refuses them, or the connection is lost.
    async fn command(&mut self, sql: &str) -> Result<(), SqlFailure>;

    /// Returns the rows of a query without parameters.
    ///
    /// # Errors
    /// The server refuses it, or the connection is lost.
    async fn texts(&mut self, sql: &str) -> Result<Vec<TextRow>, SqlFailure>;

    /// Returns the number of requests so far that were answered, or are waited for.
    fn n_round_trips(&self) -> u64;

    /// Returns the bytes sent and received so far.
    fn bytes(&self) -> (u64, u64);

    /// Begins a transaction by this statement.
    ///
    /// # Errors
    /// The server refuses it or does not say that one is open, or the connection is lost.
    async fn begin(&mut self, sql: &str) -> Result<(), SqlFailure> {
        self.command(sql).await?;
        self.last_reply().begun()
    }

    /// Commits the open transaction.
    ///
    /// # Errors
    /// A reply since its begin says that it is not open, the server refuses or does not say that it is committed, or the connection is
    /// lost.
    async fn commit(&mut self) -> Result<(), SqlFailure> {
        self.last_reply().within()?;
        self.command("COMMIT").await?;
        self.last_reply().committed()
    }

    /// Undoes the open transaction.
    ///
    /// # Errors
    /// The connection is lost, the server refuses even that, or does not say that none is open: what is open then is not known,
    /// and the session ends.
    async fn roll_back(&mut self) -> Result<(), SqlFailure> {
        self.command("ROLLBACK").await.map_err(SqlFailure::ending_session)?;
        self.last_reply().alone()
    }

    /// Returns the result of a transaction's own end. Of one that has failed, what may be left of it is undone.
    async fn closed<T>(&mut self, result: Result<T, SqlFailure>) -> Result<T, SqlFailure> {
        match result {
            Err(failure) if self.may_be_open() => Err(self.undone(failure).await),
            result => result,
        }
    }

    /// Undoes the open transaction after this failure, and returns it. It ends the session if the transaction cannot be
    /// undone: the next one would commit what is left of it.
    async fn undone(&mut self, failure: SqlFailure) -> SqlFailure {
        if failure.ends_session() {
            return failure;
        }
        match (self.roll_back().await, failure) {
            (Ok(()), failure) => failure,
            (Err(_), failure @ SqlFailure::Refused(_)) => failure.ending_session(),
            (Err(failure), _) => failure,
        }
    }

    /// Returns the row of a statement that has one at most.
    ///
    /// # Errors
    /// There are several, the server refuses it, or the connection is lost.
    async fn optional(
        &mut self,
        statement: &Self::Statement,
        parameters: &[SqlValue<'_>],
    ) -> Result<Option<Self::Row>, SqlFailure> {
        let mut rows = self.rows(statement, parameters).await?;
        match rows.len() {
            0 | 1 => Ok(rows.pop()),
            _ => Err(SqlFailure::WrongResult(WRONG_ROWS)),
        }
    }

    /// Returns the row of a statement that must have one.
    ///
    /// # Errors
    /// There is none, or several, the server refuses it, or the connection is lost.
    async fn one(
        &mut self,
        statement: &Self::Statement,
        parameters: &[SqlValue<'_>],
    ) -> Result<Self::Row, SqlFailure> {
        self.optional(statement, parameters).await?.ok_or(SqlFailure::WrongResult(WRONG_ROWS))
    }

    /// Executes a statement that must change as many rows.
    ///
    /// # Errors
    /// It changes others, the server refuses it, or the connection is lost.
    async fn change(
        &mut self,
        n_rows: u64,
        statement: &Self::Statement,
        parameters: &[SqlValue<'_>],
    ) -> Result<(), SqlFailure> {
        let n_changed = self.execute(statement, parameters).await?;
        if n_changed == n_rows { Ok(()) } else { Err(SqlFailure::WrongResult(WRONG_ROWS)) }
    }
}

/// Declares the prepared statements of a form of SQL: a field for each, and the statement that it is.
macro_rules! statements {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $sql:expr,)+ }) => {
        $(#[$doc])*
        pub(crate) struct $name<S> {
            $($field: S,)+
        }

        impl<S> $name<S> {
            /// Prepares all of them.
            pub(crate) async fn prepare<C>(
                connection: &mut C,
            ) -> Result<$name<S>, crate::database::failure::SqlFailure>
            where
                C: crate::database::connection::SqlConnection<Statement = S>,
            {
                Ok($name { $($field: connection.prepare($sql).await?,)+ })
            }
        }
    };
}
pub(crate) use statements;
