//! The beginning of a session: who the client is, and how it proves that.
//!
//! Source: the documentation of PostgreSQL 15, "Message Flow", "SASL Authentication".

use std::ops::ControlFlow;

use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::{
    AUTHENTICATION_TAG, BACKEND_KEY_DATA_TAG, ERROR_RESPONSE_TAG, READY_FOR_QUERY_TAG,
};
use postgres_protocol::message::frontend;

use super::failure::refusal;
use super::message::{Content, MALFORMED, transaction_state};
use super::wire::Wire;
use crate::database::failure::{CLEAR_PASSWORD, NO_PASSWORD, OTHER_AUTHENTICATION, Refusal, SqlFailure};
use crate::database::server::{DatabasePassword, DatabaseServer};
use crate::database::transaction::TransactionState;

// Codes of the server's messages about authentication.
const ACCEPTED: i32 = 0;
const CLEARTEXT_PASSWORD: i32 = 3;
const MD5_PASSWORD: i32 = 5;
const SASL: i32 = 10;
const SASL_CONTINUE: i32 = 11;
const SASL_FINAL: i32 = 12;

/// The names of the others.
const OTHERS: [(i32, &str); 4] = [(2, "Kerberos V5"), (6, "SCM credentials"), (7, "GSSAPI"), (9, "SSPI")];

fn method_name(code: i32) -> String {
    let known = OTHERS.iter().find(|(one, _)| *one == code);
    known.map_or_else(|| format!("method {code}"), |(_, name)| (*name).to_owned())
}

/// The identity of a session, by which another connection cancels its request.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SessionKey {
    pub(super) process: i32,
    pub(super) secret: i32,
}

/// The user and the database of sessions.
#[derive(Debug)]
pub(super) struct Login {
    user: String,
    database: String,
    password: Option<DatabasePassword>,
}

/// A message of the server about authentication.
struct AuthenticationStep {
    code: i32,
    data: Vec<u8>,
}

impl Login {
    /// Makes the login of a server's user.
    pub(super) fn new(server: &DatabaseServer) -> Login {
        Login {
            user: server.user.clone(),
            database: server.database.clone(),
            password: server.password.clone(),
        }
    }

    /// Begins the session; returns its key.
    pub(super) async fn introduce(&self, wire: &mut Wire) -> Result<SessionKey, SqlFailure> {
        let parameters = [
            ("client_encoding", "UTF8"),
            ("application_name", "plimsoll"),
            ("user", self.user.as_str()),
            ("database", self.database.as_str()),
        ];
        wire.send(|to| frontend::startup_message(parameters, to)).await?;
        let step = next_step(wire).await?;
        match step.code {
            ACCEPTED if step.data.is_empty() => return ready(wire).await,
            ACCEPTED => return Err(MALFORMED),
            // Others could read it on the way.
            CLEARTEXT_PASSWORD if !wire.is_private() => return Err(SqlFailure::malformed(CLEAR_PASSWORD)),
            CLEARTEXT_PASSWORD => {
                let password = self.password()?;
                wire.send(|to| frontend::password_message(password, to)).await?;
            }
            MD5_PASSWORD => {
                let salt = step.data.try_into().map_err(|_| MALFORMED)?;
                let hash = md5_hash(self.user.as_bytes(), self.password()?, salt);
                wire.send(|to| frontend::password_message(hash.as_bytes(), to)).await?;
            }
            SASL => self.prove(wire, &step.data).await?,
            code => return Err(SqlFailure::OtherAuthentication(method_name(code))),
        }
        match next_step(wire).await? {
            AuthenticationStep { code: ACCEPTED, data } if data.is_empty() => ready(wire).await,
            _ => Err(MALFORMED),
        }
    }

    fn password(&self) -> Result<&[u8], SqlFailure> {
        let password = self.password.as_ref().ok_or(SqlFailure::malformed(NO_PASSWORD))?;
        Ok(password.text().as_bytes())
    }

    /// Proves by SCRAM that it knows the password, and has the server prove it, too.
    async fn prove(&self, wire: &mut Wire, mechanisms: &[u8]) -> Result<(), SqlFailure> {
        let password = self.password()?;
        let mut offered = mechanisms.split(|byte| *byte == 0).filter(|mechanism| !mechanism.is_empty());
        if !offered.clone().any(|mechanism| mechanism == SCRAM_SHA_256.as_bytes()) {
            let first = offered.next().unwrap_or(b"SASL");
            return Err(SqlFailure::OtherAuthentication(String::from_utf8_lossy(first).into_owned()));
        }
        let mut scram = ScramSha256::new(password, ChannelBinding::unsupported());
        wire.send(|to| frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), to)).await?;
        scram.update(&sasl_data(wire, SASL_CONTINUE).await?).map_err(|_| UNPROVEN)?;
        wire.send(|to| frontend::sasl_response(scram.message(), to)).await?;
        scram.finish(&sasl_data(wire, SASL_FINAL).await?).map_err(|_| UNPROVEN)
    }
}

/// The failure of a server that does not know the password itself, or proves it in another way.
const UNPROVEN: SqlFailure = SqlFailure::malformed(OTHER_AUTHENTICATION);

/// Receives the next message about authentication.
async fn next_step(wire: &mut Wire) -> Result<AuthenticationStep, SqlFailure> {
    wire.receive(|message| match message.kind {
        AUTHENTICATION_TAG => {
            let mut content = Content(message.content);
            let code = content.int4()?;
            Ok(ControlFlow::Break(AuthenticationStep { code, data: content.0.to_vec() }))
        }
        ERROR_RESPONSE_TAG => refused(message.content),
        _ => Err(MALFORMED),
    })
    .await
}

/// Receives the data of a message about SASL.
async fn sasl_data(wire: &mut Wire, expected: i32) -> Result<Vec<u8>, SqlFailure> {
    let step = next_step(wire).await?;
    if step.code == expected { Ok(step.data) } else { Err(MALFORMED) }
}

/// Waits until the server is ready for requests.
async fn ready(wire: &mut Wire) -> Result<SessionKey, SqlFailure> {
    // A pooler may have none.
    let mut key = SessionKey::default();
    wire.receive(|message| match message.kind {
        BACKEND_KEY_DATA_TAG => {
            let mut content = Content(message.content);
            key = SessionKey { process: content.int4()?, secret: content.int4()? };
            content.end()?;
            Ok(ControlFlow::Continue(()))
        }
        READY_FOR_QUERY_TAG if transaction_state(message.content)? == TransactionState::None => {
            Ok(ControlFlow::Break(()))
        }
        ERROR_RESPONSE_TAG => refused(message.content),
        _ => Err(MALFORMED),
    })
    .await?;
    Ok(key)
}

/// Returns the refusal of a session that has not begun.
fn refused<T>(content: &[u8]) -> Result<T, SqlFailure> {
    Err(SqlFailure::Refused(Refusal { is_fatal: true, ..refusal(content)? }))
}
