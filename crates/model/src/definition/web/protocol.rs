//! Reading `[protocol]`: HTTP version, encryption, and the lifetime of connections.

use languages::reader::{TomlTable, choice, whole_u32};
use toml::de::DeValue;

use crate::{Connection, Tls, WebProtocol};

/// The most users that may share one HTTP/2 connection.
pub const STREAMS_MAX: u32 = 1000;

/// Reads the protocol, its time limit excepted.
pub(super) fn read_protocol(mut table: TomlTable) -> Option<WebProtocol> {
    let http = table.required("http", choice);
    let tls = table.optional("tls", choice).unwrap_or(Tls::Off);
    let streams = table.optional("streams", whole_u32(1..=STREAMS_MAX)).unwrap_or(1);
    let connection = match table.value("connection") {
        Some(DeValue::Table(_)) => table.required_table("connection").and_then(read_connection),
        _ => table.required("connection", choice),
    };
    table.finish();
    Some(WebProtocol { http: http?, tls, connection: connection?, streams })
}

/// Reads the long form, `{ keep-alive = { requests-max = 100 } }`.
fn read_connection(mut table: TomlTable) -> Option<Connection> {
    let mut keep_alive = table.required_table("keep-alive");
    table.finish();
    let requests_max = keep_alive.as_mut()?.optional("requests-max", whole_u32(1..=u32::MAX));
    keep_alive?.finish();
    Some(Connection::KeepAlive { requests_max })
}
