//! A session's connection: requests, one at a time, and their replies, message by message.

use std::future::poll_fn;
use std::io;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::BytesMut;
use postgres_protocol::message::backend::{
    BIND_COMPLETE_TAG, COMMAND_COMPLETE_TAG, COPY_IN_RESPONSE_TAG, DATA_ROW_TAG, EMPTY_QUERY_RESPONSE_TAG,
    ERROR_RESPONSE_TAG, NO_DATA_TAG, NOTICE_RESPONSE_TAG, NOTIFICATION_RESPONSE_TAG,
    PARAMETER_DESCRIPTION_TAG, PARAMETER_STATUS_TAG, PARSE_COMPLETE_TAG, READY_FOR_QUERY_TAG,
    ROW_DESCRIPTION_TAG,
};
use postgres_protocol::message::frontend::{self, BindError};
use postgres_protocol::{IsNull, Oid};
use postgres_types::{Format, ToSql, Type};
use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};

use super::buffers::SharedBuffers;
use super::failure::refusal;
use super::login::{Login, SessionKey};
use super::message::{
    COUNTED_LENGTH_MAX, Column, LENGTH_MAX, LOGIN_LENGTH_MAX, MALFORMED, ServerMessage, columns, first_head,
    first_message, kind_of_tag, n_rows_of_tag, parameter_types, transaction_state,
};
use super::row::{PostgresRow, RowOf, type_of};
use crate::database::connection::{
    MESSAGE_BYTES_MAX, ROWS_MAX, SqlConnection, SqlValue, TextRow, column_indexes,
};
use crate::database::failure::{NO_TLS, Refusal, SqlFailure, WRONG_PARAMETERS};
use crate::database::room;
use crate::database::row_scan::RowScan;
use crate::database::socket::ServerSocket;
use crate::database::transaction::{LastReply, ReplyKind, TransactionState};
use crate::net::MeteredStream;

/// The most messages of the server which say something else, such as notices, in the reply to one request.
const NOTICES_MAX: u32 = 10_000;

/// The letter by which the name of a prepared statement is told from that of a portal.
const STATEMENT: u8 = b'S';

/// The portal that each execution uses anew.
const PORTAL: &str = "";

/// The format of values in results.
const BINARY: i16 = 1;
const TEXT: i16 = 0;

/// The last message of a client.
const FAREWELL: [u8; 5] = *b"X\0\0\0\x04";

/// A connection.
pub(crate) struct Wire {
    stream: MeteredStream,
    buffers: Rc<SharedBuffers>,
    /// The beginning of a message whose rest has not arrived, or what came behind a reply.
    kept: Vec<u8>,
    /// The longest message that is read.
    length_max: usize,
    n_notices: u32,
    key: SessionKey,
    n_statements: u32,
    n_round_trips: u64,
    last_reply: LastReply,
    /// The rows of the request that is under way, where they are counted only.
    counted: Option<CountedRows>,
}

/// Rows that are checked and counted while their bytes arrive.
#[derive(Debug)]
struct CountedRows {
    layout: RowOf,
    /// The row that is under way, and the number of its bytes that have not arrived.
    row: Option<(RowScan<RowOf>, usize)>,
    n_rows: u64,
}

impl CountedRows {
    fn of_columns(n_columns: usize) -> CountedRows {
        CountedRows { layout: RowOf::columns(n_columns), row: None, n_rows: 0 }
    }

    /// Takes what has arrived of a row, and returns what is behind it; `None` where no row is next.
    fn take<'a>(&mut self, bytes: &'a [u8]) -> Result<Option<&'a [u8]>, SqlFailure> {
        let (mut scan, n_left, bytes) = match (self.row.take(), first_head(bytes)) {
            (Some((scan, n_left)), _) => (scan, n_left, bytes),
            (None, Some((DATA_ROW_TAG, length @ 4..=COUNTED_LENGTH_MAX, rest))) => {
                // The length includes itself.
                (RowScan::new(self.layout), length - 4, rest)
            }
            _ => return Ok(None),
        };
        let (arrived, rest) = bytes.split_at(n_left.min(bytes.len()));
        scan.feed(arrived)?;
        match n_left - arrived.len() {
            0 => {
                scan.end()?;
                self.n_rows += 1;
            }
            n_left => self.row = Some((scan, n_left)),
        }
        Ok(Some(rest))
    }

    /// Returns whether a row is under way.
    fn is_within(&self) -> bool {
        self.row.is_some()
    }
}

/// A prepared statement.
pub(crate) struct Statement {
    name: Box<str>,
    parameters: Box<[Type]>,
    columns: Rc<[Oid]>,
    /// The columns whose values are looked at, by their indexes. Their names are not kept.
    looked_at: Box<[usize]>,
}

impl Wire {
    /// Connects and introduces itself.
    pub(super) async fn open(
        server: &ServerSocket,
        login: &Login,
        buffers: &Rc<SharedBuffers>,
    ) -> Result<Wire, SqlFailure> {
        let mut wire = Wire {
            stream: connect(server).await?,
            buffers: Rc::clone(buffers),
            kept: Vec::new(),
            length_max: LOGIN_LENGTH_MAX,
            n_notices: 0,
            key: SessionKey::default(),
            n_statements: 0,
            n_round_trips: 0,
            last_reply: LastReply::default(),
            counted: None,
        };
        wire.key = login.introduce(&mut wire).await?;
        wire.length_max = LENGTH_MAX;
        wire.stream.farewell = &FAREWELL;
        Ok(wire)
    }

    /// Returns whether nobody else can read what goes over the connection.
    pub(super) fn is_private(&self) -> bool {
        self.stream.is_private()
    }

    /// Returns the identity by which a request is cancelled.
    pub(super) fn key(&self) -> SessionKey {
        self.key
    }

    /// Sends what `write` writes.
    pub(super) async fn send(
        &mut self,
        write: impl FnOnce(&mut BytesMut) -> io::Result<()>,
    ) -> Result<(), SqlFailure> {
        let request = self.written(write)?;
        self.send_written(request).await
    }

    /// Returns what `write` writes.
    fn written(&self, write: impl FnOnce(&mut BytesMut) -> io::Result<()>) -> Result<BytesMut, SqlFailure> {
        let mut request = self.buffers.take_sent();
        match write(&mut request) {
            Ok(()) => Ok(request),
            // A text with a zero in it, an array where the server has none, or a request of more than 2 GiB.
            Err(_) => Err(SqlFailure::WrongResult(WRONG_PARAMETERS)),
        }
    }

    async fn send_written(&mut self, request: BytesMut) -> Result<(), SqlFailure> {
        self.n_notices = 0;
        let sent = self.stream.send(&request).await;
        self.buffers.keep_sent(request);
        sent.map_err(SqlFailure::from)
    }

    /// Has messages of the server taken one after another, until `take` has what it waits for. Notices and what else the
    /// server says by the way are none of them. Where `take` fails, the session is lost: the rest of the reply is.
    pub(super) async fn receive<T>(
        &mut self,
        mut take: impl FnMut(ServerMessage<'_>) -> Result<ControlFlow<T>, SqlFailure>,
    ) -> Result<T, SqlFailure> {
        poll_fn(|context| self.poll_receive(context, &mut take)).await
    }

    fn poll_receive<T>(
        &mut self,
        context: &mut Context<'_>,
        take: &mut impl FnMut(ServerMessage<'_>) -> Result<ControlFlow<T>, SqlFailure>,
    ) -> Poll<Result<T, SqlFailure>> {
        let buffers = Rc::clone(&self.buffers);
        let mut taken = self.take_messages(&[], take)?;
        while taken.is_none() {
            let mut room = buffers.received();
            let mut arrived = ReadBuf::new(&mut room[..]);
            ready!(Pin::new(&mut self.stream).poll_read(context, &mut arrived)).map_err(SqlFailure::of_io)?;
            if arrived.filled().is_empty() {
                let is_within = self.counted.as_ref().is_some_and(CountedRows::is_within);
                return Poll::Ready(Err(SqlFailure::ended(self.kept.is_empty() && !is_within)));
            }
            taken = self.take_messages(arrived.filled(), take)?;
        }
        Poll::Ready(taken.ok_or(MALFORMED))
    }

    /// Has the messages taken that are complete with the bytes that have arrived, and keeps the rest.
    fn take_messages<T>(
        &mut self,
        arrived: &[u8],
        take: &mut impl FnMut(ServerMessage<'_>) -> Result<ControlFlow<T>, SqlFailure>,
    ) -> Result<Option<T>, SqlFailure> {
        let mut kept = std::mem::take(&mut self.kept);
        let bytes = if kept.is_empty() {
            arrived
        } else {
            kept.extend_from_slice(arrived);
            &kept[..]
        };
        let mut rest = bytes;
        let mut taken = None;
        while taken.is_none() {
            if let Some(counted) = &mut self.counted
                && let Some(behind) = counted.take(rest)?
            {
                rest = behind;
                if counted.is_within() {
                    break;
                }
                continue;
            }
            let Some(message) = first_message(rest, self.length_max)? else { break };
            rest = &rest[message.length()..];
            match message.kind {
                NOTICE_RESPONSE_TAG | PARAMETER_STATUS_TAG | NOTIFICATION_RESPONSE_TAG => {
                    self.n_notices += 1;
                    if NOTICES_MAX < self.n_notices {
                        return Err(SqlFailure::notices());
                    }
                }
                _ => taken = take(message)?.break_value(),
            }
        }
        // One that arrives in many parts is not copied with each.
        self.kept = if rest.len() == kept.len() { kept } else { rest.to_vec() };
        Ok(taken)
    }

    /// Receives the reply to a request up to its end, or until `take` breaks; it is given all but the server's refusal.
    async fn reply(
        &mut self,
        mut take: impl FnMut(ServerMessage<'_>) -> Result<ControlFlow<()>, SqlFailure>,
    ) -> Result<(), SqlFailure> {
        let mut refused: Option<Refusal> = None;
        let mut kind = ReplyKind::Other;
        let ended = self
            .receive(|message| match message.kind {
                READY_FOR_QUERY_TAG => transaction_state(message.content).map(Some).map(ControlFlow::Break),
                ERROR_RESPONSE_TAG => {
                    let refusal = refusal(message.content)?;
                    let is_last = refusal.is_fatal;
                    refused.get_or_insert(refusal);
                    Ok(if is_last { ControlFlow::Break(None) } else { ControlFlow::Continue(()) })
                }
                _ => {
                    if message.kind == COMMAND_COMPLETE_TAG {
                        kind = kind_of_tag(message.content);
                    }
                    Ok(match take(message)? {
                        ControlFlow::Break(()) => ControlFlow::Break(None),
                        ControlFlow::Continue(()) => ControlFlow::Continue(()),
                    })
                }
            })
            .await;
        if let Ok(Some(transaction)) = ended {
            self.last_reply.note(kind, transaction);
        }
        match (ended, refused) {
            (ended, None) => ended.map(drop),
            (Ok(_), Some(refusal)) => Err(SqlFailure::Refused(refusal)),
            (Err(_), Some(refusal)) => Err(SqlFailure::Refused(Refusal { is_fatal: true, ..refusal })),
        }
    }

    /// Makes a request and receives the reply, as [`Wire::reply`] does.
    async fn exchange(
        &mut self,
        write: impl FnOnce(&mut BytesMut) -> io::Result<()>,
        take: impl FnMut(ServerMessage<'_>) -> Result<ControlFlow<()>, SqlFailure>,
    ) -> Result<(), SqlFailure> {
        self.n_round_trips += 1;
        let request = self.written(write)?;
        match self.send_written(request).await {
            Ok(()) => self.reply(take).await,
            Err(lost) => Err(self.reason_of(lost).await),
        }
    }

    /// Returns why the server has ended the session, which it may have said before.
    async fn reason_of(&mut self, lost: SqlFailure) -> SqlFailure {
        match self.reply(|_| Ok(ControlFlow::Continue(()))).await {
            Err(refused @ SqlFailure::Refused(_)) => refused,
            _ => lost,
        }
    }

    /// Executes a prepared statement, and has its rows taken in a format. Returns the number of rows that the server has
    /// counted.
    async fn execute_statement(
        &mut self,
        statement: &Statement,
        parameters: &[SqlValue<'_>],
        format: i16,
        mut take_row: impl FnMut(&[u8]) -> Result<(), SqlFailure>,
    ) -> Result<u64, SqlFailure> {
        if parameters.len() != statement.parameters.len() {
            return Err(SqlFailure::WrongResult(WRONG_PARAMETERS));
        }
        let mut n_rows = None;
        self.exchange(
            |to| {
                bind(statement, parameters, format, to)?;
                frontend::execute(PORTAL, 0, to)?;
                frontend::sync(to);
                Ok(())
            },
            |message| {
                match message.kind {
                    BIND_COMPLETE_TAG => {}
                    DATA_ROW_TAG => take_row(message.content)?,
                    COMMAND_COMPLETE_TAG => n_rows = Some(n_rows_of_tag(message.content)),
                    EMPTY_QUERY_RESPONSE_TAG => n_rows = Some(0),
                    _ => return Err(MALFORMED),
                }
                Ok(ControlFlow::Continue(()))
            },
        )
        .await?;
        n_rows.ok_or(MALFORMED)
    }

    /// Prepares a statement; returns it with the columns of its rows.
    async fn described(&mut self, sql: &str) -> Result<(Statement, Vec<Column>), SqlFailure> {
        self.n_statements += 1;
        let name = format!("s{}", self.n_statements);
        let mut parameters = None;
        let mut described = None;
        self.exchange(
            |to| {
                frontend::parse(&name, sql, [], to)?;
                frontend::describe(STATEMENT, &name, to)?;
                frontend::sync(to);
                Ok(())
            },
            |message| {
                match message.kind {
                    PARSE_COMPLETE_TAG => {}
                    PARAMETER_DESCRIPTION_TAG => parameters = Some(parameter_types(message.content)?),
                    ROW_DESCRIPTION_TAG => described = Some(columns(message.content)?),
                    NO_DATA_TAG => described = Some(Vec::new()),
                    _ => return Err(MALFORMED),
                }
                Ok(ControlFlow::Continue(()))
            },
        )
        .await?;
        let (parameters, columns) = parameters.zip(described).ok_or(MALFORMED)?;
        let parameters = parameters.into_iter().map(type_of).collect();
        let kinds = columns.iter().map(|column| column.kind).collect();
        let statement =
            Statement { name: name.into(), parameters, columns: kinds, looked_at: Box::default() };
        Ok((statement, columns))
    }

    /// Executes a statement that reads rows from us, which follow.
    pub(crate) async fn begin_copy(&mut self, sql: &str) -> Result<(), SqlFailure> {
        let mut is_begun = false;
        self.exchange(
            |to| frontend::query(sql, to),
            |message| match message.kind {
                COPY_IN_RESPONSE_TAG => {
                    is_begun = true;
                    Ok(ControlFlow::Break(()))
                }
                _ => Err(MALFORMED),
            },
        )
        .await?;
        if is_begun { Ok(()) } else { Err(MALFORMED) }
    }

    /// Sends messages with rows. The server may have refused those before.
    pub(crate) async fn send_copy(&mut self, messages: &[u8]) -> Result<(), SqlFailure> {
        if let Err(lost) = self.stream.send(messages).await {
            return Err(self.reason_of(lost.into()).await);
        }
        let mut take = |message: ServerMessage<'_>| match message.kind {
            ERROR_RESPONSE_TAG => Ok(ControlFlow::Break(refusal(message.content)?)),
            _ => Err(MALFORMED),
        };
        poll_fn(|context| {
            Poll::Ready(match self.poll_receive(context, &mut take) {
                Poll::Pending => Ok(()),
                Poll::Ready(Ok(refusal)) => Err(SqlFailure::Refused(Refusal { is_fatal: true, ..refusal })),
                Poll::Ready(Err(failure)) => Err(failure),
            })
        })
        .await
    }

    /// Sends the last messages, and waits until all rows are in the table.
    pub(crate) async fn end_copy(&mut self, messages: &[u8]) -> Result<(), SqlFailure> {
        if let Err(lost) = self.stream.send(messages).await {
            return Err(self.reason_of(lost.into()).await);
        }
        self.reply(|message| match message.kind {
            COMMAND_COMPLETE_TAG => Ok(ControlFlow::Continue(())),
            _ => Err(MALFORMED),
        })
        .await
    }
}

/// Writes a request for an execution with these values, whose results have a format.
fn bind(
    statement: &Statement,
    parameters: &[SqlValue<'_>],
    results: i16,
    to: &mut BytesMut,
) -> io::Result<()> {
    let typed = || parameters.iter().zip(&statement.parameters);
    let format = |(value, kind): (&SqlValue<'_>, &Type)| match value.encode_format(kind) {
        Format::Text => TEXT,
        Format::Binary => BINARY,
    };
    let written = frontend::bind(
        PORTAL,
        &statement.name,
        typed().map(format),
        typed(),
        |(value, kind), to| {
            Ok(match value.to_sql(kind, to)? {
                postgres_types::IsNull::Yes => IsNull::Yes,
                postgres_types::IsNull::No => IsNull::No,
            })
        },
        [results],
        to,
    );
    written.map_err(|error| match error {
        BindError::Conversion(error) => io::Error::other(error),
        BindError::Serialization(error) => error,
    })
}

impl SqlConnection for Wire {
    type Statement = Statement;
    type Row = PostgresRow;

    async fn prepare(&mut self, sql: &str) -> Result<Statement, SqlFailure> {
        self.described(sql).await.map(|(statement, _)| statement)
    }

    fn parameter_name(n: usize) -> String {
        format!("${n}")
    }

    const READ_ONLY: &'static str = "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY";

    const CONNECTIONS: &'static str = room::OF_POSTGRESQL;

    fn last_reply(&mut self) -> &mut LastReply {
        &mut self.last_reply
    }

    // A transaction whose end fails is over. One that statements of the user have begun is not.
    fn may_be_open(&self) -> bool {
        self.last_reply.transaction != TransactionState::None
    }

    async fn prepare_as_written(
        &mut self,
        sql: &str,
        n_parameters: usize,
        looked_at: &[&str],
    ) -> Result<Statement, SqlFailure> {
        let (statement, columns) = self.described(sql).await?;
        if statement.parameters.len() != n_parameters {
            return Err(SqlFailure::WrongResult(WRONG_PARAMETERS));
        }
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        Ok(Statement { looked_at: column_indexes(&names, looked_at)?, ..statement })
    }

    async fn n_rows(
        &mut self,
        statement: &Statement,
        parameters: &[SqlValue<'_>],
    ) -> Result<u64, SqlFailure> {
        self.counted = Some(CountedRows::of_columns(statement.columns.len()));
        // Some types have no binary format, and nobody reads the values.
        let executed = self.execute_statement(statement, parameters, TEXT, |_| Err(MALFORMED)).await;
        let n_returned = self.counted.take().map_or(0, |counted| counted.n_rows);
        // Those of a statement such as `SHOW` the server does not count.
        Ok(executed?.max(n_returned))
    }

    async fn texts_of(
        &mut self,
        statement: &Statement,
        parameters: &[SqlValue<'_>],
        take: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<u64, SqlFailure> {
        let mut n_returned = 0;
        let n_counted = self
            .execute_statement(statement, parameters, TEXT, |content| {
                let row = PostgresRow::read(&statement.columns, content)?;
                let looked_at = statement.looked_at.iter().enumerate();
                looked_at.for_each(|(index, column)| take(index, row.bytes_of(*column)));
                n_returned += 1;
                Ok(())
            })
            .await?;
        Ok(n_counted.max(n_returned))
    }

    async fn rows(
        &mut self,
        statement: &Statement,
        parameters: &[SqlValue<'_>],
    ) -> Result<Vec<PostgresRow>, SqlFailure> {
        let mut rows = Vec::new();
        let mut n_bytes = 0;
        self.execute_statement(statement, parameters, BINARY, |content| {
            n_bytes += content.len();
            if rows.len() == ROWS_MAX || MESSAGE_BYTES_MAX < n_bytes {
                return Err(MALFORMED);
            }
            rows.push(PostgresRow::read(&statement.columns, content)?);
            Ok(())
        })
        .await?;
        Ok(rows)
    }

    async fn execute(
        &mut self,
        statement: &Statement,
        parameters: &[SqlValue<'_>],
    ) -> Result<u64, SqlFailure> {
        let read = |row: &[u8]| PostgresRow::read(&statement.columns, row).map(drop);
        self.execute_statement(statement, parameters, BINARY, read).await
    }

    async fn command(&mut self, sql: &str) -> Result<(), SqlFailure> {
        let mut has_rows = false;
        self.exchange(
            |to| frontend::query(sql, to),
            |message| match message.kind {
                COMMAND_COMPLETE_TAG | EMPTY_QUERY_RESPONSE_TAG => Ok(ControlFlow::Continue(())),
                ROW_DESCRIPTION_TAG | DATA_ROW_TAG => {
                    has_rows = true;
                    Ok(ControlFlow::Continue(()))
                }
                _ => Err(MALFORMED),
            },
        )
        .await?;
        if has_rows {
            self.last_reply.kind = ReplyKind::Other;
        }
        Ok(())
    }

    async fn texts(&mut self, sql: &str) -> Result<Vec<TextRow>, SqlFailure> {
        let mut described = Vec::new();
        let mut rows = Vec::new();
        let mut n_bytes = 0;
        self.exchange(
            |to| frontend::query(sql, to),
            |message| {
                match message.kind {
                    ROW_DESCRIPTION_TAG => described = columns(message.content)?,
                    DATA_ROW_TAG if rows.len() == ROWS_MAX || MESSAGE_BYTES_MAX < n_bytes => {
                        return Err(MALFORMED);
                    }
                    DATA_ROW_TAG => {
                        n_bytes += message.content.len();
                        rows.push(text_row(&described, message.content)?);
                    }
                    COMMAND_COMPLETE_TAG | EMPTY_QUERY_RESPONSE_TAG => {}
                    _ => return Err(MALFORMED),
                }
                Ok(ControlFlow::Continue(()))
            },
        )
        .await?;
        Ok(rows)
    }

    fn n_round_trips(&self) -> u64 {
        self.n_round_trips
    }

    fn bytes(&self) -> (u64, u64) {
        self.stream.bytes.get()
    }
}

/// Returns a row of a query that is not prepared, whose values are texts.
fn text_row(columns: &[Column], content: &[u8]) -> Result<TextRow, SqlFailure> {
    let texts = columns.iter().map(|_| Type::TEXT.oid()).collect();
    let row = PostgresRow::read(&texts, content)?;
    // A text that is not UTF-8 is none.
    let value = |(index, column): (usize, &Column)| (column.name.clone(), row.value(index).unwrap_or(None));
    Ok(columns.iter().enumerate().map(value).collect())
}

/// Connects, over TLS where the server is to be asked for it.
pub(super) async fn connect(server: &ServerSocket) -> Result<MeteredStream, SqlFailure> {
    let mut stream = server.connect().await?;
    let Some(tls) = &server.tls else { return Ok(stream) };
    let mut request = BytesMut::new();
    frontend::ssl_request(&mut request);
    stream.send(&request).await?;
    let mut answer = [0];
    // No more than this byte: what follows is encrypted, or somebody else's.
    if stream.read(&mut answer).await.map_err(SqlFailure::of_io)? == 0 {
        return Err(SqlFailure::ended(true));
    }
    match answer {
        [b'S'] => stream.encrypted(tls).await.map_err(SqlFailure::from),
        [b'N'] => Err(SqlFailure::malformed(NO_TLS)),
        _ => Err(MALFORMED),
    }
}
