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
use mysql_common::proto::{Binary, MyDeserialize, MySerialize, Text};
use mysql_common::row::{Row, RowDeserializer};
use mysql_common::value::{ServerSide, Value};
use tokio::io::AsyncReadExt;

use super::buffers::{CommandBuffers, SharedBuffers};
use super::columns::KnownColumns;
use super::layout::BinaryRow;
use super::packets::{PART_BYTES_MAX, PacketFraming};
use super::row::{MariaDbRow, value};
use super::text::{PreparedText, prepared_text};
use crate::database::connection::{
    MESSAGE_BYTES_MAX, ROWS_MAX, SqlConnection, SqlValue, TextRow, column_indexes,
};
use crate::database::failure::{
    NO_TLS, NOT_MARIADB, OTHER_AUTHENTICATION, OTHER_BYTES, Refusal, SqlFailure, SqlStateCode,
    WRONG_PARAMETERS, WRONG_ROWS,
};
use crate::database::room;
use crate::database::row_scan::RowScan;
use crate::database::server::DatabasePassword;
use crate::database::socket::ServerSocket;
use crate::database::transaction::{LastReply, ReplyKind, TransactionState};
use crate::net::{ClientTls, MeteredStream};

/// The largest packet that is read and kept.
const PACKET_BYTES_MAX: usize = MESSAGE_BYTES_MAX;

/// The largest packet before the server knows the client. What another protocol begins with is a longer one, for which
/// nobody is to wait.
const LOGIN_BYTES_MAX: usize = 1 << 16;

/// The room for bytes that arrive: most replies fit into it, so that one read takes all of each.
const RECEIVED_BYTES: usize = 4096;

/// The most columns of a result, as of a table of MariaDB's.
const COLUMNS_MAX: u64 = 4096;

/// The most bytes of the descriptions of a result's columns.
const DESCRIBED_BYTES_MAX: usize = 1 << 20;

/// The most results of a command.
const RESULTS_MAX: u64 = 10_000;

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
/// The first byte of a row in the binary protocol.
const ROW: u8 = 0x00;
const MORE_DATA: u8 = 0x01;
const LOCAL_FILE: u8 = 0xFB;
const TERMINATOR: u8 = 0xFE;
const ERROR: u8 = 0xFF;

/// The second byte of a packet with more data: the server knows the password already.
const IS_KNOWN: u8 = 0x03;

/// The numbers of errors after which the server ends the session: it shuts down, or somebody has killed the connection.
const FATAL: [u16; 3] = [1053, 1927, 4031];

/// The states of errors of which the server says none, or one that does not tell.
const OWN_STATES: [(u16, &str); 11] = [
    // Its connections are all taken, which it says before it knows the client, or those of the user.
    (1040, "08004"),
    (1203, "08004"),
    (1226, "08004"),
    // There is no such database, the user may not use it, or may not come from this host.
    (1049, "3D000"),
    (1044, "28000"),
    (1130, "28000"),
    // Another transaction did not give up a lock in time.
    (1205, "55P03"),
    // Where `innodb_snapshot_isolation` is on, as it is from 11.6 on, another transaction has changed what this one has read,
    // so that it is to be begun again.
    (1020, "40001"),
    // The disk is full, which it says of a table, too.
    (1021, "53100"),
    (1114, "53100"),
    // An option of the server forbids the statement: of ours, those that write where it is read only.
    (1290, "25006"),
];

/// The state of all other errors, which the server has for most of its own.
const GENERAL_ERROR: &str = "HY000";

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
    framing: PacketFraming,
    /// The largest packet that is read.
    packet_bytes_max: usize,
    /// Those of the command that is under way; without memory between commands.
    buffers: CommandBuffers,
    shared: Rc<SharedState>,
    /// The server's number of the session.
    session: u32,
    n_round_trips: u64,
    last_reply: LastReply,
}

/// A prepared statement.
pub(crate) struct Statement {
    number: u32,
    /// For each parameter in the text, its index among those of the statement.
    order: Vec<usize>,
    /// The columns whose values are looked at, by their indexes.
    looked_at: Box<[usize]>,
}

/// The use of the rows of a result.
enum RowUse<'a> {
    /// They are kept.
    Kept,
    /// They are checked and counted.
    Counted,
    /// The values of some columns are taken as texts.
    LookedAt(&'a [usize], &'a mut dyn FnMut(usize, Option<&[u8]>)),
}

/// The results of a command.
#[derive(Default)]
pub(crate) struct Results {
    /// The number of results, with columns and without.
    n_results: u64,
    /// The result sets with columns.
    pub(crate) sets: Vec<Vec<MariaDbRow>>,
    /// The columns of the last of them.
    columns: Arc<[Column]>,
    /// The number of rows of all sets.
    n_rows: u64,
    /// The bytes of those that are kept.
    n_bytes: usize,
    /// The number of rows that were changed.
    n_changed: u64,
}

impl Results {
    /// Returns the number of rows that a statement changes, or returns: none does both but one with `RETURNING`, which returns
    /// what it changes.
    fn rows_of_statement(&self) -> u64 {
        self.n_rows.max(self.n_changed)
    }
}

/// The form of rows in results.
trait RowForm {
    /// Whether their values are binary.
    const IS_BINARY: bool;
}

impl RowForm for Binary {
    const IS_BINARY: bool = true;
}

impl RowForm for Text {
    const IS_BINARY: bool = false;
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
        let wire = Wire {
            stream,
            framing: PacketFraming::default(),
            packet_bytes_max: LOGIN_BYTES_MAX,
            buffers: shared.buffers.take(),
            shared: Rc::clone(shared),
            session: 0,
            n_round_trips: 0,
            last_reply: LastReply::default(),
        };
        let mut wire = wire.log_in(server.tls.as_ref(), login, database).await?;
        if !wire.commits_by_itself()? {
            wire.command("SET autocommit = 1").await?;
        }
        wire.keep_buffers();
        Ok(wire)
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
                    self.packet_bytes_max = PACKET_BYTES_MAX;
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
                [MORE_DATA, ..] => {
                    return Err(SqlFailure::OtherAuthentication("the password in clear".to_owned()));
                }
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
    async fn send(&mut self, packet: &[u8]) -> Result<(), SqlFailure> {
        self.buffers.sent.clear();
        self.framing.write(packet, &mut self.buffers.sent);
        self.stream.send(&self.buffers.sent).await.map_err(SqlFailure::from)
    }

    /// Returns whether the server commits each statement by itself, as the packet says by which it has accepted the client.
    fn commits_by_itself(&self) -> Result<bool, SqlFailure> {
        let status = self.done::<CommonOkPacket>()?.status_flags();
        if status.intersects(StatusFlags::SERVER_STATUS_IN_TRANS | StatusFlags::SERVER_MORE_RESULTS_EXISTS) {
            Err(SqlFailure::malformed(OTHER_BYTES))
        } else {
            Ok(status.contains(StatusFlags::SERVER_STATUS_AUTOCOMMIT))
        }
    }

    /// Sends a command.
    async fn begin(&mut self, command: Command, body: &[u8]) -> Result<(), SqlFailure> {
        self.n_round_trips += 1;
        self.framing.reset();
        self.take_buffers();
        let head = [command as u8];
        let packet = Buf::chain(&head[..], body);
        self.buffers.sent.clear();
        self.framing.write(packet, &mut self.buffers.sent);
        self.stream.send(&self.buffers.sent).await.map_err(SqlFailure::from)
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

    /// Receives a packet, and keeps it.
    async fn receive(&mut self) -> Result<(), SqlFailure> {
        self.receive_row(None).await.map(drop)
    }

    /// Receives a packet. A row is checked by the scan where there is one, and then not kept; returns whether it was one.
    async fn receive_row(&mut self, mut scan: Option<RowScan<BinaryRow>>) -> Result<bool, SqlFailure> {
        let length_max = self.packet_bytes_max;
        self.buffers.packet.clear();
        let mut is_row = false;
        loop {
            let CommandBuffers { received, packet, .. } = &mut self.buffers;
            let is_whole = self.framing.take(received, |bytes| match &mut scan {
                Some(scan) if is_row || (packet.is_empty() && bytes.first() == Some(&ROW)) => {
                    is_row = true;
                    scan.feed(bytes)
                }
                _ if length_max < packet.len() + bytes.len() => Err(SqlFailure::malformed(OTHER_BYTES)),
                _ => {
                    packet.extend_from_slice(bytes);
                    Ok(())
                }
            })?;
            match (is_whole, scan.take_if(|_| is_whole && is_row)) {
                (true, Some(scan)) => return scan.end().map(|()| true),
                (true, None) if packet.is_empty() => return Err(SqlFailure::malformed(OTHER_BYTES)),
                (true, None) => return Ok(false),
                (false, _) => {}
            }
            received.reserve(RECEIVED_BYTES);
            if self.stream.read_buf(&mut self.buffers.received).await.map_err(SqlFailure::of_io)? == 0 {
                let is_between = self.buffers.received.is_empty() && !self.framing.is_within();
                return Err(SqlFailure::ended(is_between));
            }
        }
    }

    /// Receives the results of a command whose rows have this form, and keeps them.
    async fn results<F: RowForm>(&mut self) -> Result<Results, SqlFailure>
    where
        RowDeserializer<ServerSide, F>: for<'a> MyDeserialize<'a, Ctx = Arc<[Column]>>,
    {
        self.results_for::<F>(RowUse::Kept).await
    }

    /// Receives the results of a command for a use of their rows.
    async fn results_for<F: RowForm>(&mut self, rows: RowUse<'_>) -> Result<Results, SqlFailure>
    where
        RowDeserializer<ServerSide, F>: for<'a> MyDeserialize<'a, Ctx = Arc<[Column]>>,
    {
        let results = self.all_results::<F>(rows).await;
        self.keep_buffers();
        results
    }

    async fn all_results<F: RowForm>(&mut self, mut rows: RowUse<'_>) -> Result<Results, SqlFailure>
    where
        RowDeserializer<ServerSide, F>: for<'a> MyDeserialize<'a, Ctx = Arc<[Column]>>,
    {
        let mut results = Results::default();
        loop {
            self.receive().await?;
            results.n_results += 1;
            if RESULTS_MAX < results.n_results {
                return Err(SqlFailure::malformed(OTHER_BYTES));
            }
            let status = match self.buffers.packet[0] {
                OK => {
                    let done = self.done::<CommonOkPacket>()?;
                    results.n_changed = results.n_changed.saturating_add(done.affected_rows());
                    done.status_flags()
                }
                ERROR => return Err(refusal(&self.buffers.packet)),
                // No statement of these reads a file.
                LOCAL_FILE => return Err(SqlFailure::malformed(OTHER_BYTES)),
                _ => self.rows::<F>(&mut results, &mut rows).await?,
            };
            if !status.contains(StatusFlags::SERVER_MORE_RESULTS_EXISTS) {
                self.last_reply.note(kind_of(&results), transaction_of(status));
                return Ok(results);
            }
        }
    }

    /// Receives columns and rows, of which the number of columns has arrived. Returns the status at the end.
    async fn rows<F: RowForm>(
        &mut self,
        results: &mut Results,
        rows: &mut RowUse<'_>,
    ) -> Result<StatusFlags, SqlFailure>
    where
        RowDeserializer<ServerSide, F>: for<'a> MyDeserialize<'a, Ctx = Arc<[Column]>>,
    {
        let n_columns = *parsed::<RawInt<LenEnc>>(&self.buffers.packet, ())?;
        let columns = self.columns(n_columns).await?;
        let mut kept = Vec::new();
        loop {
            let scan = matches!(rows, RowUse::Counted).then(|| RowScan::new(BinaryRow::of(&columns)));
            if self.receive_row(scan).await? {
                results.n_rows += 1;
                continue;
            }
            let packet = &self.buffers.packet[..];
            match packet[0] {
                ERROR => return Err(refusal(packet)),
                // A row of the text protocol can begin with a text of 16 MiB or more.
                TERMINATOR if F::IS_BINARY || packet.len() < PART_BYTES_MAX => {
                    let status = self.done::<ResultSetTerminator>()?.status_flags();
                    results.sets.push(kept);
                    results.columns = columns;
                    return Ok(status);
                }
                _ => {}
            }
            if F::IS_BINARY {
                let mut scan = RowScan::new(BinaryRow::of(&columns));
                scan.feed(packet)?;
                scan.end()?;
            }
            results.n_rows += 1;
            let row: RowDeserializer<ServerSide, F> = parsed(packet, Arc::clone(&columns))?;
            let row = MariaDbRow::of(Row::from(row));
            match rows {
                RowUse::LookedAt(columns, take) => columns
                    .iter()
                    .enumerate()
                    .for_each(|(index, column)| take(index, row.printed(*column).as_deref())),
                RowUse::Kept | RowUse::Counted => {
                    results.n_bytes += packet.len();
                    if kept.len() == ROWS_MAX || MESSAGE_BYTES_MAX < results.n_bytes {
                        return Err(SqlFailure::malformed(OTHER_BYTES));
                    }
                    kept.push(row);
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

    async fn prepare_text(
        &mut self,
        text: PreparedText,
        looked_at: &[&str],
    ) -> Result<Statement, SqlFailure> {
        let prepared = self.prepared(text, looked_at).await;
        self.keep_buffers();
        prepared
    }

    async fn prepared(&mut self, text: PreparedText, looked_at: &[&str]) -> Result<Statement, SqlFailure> {
        self.begin(Command::COM_STMT_PREPARE, text.sql.as_bytes()).await?;
        self.receive().await?;
        if self.buffers.packet[0] == ERROR {
            return Err(refusal(&self.buffers.packet));
        }
        let prepared: StmtPacket = parsed(&self.buffers.packet, ())?;
        // Of parameters they say nothing that we do not know.
        for _ in 0..prepared.num_params() {
            self.receive().await?;
        }
        // Those of columns come again with each result.
        let mut columns = Vec::new();
        for _ in 0..prepared.num_columns() {
            self.receive().await?;
            if !looked_at.is_empty() {
                let column: Column = parsed(&self.buffers.packet, ())?;
                columns.push(column.name_str().into_owned());
            }
        }
        if usize::from(prepared.num_params()) != text.order.len() {
            return Err(SqlFailure::WrongResult(WRONG_PARAMETERS));
        }
        let names: Vec<&str> = columns.iter().map(String::as_str).collect();
        let looked_at = column_indexes(&names, looked_at)?;
        Ok(Statement { number: prepared.statement_id(), order: text.order, looked_at })
    }
}

impl SqlConnection for Wire {
    type Statement = Statement;
    type Row = MariaDbRow;

    const READ_ONLY: &'static str = "SET SESSION TRANSACTION READ ONLY";

    const CONNECTIONS: &'static str = room::OF_MARIADB;

    fn last_reply(&mut self) -> &mut LastReply {
        &mut self.last_reply
    }

    // An error that the server treats as fatal, such as a full disk, ends a procedure without its handlers, and errors do not
    // say whether a transaction is open.
    fn may_be_open(&self) -> bool {
        true
    }

    async fn prepare(&mut self, sql: &str) -> Result<Statement, SqlFailure> {
        self.prepare_text(prepared_text(sql), &[]).await
    }

    fn parameter_name(_: usize) -> String {
        "?".to_owned()
    }

    async fn prepare_as_written(
        &mut self,
        sql: &str,
        n_parameters: usize,
        looked_at: &[&str],
    ) -> Result<Statement, SqlFailure> {
        let text = PreparedText { sql: sql.to_owned(), order: (0..n_parameters).collect() };
        self.prepare_text(text, looked_at).await
    }

    async fn n_rows(
        &mut self,
        statement: &Statement,
        parameters: &[SqlValue<'_>],
    ) -> Result<u64, SqlFailure> {
        self.begin_statement(statement, parameters).await?;
        self.results_for::<Binary>(RowUse::Counted).await.map(|results| results.rows_of_statement())
    }

    async fn texts_of(
        &mut self,
        statement: &Statement,
        parameters: &[SqlValue<'_>],
        take: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<u64, SqlFailure> {
        self.begin_statement(statement, parameters).await?;
        let rows = RowUse::LookedAt(&statement.looked_at, take);
        self.results_for::<Binary>(rows).await.map(|results| results.rows_of_statement())
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
        other => {
            let name = String::from_utf8_lossy(other.as_bytes()).into_owned();
            Err(SqlFailure::OtherAuthentication(name))
        }
    }
}

fn parsed<'a, T: MyDeserialize<'a>>(packet: &'a [u8], context: T::Ctx) -> Result<T, SqlFailure> {
    ParseBuf(packet).parse(context).map_err(|_| SqlFailure::malformed(OTHER_BYTES))
}

/// Returns the kind of a reply with these results: a commit has one, without columns.
fn kind_of(results: &Results) -> ReplyKind {
    if results.n_results == 1 && results.sets.is_empty() { ReplyKind::Commit } else { ReplyKind::Other }
}

/// Returns the state of the transaction by the status at the end of a reply.
fn transaction_of(status: StatusFlags) -> TransactionState {
    if status.contains(StatusFlags::SERVER_STATUS_IN_TRANS) {
        TransactionState::Open
    } else {
        TransactionState::None
    }
}

/// Reads the server's refusal.
fn refusal(packet: &[u8]) -> SqlFailure {
    // Before it knows the client, the server says no state.
    let read = parsed(packet, CAPABILITIES).or_else(|_| parsed(packet, CapabilityFlags::empty()));
    let Ok(ErrPacket::Error(error)) = read else { return SqlFailure::malformed(OTHER_BYTES) };
    let number = error.error_code();
    let own = OWN_STATES.iter().find(|(one, _)| *one == number).map(|(_, state)| (*state).to_owned());
    let told = || error.sql_state_ref().map(|state| state.as_str().into_owned());
    let state = own.or_else(told).unwrap_or_else(|| GENERAL_ERROR.to_owned());
    SqlFailure::Refused(Refusal {
        state: SqlStateCode::of(&state),
        is_fatal: FATAL.contains(&number),
        message: format!("{} ({number})", error.message_str()),
    })
}
