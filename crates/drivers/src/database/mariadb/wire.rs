//! A session's connection: commands of the client/server protocol, one at a time. The library knows the packets; the
//! stream is our own, whose address is checked and whose bytes are counted.

use std::rc::Rc;
use std::sync::Arc;

use bytes::Buf;
use mysql_common::constants::{CapabilityFlags, Command, StatusFlags};
use mysql_common::io::ParseBuf;
use mysql_common::misc::raw::RawInt;
use mysql_common::misc::raw::int::LenEnc;
use mysql_common::packets::{
    AuthPlugin, AuthSwitchRequest, Column, ComStmtExecuteRequestBuilder, CommonOkPacket, ErrPacket,
    HandshakePacket, HandshakeResponse, OkPacket, OkPacketDeserializer, OkPacketKind, ResultSetTerminator,
    SslRequest, StmtPacket,
};
use mysql_common::proto::codec::PacketCodec;
use mysql_common::proto::{Binary, MyDeserialize, MySerialize, Text};
use mysql_common::row::{Row, RowDeserializer};
use mysql_common::value::{ServerSide, Value};
use tokio::io::AsyncReadExt;

use super::buffers::{CommandBuffers, SharedBuffers};
use super::columns::KnownColumns;
use super::row::{MariaDbRow, value};
use super::text::{PreparedText, prepared_text};
use crate::database::connection::{ROWS_MAX, SqlConnection, SqlValue, TextRow};
use crate::database::failure::{
    NO_TLS, NOT_MARIADB, OTHER_AUTHENTICATION, OTHER_BYTES, Refusal, SqlFailure, SqlStateCode,
    WRONG_PARAMETERS, WRONG_ROWS,
};
use crate::database::server::DatabasePassword;
use crate::database::stream::{MeteredStream, ServerSocket};
use crate::net::ClientTls;

/// The largest packet that is read: no server sends larger ones.
const PACKET_BYTES_MAX: usize = 1 << 30;

/// The largest packet before the server knows the client. What another protocol begins with is a longer one, for which
/// nobody is to wait.
const LOGIN_BYTES_MAX: usize = 1 << 16;

/// The room for bytes that arrive: most replies fit into it, so that one read takes all of each.
const RECEIVED_BYTES: usize = 4096;

/// The most columns of a result, as of a table of MariaDB's.
const COLUMNS_MAX: u64 = 4096;

/// The most bytes of the descriptions of a result's columns.
const DESCRIBED_BYTES_MAX: usize = 1 << 20;

/// The most packets of the server while it finds out who we are.
const LOGIN_PACKETS_MAX: usize = 8;

/// The capabilities of this client. The number of changed rows is that of the rows that were found, also where the new values are the old.
const CAPABILITIES: CapabilityFlags = CapabilityFlags::CLIENT_PROTOCOL_41
    .union(CapabilityFlags::CLIENT_SECURE_CONNECTION)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH)
    .union(CapabilityFlags::CLIENT_CONNECT_WITH_DB)
    .union(CapabilityFlags::CLIENT_FOUND_ROWS)
    .union(CapabilityFlags::CLIENT_MULTI_RESULTS)
    .union(CapabilityFlags::CLIENT_PS_MULTI_RESULTS)
    .union(CapabilityFlags::CLIENT_TRANSACTIONS)
    .union(CapabilityFlags::CLIENT_LOCAL_FILES)
    .union(CapabilityFlags::CLIENT_DEPRECATE_EOF);

/// The number of `utf8mb4_general_ci`, which the server takes from the client that asks for TLS.
const COLLATION: u8 = 45;

/// The last packet of a client: a length of 1, the number 0, and the command `COM_QUIT`.
const FAREWELL: [u8; 5] = [1, 0, 0, 0, Command::COM_QUIT as u8];

/// A part of the version that the server says first.
const MARIADB: &[u8] = b"MariaDB";

// First bytes of packets.
const OK: u8 = 0x00;
const MORE_DATA: u8 = 0x01;
const LOCAL_FILE: u8 = 0xFB;
const TERMINATOR: u8 = 0xFE;
const ERROR: u8 = 0xFF;

/// The second byte of a packet with more data: the server knows the password already.
const IS_KNOWN: u8 = 0x03;

/// The numbers of errors after which the server ends the session: it shuts down, or somebody has killed the connection.
const FATAL: [u16; 3] = [1053, 1927, 4031];

/// The states of errors of which the server says none, or one that does not tell.
const OWN_STATES: [(u16, &str); 5] = [
    // Its connections are all taken, which it says before it knows the client.
    (1040, "08004"),
    // Where `innodb_snapshot_isolation` is on, as it is from 11.6 on, another transaction has changed what this one has read,
    // so that it is to be begun again.
    (1020, "40001"),
    // The disk is full, which it says of a table, too.
    (1021, "53100"),
    (1114, "53100"),
    // An option of the server forbids the statement: of ours, those that write where it is read only.
    (1290, "25006"),
];

/// The user of a session.
#[derive(Debug)]
pub(crate) struct Login {
    pub(crate) user: String,
    pub(crate) password: Option<DatabasePassword>,
}

/// The state that the sessions of a load thread share.
#[derive(Debug, Default)]
pub(crate) struct SharedState {
    columns: KnownColumns,
    buffers: SharedBuffers,
}

/// A connection.
pub(crate) struct Wire {
    stream: MeteredStream,
    codec: PacketCodec,
    /// Those of the command that is under way; without memory between commands.
    buffers: CommandBuffers,
    shared: Rc<SharedState>,
    /// The server's number of the session.
    session: u32,
    n_round_trips: u64,
}

/// A prepared statement.
pub(crate) struct Statement {
    number: u32,
    /// For each parameter in the text, its index among those of the statement.
    order: Vec<usize>,
}

/// The results of a command.
#[derive(Default)]
pub(crate) struct Results {
    /// Whether rows are counted only, and not kept.
    counts_only: bool,
    /// The result sets with columns.
    pub(crate) sets: Vec<Vec<MariaDbRow>>,
    /// The columns of the last of them.
    columns: Arc<[Column]>,
    /// The number of rows of all sets.
    n_rows: u64,
    /// The number of rows that were changed.
    n_changed: u64,
}

impl Wire {
    /// Connects and introduces itself.
    pub(crate) async fn open(
        server: &ServerSocket,
        login: &Login,
        database: Option<&str>,
        shared: &Rc<SharedState>,
    ) -> Result<Wire, SqlFailure> {
        let stream = server.connect().await?;
        let mut codec = PacketCodec::default();
        codec.max_allowed_packet = LOGIN_BYTES_MAX;
        let wire = Wire {
            stream,
            codec,
            buffers: shared.buffers.take(),
            shared: Rc::clone(shared),
            session: 0,
            n_round_trips: 0,
        };
        wire.log_in(server.tls.as_ref(), login, database).await
    }

    async fn log_in(
        mut self,
        tls: Option<&ClientTls>,
        login: &Login,
        database: Option<&str>,
    ) -> Result<Wire, SqlFailure> {
        self.receive().await?;
        if self.buffers.packet.first() == Some(&ERROR) {
            return Err(refusal(&self.buffers.packet));
        }
        let handshake: HandshakePacket<'_> = parsed(&self.buffers.packet, ())?;
        self.session = handshake.connection_id();
        // Others that speak the protocol, MySQL first of all, have no such status variables and write procedures otherwise.
        if !handshake.server_version_ref().windows(MARIADB.len()).any(|part| part == MARIADB) {
            return Err(SqlFailure::malformed(NOT_MARIADB));
        }
        if !handshake.capabilities().contains(CAPABILITIES) {
            return Err(SqlFailure::malformed(OTHER_BYTES));
        }
        let offers_tls = handshake.capabilities().contains(CapabilityFlags::CLIENT_SSL);
        let plugin = handshake.auth_plugin().unwrap_or(AuthPlugin::MysqlNativePassword).into_owned();
        let nonce = handshake.nonce();
        let proof = answer(&plugin, login, &nonce)?;
        // The server takes those that come first, with the request for TLS.
        let mut capabilities = CAPABILITIES;
        capabilities.set(CapabilityFlags::CLIENT_CONNECT_WITH_DB, database.is_some());
        let mut bytes = Vec::new();
        if let Some(tls) = tls {
            if !offers_tls {
                return Err(SqlFailure::malformed(NO_TLS));
            }
            capabilities |= CapabilityFlags::CLIENT_SSL;
            SslRequest::new(capabilities, PACKET_BYTES_MAX as u32, COLLATION).serialize(&mut bytes);
            self.send(&bytes).await?;
            bytes.clear();
            if !self.buffers.received.is_empty() {
                return Err(SqlFailure::malformed(OTHER_BYTES));
            }
            self.stream = self.stream.encrypted(tls).await?;
        }
        let response = HandshakeResponse::new(
            Some(proof),
            (10, 0, 0),
            Some(login.user.as_bytes()),
            database.map(str::as_bytes),
            Some(plugin),
            capabilities,
            None,
            PACKET_BYTES_MAX as u32,
        );
        response.serialize(&mut bytes);
        self.send(&bytes).await?;
        for _ in 0..LOGIN_PACKETS_MAX {
            self.receive().await?;
            match self.buffers.packet[..] {
                [OK, ..] => {
                    self.codec.max_allowed_packet = PACKET_BYTES_MAX;
                    self.keep_buffers();
                    self.stream.farewell = &FAREWELL;
                    return Ok(self);
                }
                [ERROR, ..] => return Err(refusal(&self.buffers.packet)),
                [MORE_DATA, IS_KNOWN] => {}
                [TERMINATOR, ..] => {
                    let switch: AuthSwitchRequest<'_> = parsed(&self.buffers.packet, ())?;
                    let bytes = answer(&switch.auth_plugin(), login, switch.plugin_data())?;
                    self.send(&bytes).await?;
                }
                // The whole password, which is not for a connection that others can read.
                _ => return Err(SqlFailure::malformed(OTHER_AUTHENTICATION)),
            }
        }
        Err(SqlFailure::malformed(OTHER_AUTHENTICATION))
    }

    /// Returns the server's number of the session, by which another one can cancel its statement.
    pub(crate) fn session(&self) -> u32 {
        self.session
    }

    /// Takes buffers of the thread for a command, unless some are left from the one before.
    fn take_buffers(&mut self) {
        if self.buffers.received.capacity() == 0 {
            self.buffers = self.shared.buffers.take();
        }
    }

    /// Gives the buffers back, unless bytes have arrived that no command has asked for.
    fn keep_buffers(&mut self) {
        if self.buffers.received.is_empty() {
            self.shared.buffers.keep(std::mem::take(&mut self.buffers));
        }
    }

    /// Sends a packet that continues an exchange.
    async fn send(&mut self, mut packet: &[u8]) -> Result<(), SqlFailure> {
        self.buffers.sent.clear();
        self.codec
            .encode(&mut packet, &mut self.buffers.sent)
            .map_err(|_| SqlFailure::malformed(OTHER_BYTES))?;
        self.stream.send(&self.buffers.sent).await
    }

    /// Sends a command.
    async fn begin(&mut self, command: Command, body: &[u8]) -> Result<(), SqlFailure> {
        self.n_round_trips += 1;
        self.codec.reset_seq_id();
        self.take_buffers();
        let head = [command as u8];
        let mut packet = Buf::chain(&head[..], body);
        self.buffers.sent.clear();
        self.codec
            .encode(&mut packet, &mut self.buffers.sent)
            .map_err(|_| SqlFailure::malformed(OTHER_BYTES))?;
        self.stream.send(&self.buffers.sent).await
    }

    /// Executes a statement that reads a file of ours, whose parts follow.
    pub(crate) async fn begin_file(&mut self, sql: &str) -> Result<(), SqlFailure> {
        self.begin(Command::COM_QUERY, sql.as_bytes()).await?;
        self.receive().await?;
        match self.buffers.packet[0] {
            LOCAL_FILE => Ok(()),
            ERROR => Err(refusal(&self.buffers.packet)),
            _ => Err(SqlFailure::malformed(OTHER_BYTES)),
        }
    }

    /// Sends a part of the file. It is not empty: that would be its end.
    pub(crate) async fn send_part(&mut self, part: &[u8]) -> Result<(), SqlFailure> {
        self.send(part).await
    }

    /// Ends the file and the statement.
    pub(crate) async fn end_file(&mut self) -> Result<(), SqlFailure> {
        self.send(&[]).await?;
        self.results::<Text>().await.map(drop)
    }

    /// Receives a packet.
    async fn receive(&mut self) -> Result<(), SqlFailure> {
        self.buffers.packet.clear();
        loop {
            let is_whole = self.codec.decode(&mut self.buffers.received, &mut self.buffers.packet);
            if is_whole.map_err(|_| SqlFailure::malformed(OTHER_BYTES))? {
                return if self.buffers.packet.is_empty() {
                    Err(SqlFailure::malformed(OTHER_BYTES))
                } else {
                    Ok(())
                };
            }
            self.buffers.received.reserve(RECEIVED_BYTES);
            if self.stream.read_buf(&mut self.buffers.received).await.map_err(SqlFailure::of_io)? == 0 {
                return Err(SqlFailure::ended(self.buffers.received.is_empty()));
            }
        }
    }

    /// Receives the results of a command whose rows have this form.
    async fn results<F>(&mut self) -> Result<Results, SqlFailure>
    where
        RowDeserializer<ServerSide, F>: for<'a> MyDeserialize<'a, Ctx = Arc<[Column]>>,
    {
        self.results_into::<F>(Results::default()).await
    }

    /// Receives the results of a command, and adds them to others.
    async fn results_into<F>(&mut self, results: Results) -> Result<Results, SqlFailure>
    where
        RowDeserializer<ServerSide, F>: for<'a> MyDeserialize<'a, Ctx = Arc<[Column]>>,
    {
        let results = self.all_results::<F>(results).await;
        self.keep_buffers();
        results
    }

    async fn all_results<F>(&mut self, mut results: Results) -> Result<Results, SqlFailure>
    where
        RowDeserializer<ServerSide, F>: for<'a> MyDeserialize<'a, Ctx = Arc<[Column]>>,
    {
        loop {
            self.receive().await?;
            let status = match self.buffers.packet[0] {
                OK => {
                    let done = self.done::<CommonOkPacket>()?;
                    results.n_changed += done.affected_rows();
                    done.status_flags()
                }
                ERROR => return Err(refusal(&self.buffers.packet)),
                // No statement of these reads a file.
                LOCAL_FILE => return Err(SqlFailure::malformed(OTHER_BYTES)),
                _ => self.rows::<F>(&mut results).await?,
            };
            if !status.contains(StatusFlags::SERVER_MORE_RESULTS_EXISTS) {
                return Ok(results);
            }
        }
    }

    /// Receives columns and rows, of which the number of columns has arrived. Returns the status at the end.
    async fn rows<F>(&mut self, results: &mut Results) -> Result<StatusFlags, SqlFailure>
    where
        RowDeserializer<ServerSide, F>: for<'a> MyDeserialize<'a, Ctx = Arc<[Column]>>,
    {
        let n_columns = *parsed::<RawInt<LenEnc>>(&self.buffers.packet, ())?;
        let columns = self.columns(n_columns).await?;
        let mut rows = Vec::new();
        loop {
            self.receive().await?;
            match self.buffers.packet[0] {
                ERROR => return Err(refusal(&self.buffers.packet)),
                TERMINATOR => {
                    let status = self.done::<ResultSetTerminator>()?.status_flags();
                    results.sets.push(rows);
                    results.columns = columns;
                    return Ok(status);
                }
                _ if results.counts_only => results.n_rows += 1,
                _ if rows.len() == ROWS_MAX => return Err(SqlFailure::malformed(OTHER_BYTES)),
                _ => {
                    let row: RowDeserializer<ServerSide, F> =
                        parsed(&self.buffers.packet, Arc::clone(&columns))?;
                    rows.push(MariaDbRow::of(Row::from(row)));
                }
            }
        }
    }

    async fn columns(&mut self, n_columns: u64) -> Result<Arc<[Column]>, SqlFailure> {
        if COLUMNS_MAX < n_columns {
            return Err(SqlFailure::malformed(OTHER_BYTES));
        }
        let mut described = self.shared.columns.take_buffer();
        for _ in 0..n_columns {
            self.receive().await?;
            described.extend_from_slice(&self.buffers.packet);
            if DESCRIBED_BYTES_MAX < described.len() {
                return Err(SqlFailure::malformed(OTHER_BYTES));
            }
        }
        self.shared.columns.columns(n_columns, described)
    }

    fn done<K: OkPacketKind>(&self) -> Result<OkPacket<'_>, SqlFailure> {
        parsed::<OkPacketDeserializer<'_, K>>(&self.buffers.packet, CAPABILITIES)
            .map(OkPacketDeserializer::into_inner)
    }

    /// Executes a statement; returns all of its results.
    pub(crate) async fn results_of(
        &mut self,
        statement: &Statement,
        parameters: &[SqlValue<'_>],
    ) -> Result<Results, SqlFailure> {
        self.begin_statement(statement, parameters).await?;
        self.results::<Binary>().await
    }

    async fn begin_statement(
        &mut self,
        statement: &Statement,
        parameters: &[SqlValue<'_>],
    ) -> Result<(), SqlFailure> {
        let parameters: Option<Vec<Value>> =
            statement.order.iter().map(|index| parameters.get(*index).map(|one| value(*one))).collect();
        let parameters = parameters.ok_or(SqlFailure::WrongResult(WRONG_ROWS))?;
        let (request, _) = ComStmtExecuteRequestBuilder::new(statement.number).build(&parameters);
        let mut bytes = Vec::new();
        request.serialize(&mut bytes);
        // The request begins with its command.
        self.begin(Command::COM_STMT_EXECUTE, &bytes[1..]).await
    }

    async fn prepare_text(&mut self, text: PreparedText) -> Result<Statement, SqlFailure> {
        let prepared = self.prepared(text).await;
        self.keep_buffers();
        prepared
    }

    async fn prepared(&mut self, text: PreparedText) -> Result<Statement, SqlFailure> {
        self.begin(Command::COM_STMT_PREPARE, text.sql.as_bytes()).await?;
        self.receive().await?;
        if self.buffers.packet[0] == ERROR {
            return Err(refusal(&self.buffers.packet));
        }
        let prepared: StmtPacket = parsed(&self.buffers.packet, ())?;
        // Those of columns come again with each result, and of parameters they say nothing that we do not know.
        let n_descriptions = u32::from(prepared.num_params()) + u32::from(prepared.num_columns());
        for _ in 0..n_descriptions {
            self.receive().await?;
        }
        match usize::from(prepared.num_params()) == text.order.len() {
            true => Ok(Statement { number: prepared.statement_id(), order: text.order }),
            false => Err(SqlFailure::WrongResult(WRONG_PARAMETERS)),
        }
    }
}

impl SqlConnection for Wire {
    type Statement = Statement;
    type Row = MariaDbRow;

    const READ_ONLY: &'static str = "SET SESSION TRANSACTION READ ONLY";

    // An error that the server treats as fatal, such as a full disk, ends a procedure without its handlers.
    const LEAVES_OPEN: bool = true;

    async fn prepare(&mut self, sql: &str) -> Result<Statement, SqlFailure> {
        self.prepare_text(prepared_text(sql)).await
    }

    fn parameter_name(_: usize) -> String {
        "?".to_owned()
    }

    async fn prepare_as_written(&mut self, sql: &str, n_parameters: usize) -> Result<Statement, SqlFailure> {
        self.prepare_text(PreparedText { sql: sql.to_owned(), order: (0..n_parameters).collect() }).await
    }

    async fn n_rows(
        &mut self,
        statement: &Statement,
        parameters: &[SqlValue<'_>],
    ) -> Result<u64, SqlFailure> {
        self.begin_statement(statement, parameters).await?;
        let results = Results { counts_only: true, ..Results::default() };
        let results = self.results_into::<Binary>(results).await?;
        // Those that a statement changes, or returns: none does both but one with `RETURNING`, which returns what it changes.
        Ok(results.n_rows.max(results.n_changed))
    }

    async fn rows(
        &mut self,
        statement: &Statement,
        parameters: &[SqlValue<'_>],
    ) -> Result<Vec<MariaDbRow>, SqlFailure> {
        let results = self.results_of(statement, parameters).await?;
        results.sets.into_iter().next().ok_or(SqlFailure::WrongResult(WRONG_ROWS))
    }

    async fn execute(
        &mut self,
        statement: &Statement,
        parameters: &[SqlValue<'_>],
    ) -> Result<u64, SqlFailure> {
        self.results_of(statement, parameters).await.map(|results| results.n_changed)
    }

    async fn command(&mut self, sql: &str) -> Result<(), SqlFailure> {
        self.begin(Command::COM_QUERY, sql.as_bytes()).await?;
        self.results::<Text>().await.map(drop)
    }

    async fn texts(&mut self, sql: &str) -> Result<Vec<TextRow>, SqlFailure> {
        self.begin(Command::COM_QUERY, sql.as_bytes()).await?;
        let results = self.results::<Text>().await?;
        let names: Vec<String> =
            results.columns.iter().map(|column| column.name_str().into_owned()).collect();
        let rows = results.sets.into_iter().next().unwrap_or_default();
        rows.iter().map(|row| row.texts(&names)).collect()
    }

    fn n_round_trips(&self) -> u64 {
        self.n_round_trips
    }

    fn bytes(&self) -> (u64, u64) {
        self.stream.bytes.get()
    }
}

/// Returns what a plugin sends for the password; nothing without one.
fn answer(plugin: &AuthPlugin<'_>, login: &Login, nonce: &[u8]) -> Result<Vec<u8>, SqlFailure> {
    match plugin {
        AuthPlugin::MysqlNativePassword | AuthPlugin::CachingSha2Password => {
            let password = login.password.as_ref().map(DatabasePassword::text);
            let data = plugin.gen_data(password, nonce);
            Ok(data.map(|data| data.to_vec()).unwrap_or_default())
        }
        _ => Err(SqlFailure::malformed(OTHER_AUTHENTICATION)),
    }
}

fn parsed<'a, T: MyDeserialize<'a>>(packet: &'a [u8], context: T::Ctx) -> Result<T, SqlFailure> {
    ParseBuf(packet).parse(context).map_err(|_| SqlFailure::malformed(OTHER_BYTES))
}

/// Reads the server's refusal.
fn refusal(packet: &[u8]) -> SqlFailure {
    // Before it knows the client, the server says no state.
    let read = parsed(packet, CAPABILITIES).or_else(|_| parsed(packet, CapabilityFlags::empty()));
    let Ok(ErrPacket::Error(error)) = read else { return SqlFailure::malformed(OTHER_BYTES) };
    let number = error.error_code();
    let own = OWN_STATES.iter().find(|(one, _)| *one == number).map(|(_, state)| (*state).to_owned());
    let told = || error.sql_state_ref().map(|state| state.as_str().into_owned());
    let state = own.or_else(told).unwrap_or_default();
    SqlFailure::Refused(Refusal {
        state: SqlStateCode::of(&state),
        is_fatal: FATAL.contains(&number),
        message: format!("{} ({number})", error.message_str()),
    })
}
