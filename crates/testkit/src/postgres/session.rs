//! A session, message by message.
//!
//! | state | message | answer | next |
//! |---|---|---|---|
//! | start | startup | authentication done, parameters, key, ready | ready |
//! | start | request for TLS | no | start |
//! | ready | `Q` query | its rows, or a refusal; ready | ready |
//! | ready | `Q` query of `COPY` | send rows | copying |
//! | ready | `P` parse, `D` describe, `B` bind, `C` close | done, with the types | ready |
//! | ready | `E` execute of a call | its row, or a refusal | ready |
//! | ready | `P` or `E` that is refused | the refusal | failed |
//! | ready | `S` sync | ready | ready |
//! | failed | `S` sync | ready | ready |
//! | failed | any other | – | failed |
//! | copying | `d` rows | – | copying |
//! | copying | `c` end of rows | done; ready | ready |
//! | any | `X` terminate | – | closed |

use std::collections::HashMap;
use std::io::{ErrorKind, Result};

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::Shared;
use super::data::StubData;
use super::message::{
    ClientMessage, Content, RowValues, command_complete, error_response, malformed, message, next_message,
    oid, put_text, row_description,
};
use super::procedures::{Answer, PROCEDURES, Procedure};

/// The codes of a first message. Source: the documentation, "Message Formats".
const PROTOCOL_3: i32 = 196_608;
const TLS_REQUEST: i32 = 80_877_103;

/// The parameters that a server tells each session, as PostgreSQL 15 does.
const PARAMETERS: [(&str, &str); 13] = [
    ("application_name", "plimsoll"),
    ("client_encoding", "UTF8"),
    ("DateStyle", "ISO, MDY"),
    ("default_transaction_read_only", "off"),
    ("in_hot_standby", "off"),
    ("integer_datetimes", "on"),
    ("IntervalStyle", "postgres"),
    ("is_superuser", "on"),
    ("server_encoding", "UTF8"),
    ("server_version", "15.0 (a stub)"),
    ("session_authorization", "plimsoll"),
    ("standard_conforming_strings", "on"),
    ("TimeZone", "Etc/UTC"),
];

/// The state of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    Ready,
    /// The rest of a request of which a part was refused is ignored.
    Failed,
    /// Rows of the client follow.
    Copying,
    Closed,
}

/// A prepared statement with the values of its parameters, ready to be executed.
struct BoundStatement {
    procedure: &'static Procedure,
    parameters: Vec<Vec<u8>>,
}

/// The session of a client with the stub.
struct StubSession {
    state: State,
    /// The prepared statements, all of them calls.
    statements: HashMap<String, &'static Procedure>,
    bound: Option<BoundStatement>,
    /// Orders that the open transaction has placed; `None` outside of one.
    n_open: Option<u64>,
}

/// Serves a session until the client ends it.
///
/// # Errors
/// The client sends something else, or is gone.
pub(super) async fn serve(mut stream: TcpStream, shared: &Shared) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut session =
        StubSession { state: State::Start, statements: HashMap::new(), bound: None, n_open: None };
    // Both have no memory while nothing is under way.
    let mut received = Vec::new();
    let mut reply = Vec::new();
    while session.state != State::Closed {
        stream.readable().await?;
        {
            let buffer = &mut *shared.buffer.borrow_mut();
            match stream.try_read(buffer) {
                Ok(0) => return Ok(()),
                Ok(n_read) => received.extend(&buffer[..n_read]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
                Err(error) => return Err(error),
            }
        }
        let mut at = 0;
        while let Some(message) = next_message(&received[at..], session.state == State::Start)? {
            at += message.length;
            session.handle(&message, &mut shared.data.borrow_mut(), &mut reply)?;
        }
        received = received.split_off(at);
        stream.write_all(&std::mem::take(&mut reply)).await?;
    }
    Ok(())
}

impl StubSession {
    /// Handles a message, and writes the answer.
    fn handle(&mut self, from: &ClientMessage<'_>, data: &mut StubData, to: &mut Vec<u8>) -> Result<()> {
        let content = Content(from.content);
        match (self.state, from.letter) {
            (State::Start, _) => self.start(content, to),
            (_, b'X') => {
                self.state = State::Closed;
                Ok(())
            }
            (State::Ready | State::Failed, b'S') => {
                self.state = State::Ready;
                self.ready(to);
                Ok(())
            }
            (State::Failed, _) | (State::Copying, b'd') => Ok(()),
            (State::Copying, b'c') => {
                self.state = State::Ready;
                command_complete(to, "COPY 0");
                self.ready(to);
                Ok(())
            }
            (State::Ready, b'Q') => self.query(content, data, to),
            (State::Ready, b'P') => self.parse(content, to),
            (State::Ready, b'D') => self.describe(content, to),
            (State::Ready, b'B') => self.bind(content, to),
            (State::Ready, b'E') => self.execute(data, to),
            (State::Ready, b'C') => self.close(content, to),
            _ => Err(malformed()),
        }
    }

    fn start(&mut self, mut content: Content<'_>, to: &mut Vec<u8>) -> Result<()> {
        match content.int4()? {
            TLS_REQUEST => to.push(b'N'),
            PROTOCOL_3 => {
                self.state = State::Ready;
                // It asks for no password.
                message(to, b'R', |to| to.extend([0; 4]));
                for (name, value) in PARAMETERS {
                    message(to, b'S', |to| {
                        put_text(to, name);
                        put_text(to, value);
                    });
                }
                message(to, b'K', |to| to.extend([0; 8]));
                self.ready(to);
            }
            // A request to cancel, among others.
            _ => self.state = State::Closed,
        }
        Ok(())
    }

    fn ready(&self, to: &mut Vec<u8>) {
        message(to, b'Z', |to| to.push(if self.n_open.is_some() { b'T' } else { b'I' }));
    }

    /// Answers a query that is not prepared.
    fn query(&mut self, mut content: Content<'_>, data: &mut StubData, to: &mut Vec<u8>) -> Result<()> {
        let sql = content.text()?;
        if sql.starts_with("COPY") {
            self.state = State::Copying;
            // Binary, and of no columns.
            message(to, b'G', |to| to.extend([1, 0, 0]));
            return Ok(());
        }
        if sql.starts_with("SELECT") {
            match data.rows(sql) {
                Some(rows) => {
                    let n_columns = rows.first().map_or(1, Vec::len);
                    row_description(to, (0..n_columns).map(|_| ("value", oid::TEXT)), false);
                    for row in &rows {
                        let mut values = RowValues::default();
                        row.iter().for_each(|value| values.text(value));
                        values.write(to);
                    }
                    command_complete(to, "SELECT");
                }
                None => error_response(to, "0A000", "the stub does not know this query"),
            }
        } else {
            self.change_transaction(sql, data);
            data.execute(sql);
            // The tag of a transaction's end is its first word.
            let tag = ["BEGIN", "COMMIT", "ROLLBACK"].into_iter().find(|word| sql.starts_with(word));
            command_complete(to, tag.unwrap_or("DONE"));
        }
        self.ready(to);
        Ok(())
    }

    /// Begins or ends a transaction, whose orders are placed when it is committed.
    fn change_transaction(&mut self, sql: &str, data: &mut StubData) {
        if sql.starts_with("BEGIN") {
            self.n_open = Some(0);
        } else if sql.starts_with("COMMIT") {
            data.n_placed += self.n_open.take().unwrap_or(0);
        } else if sql.starts_with("ROLLBACK") {
            self.n_open = None;
        }
    }

    fn parse(&mut self, mut content: Content<'_>, to: &mut Vec<u8>) -> Result<()> {
        let name = content.text()?;
        let sql = content.text()?;
        let is_call = |one: &&Procedure| sql.contains(&format!("{}(", one.name));
        match PROCEDURES.iter().find(is_call) {
            Some(procedure) => {
                self.statements.insert(name.to_owned(), procedure);
                message(to, b'1', |_| {});
            }
            None => self.refuse("0A000", "the stub does not know this statement", to),
        }
        Ok(())
    }

    fn describe(&self, mut content: Content<'_>, to: &mut Vec<u8>) -> Result<()> {
        content.bytes(1)?;
        let procedure = self.statements.get(content.text()?).ok_or_else(malformed)?;
        message(to, b't', |to| {
            to.extend((procedure.parameters.len() as i16).to_be_bytes());
            procedure.parameters.iter().for_each(|kind| to.extend(kind.to_be_bytes()));
        });
        row_description(to, procedure.columns.iter().copied(), true);
        Ok(())
    }

    fn bind(&mut self, mut content: Content<'_>, to: &mut Vec<u8>) -> Result<()> {
        let _portal = content.text()?;
        let procedure = *self.statements.get(content.text()?).ok_or_else(malformed)?;
        // All values are binary.
        for _ in 0..content.int2()? {
            content.int2()?;
        }
        let mut parameters = Vec::new();
        for _ in 0..content.int2()? {
            parameters.push(content.value()?.ok_or_else(malformed)?.to_vec());
        }
        self.bound = Some(BoundStatement { procedure, parameters });
        message(to, b'2', |_| {});
        Ok(())
    }

    fn execute(&mut self, data: &mut StubData, to: &mut Vec<u8>) -> Result<()> {
        let BoundStatement { procedure, parameters } = self.bound.take().ok_or_else(malformed)?;
        let parameters: Vec<&[u8]> = parameters.iter().map(Vec::as_slice).collect();
        match (procedure.answer)(&parameters, data)? {
            Answer::Row(row, is_placed) => {
                let n_placed = u64::from(is_placed);
                match &mut self.n_open {
                    Some(n_open) => *n_open += n_placed,
                    None => data.n_placed += n_placed,
                }
                row.write(to);
                command_complete(to, "SELECT 1");
            }
            Answer::Refused(state, text) => self.refuse(state, &text, to),
        }
        Ok(())
    }

    /// Forgets a prepared statement.
    fn close(&mut self, mut content: Content<'_>, to: &mut Vec<u8>) -> Result<()> {
        content.bytes(1)?;
        self.statements.remove(content.text()?);
        message(to, b'3', |_| {});
        Ok(())
    }

    /// Refuses a part of a request.
    fn refuse(&mut self, state: &str, text: &str, to: &mut Vec<u8>) {
        self.state = State::Failed;
        error_response(to, state, text);
    }
}
