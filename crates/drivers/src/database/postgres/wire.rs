//! A session's connection: requests, one at a time, and the round trips that they take.

use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures::{TryFutureExt, TryStreamExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_postgres::tls::NoTlsStream;
use tokio_postgres::{
    CancelToken, Client, Config, Connection, Error, NoTls, Row, SimpleQueryMessage, Statement,
};

use crate::database::connection::{SqlConnection, SqlValue, TextRow};
use crate::database::failure::{NO_TLS, OTHER_BYTES, SqlFailure, WRONG_PARAMETERS};
use crate::database::stream::{MeteredStream, ServerSocket, StreamBytes};

/// The most notices of the server that one request may bring.
const NOTICES_MAX: u32 = 10_000;

/// The number of notices after which others on this thread have their turn.
const NOTICES_PER_TURN: u32 = 64;

/// A connection with the client that makes requests on it. It is polled by the task that waits for a reply, and by no
/// other: between transactions nothing is expected.
pub(crate) struct Wire {
    client: Client,
    connection: Box<Connection<MeteredStream, NoTlsStream>>,
    bytes: Rc<StreamBytes>,
    n_round_trips: u64,
}

impl Wire {
    /// Connects and introduces itself.
    pub(crate) async fn open(server: &ServerSocket, config: &Config) -> Result<Wire, SqlFailure> {
        let stream = connect(server).await?;
        let bytes = Rc::clone(&stream.bytes);
        let (client, connection) = config.connect_raw(stream, NoTls).await?;
        Ok(Wire { client, connection: Box::new(connection), bytes, n_round_trips: 0 })
    }

    /// Returns what it takes to cancel a request.
    pub(crate) fn cancel_token(&self) -> CancelToken {
        self.client.cancel_token()
    }

    /// Returns client and connection, for requests that [`drive`] drives.
    pub(crate) fn parts(&mut self) -> (&Client, &mut Connection<MeteredStream, NoTlsStream>) {
        (&self.client, &mut self.connection)
    }
}

impl SqlConnection for Wire {
    type Statement = Statement;
    type Row = Row;

    async fn prepare(&mut self, sql: &str) -> Result<Statement, SqlFailure> {
        self.n_round_trips += 1;
        drive(&mut self.connection, self.client.prepare(sql)).await
    }

    fn parameter_name(n: usize) -> String {
        format!("${n}")
    }

    const READ_ONLY: &'static str = "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY";

    async fn prepare_as_written(&mut self, sql: &str, n_parameters: usize) -> Result<Statement, SqlFailure> {
        let statement = self.prepare(sql).await?;
        match statement.params().len() == n_parameters {
            true => Ok(statement),
            false => Err(SqlFailure::WrongResult(WRONG_PARAMETERS)),
        }
    }

    async fn n_rows(
        &mut self,
        statement: &Statement,
        parameters: &[SqlValue<'_>],
    ) -> Result<u64, SqlFailure> {
        self.n_round_trips += 1;
        let rows = self.client.query_raw(statement, parameters.iter().copied());
        let counted = async {
            let mut rows = pin!(rows.await?);
            let mut n_returned = 0;
            while rows.as_mut().try_next().await?.is_some() {
                n_returned += 1;
            }
            Ok::<u64, Error>(rows.rows_affected().unwrap_or(n_returned))
        };
        drive(&mut self.connection, counted).await
    }

    async fn rows(
        &mut self,
        statement: &Statement,
        parameters: &[SqlValue<'_>],
    ) -> Result<Vec<Row>, SqlFailure> {
        self.n_round_trips += 1;
        let rows =
            self.client.query_raw(statement, parameters.iter().copied()).and_then(|rows| rows.try_collect());
        drive(&mut self.connection, rows).await
    }

    async fn execute(
        &mut self,
        statement: &Statement,
        parameters: &[SqlValue<'_>],
    ) -> Result<u64, SqlFailure> {
        self.n_round_trips += 1;
        drive(&mut self.connection, self.client.execute_raw(statement, parameters.iter().copied())).await
    }

    async fn command(&mut self, sql: &str) -> Result<(), SqlFailure> {
        self.n_round_trips += 1;
        drive(&mut self.connection, self.client.batch_execute(sql)).await
    }

    async fn texts(&mut self, sql: &str) -> Result<Vec<TextRow>, SqlFailure> {
        self.n_round_trips += 1;
        let messages = drive(&mut self.connection, self.client.simple_query(sql)).await?;
        let rows = messages.iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        let values = rows.map(|row| {
            let names = row.columns().iter().map(|column| column.name().to_owned());
            let text = |index| row.try_get(index).ok().flatten().map(str::to_owned);
            names.enumerate().map(|(index, name)| (name, text(index))).collect()
        });
        Ok(values.collect())
    }

    fn n_round_trips(&self) -> u64 {
        self.n_round_trips
    }

    fn bytes(&self) -> (u64, u64) {
        self.bytes.get()
    }
}

/// The request for TLS: its length and a code. Source: the documentation of PostgreSQL 15, "Message Formats",
/// `SSLRequest`.
const TLS_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];

/// Connects, over TLS where the server is to be asked for it.
pub(crate) async fn connect(server: &ServerSocket) -> Result<MeteredStream, SqlFailure> {
    let mut stream = server.connect().await?;
    let Some(tls) = &server.tls else { return Ok(stream) };
    stream.write_all(&TLS_REQUEST).await.map_err(SqlFailure::of_io)?;
    let mut answer = [0];
    // No more than this byte: what follows is encrypted, or somebody else's.
    if stream.read(&mut answer).await.map_err(SqlFailure::of_io)? == 0 {
        return Err(SqlFailure::ended(true));
    }
    match answer {
        [b'S'] => stream.encrypted(tls).await,
        [b'N'] => Err(SqlFailure::malformed(NO_TLS)),
        _ => Err(SqlFailure::malformed(OTHER_BYTES)),
    }
}

/// Waits for the result of a request, and polls its connection meanwhile.
///
/// A request goes on by what its connection does, and by nothing else. So only the connection wakes this task: a request
/// that did so too would have the task of the user polled once more for each reply.
pub(crate) async fn drive<T>(
    connection: &mut Connection<MeteredStream, NoTlsStream>,
    request: impl Future<Output = Result<T, Error>>,
) -> Result<T, SqlFailure> {
    let mut request = pin!(request);
    let mut n_notices = 0;
    poll_fn(|context| {
        let mut unwoken = Context::from_waker(Waker::noop());
        loop {
            if let Poll::Ready(result) = request.as_mut().poll(&mut unwoken) {
                return Poll::Ready(result.map_err(SqlFailure::from));
            }
            let failure = match connection.poll_message(context) {
                // The reply may have arrived with it.
                Poll::Pending => return request.as_mut().poll(&mut unwoken).map_err(SqlFailure::from),
                // A notice. We listen to no channel.
                Poll::Ready(Some(Ok(_))) => {
                    n_notices += 1;
                    if NOTICES_MAX < n_notices {
                        return Poll::Ready(Err(SqlFailure::notices()));
                    }
                    if n_notices % NOTICES_PER_TURN == 0 {
                        context.waker().wake_by_ref();
                        return Poll::Pending;
                    }
                    continue;
                }
                Poll::Ready(Some(Err(error))) => SqlFailure::from(error),
                Poll::Ready(None) => SqlFailure::closed(),
            };
            // The reply, or the reason of the end, may have arrived just before it.
            let last = match request.as_mut().poll(&mut unwoken) {
                Poll::Ready(Ok(done)) => return Poll::Ready(Ok(done)),
                Poll::Ready(Err(error)) => SqlFailure::from(error),
                Poll::Pending => return Poll::Ready(Err(failure)),
            };
            return Poll::Ready(Err(match last {
                SqlFailure::Refused(_) => last,
                _ => failure,
            }));
        }
    })
    .await
}
