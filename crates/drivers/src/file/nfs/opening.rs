//! The opening of sessions over a socket.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use units::wall;

use super::client::Dialect;
use super::connection::NfsConnection;
use super::error::{Attempt, NfsSessionError};
use super::failure::{NfsFailure, Violation};
use super::rpc::ArrivingRecord;
use super::status::NfsStatus;
use super::target::{NfsTarget, NfsVersion};
use super::v3::{self, Service, V3Calls};
use super::v4::{OpeningStep, V4Opening};
use super::xdr::FileHandle;
use crate::file::frame_buffer::{BufferPool, FrameBuffer};
use crate::net::TargetEndpoint;

/// The attempts to connect, to open a session, to mount an export and to open the folder, as errors name them.
const CONNECTING: &str = "connecting";
const OPENING: &str = "opening a session";
const ASKING_PORTS: &str = "asking for the ports of services";
const MOUNTING: &str = "mounting the export";
const OPENING_FOLDER: &str = "opening the folder";

/// The port of the service that knows the ports of others.
const PORT_MAPPER_PORT: u16 = 111;

/// The number of a call that is the only one on its connection.
const CALL_NUMBER: u32 = 1;

/// The most bytes of a reply while a session is opened.
const REPLY_BYTES_MAX: usize = 8192;

/// The clients that this process has had, so that each has a name of its own.
static N_CLIENTS: AtomicU32 = AtomicU32::new(0);

/// Returns the error of a folder that cannot be opened.
pub(super) fn of_folder(target: &NfsTarget, failure: NfsFailure, path: &str) -> NfsSessionError {
    let is_denied = [NfsStatus::PERM, NfsStatus::ACCESS].iter().any(|status| failure.is_status(*status));
    if is_denied || failure.is(Violation::AuthError) {
        let status = super::failure::code_name(target.version, failure.code).unwrap_or_default().to_owned();
        return NfsSessionError::Denied { path: path.to_owned(), uid: target.owner.uid, status };
    }
    if failure.is_status(NfsStatus::NOENT) {
        return NfsSessionError::NoFolder(path.to_owned());
    }
    Attempt { doing: OPENING_FOLDER, version: target.version }.error(failure)
}

/// Opens a session for so many requests in flight; returns the handle of the root of all exports with version 4, and that of the
/// export with version 3.
pub(super) async fn open(
    endpoint: &TargetEndpoint,
    target: &Arc<NfsTarget>,
    n_slots: u32,
    pool: &BufferPool,
) -> Result<(NfsConnection, Dialect, FileHandle), NfsSessionError> {
    match target.version {
        NfsVersion::V4_1 => open_v4(endpoint, target, n_slots, pool).await,
        NfsVersion::V3 => open_v3(endpoint, target, pool).await,
    }
}

async fn open_v4(
    endpoint: &TargetEndpoint,
    target: &NfsTarget,
    n_slots: u32,
    pool: &BufferPool,
) -> Result<(NfsConnection, Dialect, FileHandle), NfsSessionError> {
    let attempt = |doing| Attempt { doing, version: target.version };
    let mut connection =
        NfsConnection::open(endpoint).await.map_err(|failure| attempt(CONNECTING).error(failure))?;
    let number = N_CLIENTS.fetch_add(1, Ordering::Relaxed);
    let started = wall().0;
    let name = format!("plimsoll {} {} {started} {number}", target.owner.machine, std::process::id());
    let mut opening = V4Opening::new(name, started.unsigned_abs(), n_slots);
    loop {
        let step = async {
            let mut frame = pool.take();
            opening.compose(&target.owner, &mut frame);
            let reply = exchange(&mut connection, frame, pool).await?;
            let step = opening.take(reply.bytes());
            pool.give(reply.buffer);
            step
        };
        match step.await.map_err(|failure| attempt(OPENING).error(failure))? {
            OpeningStep::Send => {}
            OpeningStep::Open(session, root) => return Ok((connection, Dialect::V4(session), root)),
        }
    }
}

async fn open_v3(
    endpoint: &TargetEndpoint,
    target: &NfsTarget,
    pool: &BufferPool,
) -> Result<(NfsConnection, Dialect, FileHandle), NfsSessionError> {
    let attempt = |doing| Attempt { doing, version: target.version };
    let (nfs, mount_port) = match target.mount_port {
        Some(port) => (None, port),
        None => {
            let ports = async {
                let nfs = ask_port(endpoint, Service::Nfs, target, pool).await?;
                Ok((nfs, ask_port(endpoint, Service::Mount, target, pool).await?))
            };
            let (nfs, mount) = ports.await.map_err(|failure| attempt(ASKING_PORTS).error(failure))?;
            let nfs = nfs.ok_or(NfsSessionError::VersionRefused(target.version))?;
            (Some(endpoint.at_port(nfs)), mount.ok_or(NfsSessionError::NoMountService)?)
        }
    };
    let endpoint = nfs.as_ref().unwrap_or(endpoint);
    let mounted = async {
        let mut connection = NfsConnection::open(&endpoint.at_port(mount_port)).await?;
        let mut frame = pool.take();
        let path = format!("/{}", target.path.trim_matches('/'));
        v3::compose_mount(&path, CALL_NUMBER, &target.owner, &mut frame);
        let reply = exchange(&mut connection, frame, pool).await?;
        v3::mounted(reply.bytes(), CALL_NUMBER)
    };
    let root = match mounted.await {
        Ok(root) => root,
        Err(failure) if failure.outcome == model::Outcome::Denied || failure.is_status(NfsStatus::NOENT) => {
            return Err(of_folder(target, failure, &target.path));
        }
        Err(failure) => return Err(attempt(MOUNTING).error(failure)),
    };
    let opened = async {
        let mut connection = NfsConnection::open(endpoint).await?;
        let mut calls = V3Calls::new();
        let mut frame = pool.take();
        calls.compose_limits(&root, &target.owner, &mut frame);
        let reply = exchange(&mut connection, frame, pool).await?;
        calls.take_limits(reply.bytes())?;
        pool.give(reply.buffer);
        Ok((connection, calls))
    };
    let (connection, calls) = opened.await.map_err(|failure: NfsFailure| attempt(OPENING).error(failure))?;
    Ok((connection, Dialect::V3(calls), root))
}

/// Asks the port mapper for the port of a service; `None` if there is none.
async fn ask_port(
    endpoint: &TargetEndpoint,
    service: Service,
    target: &NfsTarget,
    pool: &BufferPool,
) -> Result<Option<u16>, NfsFailure> {
    let mut connection = NfsConnection::open(&endpoint.at_port(PORT_MAPPER_PORT)).await?;
    let mut frame = pool.take();
    v3::compose_port_query(service, CALL_NUMBER, &target.owner, &mut frame);
    let reply = exchange(&mut connection, frame, pool).await?;
    v3::port(reply.bytes(), CALL_NUMBER)
}

async fn exchange(
    connection: &mut NfsConnection,
    frame: FrameBuffer,
    pool: &BufferPool,
) -> Result<ArrivingRecord, NfsFailure> {
    connection.send(frame, REPLY_BYTES_MAX, pool).await?;
    connection.receive(pool).await
}
