//! The services beside version 3: the one that mounts exports, and the one that knows the ports of others.
//!
//! Source: RFC 1813 appendix I; RFC 1833 section 3.

use super::PROGRAM;
use crate::file::frame_buffer::FrameBuffer;
use crate::file::nfs::failure::{NfsFailure, Violation};
use crate::file::nfs::rpc::{self, Program};
use crate::file::nfs::status::NfsStatus;
use crate::file::nfs::target::NfsOwner;
use crate::file::nfs::xdr::FileHandle;

const MOUNT: Program = Program { number: 100_005, version: 3 };
const PORT_MAPPER: Program = Program { number: 100_000, version: 2 };

/// The procedures that mount an export, and that find the port of a program.
const MNT: u32 = 1;
const GET_PORT: u32 = 3;

/// The protocol of which the port is wanted.
const TCP: u32 = 6;

/// A service whose port can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::file::nfs) enum Service {
    Nfs,
    Mount,
}

/// Writes the call that asks for the port of a service.
pub(in crate::file::nfs) fn compose_port_query(
    service: Service,
    call_number: u32,
    owner: &NfsOwner,
    frame: &mut FrameBuffer,
) {
    let program = match service {
        Service::Nfs => PROGRAM,
        Service::Mount => MOUNT,
    };
    rpc::begin_call(frame, call_number, PORT_MAPPER, GET_PORT, owner);
    frame.numbers(&[program.number, program.version, TCP, 0]);
}

/// Reads the port of a service; `None` if there is none.
///
/// # Errors
/// It is no reply to the call, or the server refused it.
pub(in crate::file::nfs) fn port(bytes: &[u8], call_number: u32) -> Result<Option<u16>, NfsFailure> {
    let port = rpc::reply(bytes, call_number)?.number()?;
    match u16::try_from(port) {
        Ok(0) => Ok(None),
        Ok(port) => Ok(Some(port)),
        Err(_) => Err(NfsFailure::violation(Violation::LyingLength, port.into())),
    }
}

/// Writes the call that mounts an export.
pub(in crate::file::nfs) fn compose_mount(
    path: &str,
    call_number: u32,
    owner: &NfsOwner,
    frame: &mut FrameBuffer,
) {
    rpc::begin_call(frame, call_number, MOUNT, MNT, owner);
    frame.opaque(path.as_bytes());
}

/// Reads the handle of a mounted export.
///
/// # Errors
/// The server refused, or it is no reply to the call.
pub(in crate::file::nfs) fn mounted(bytes: &[u8], call_number: u32) -> Result<FileHandle, NfsFailure> {
    let mut reader = rpc::reply(bytes, call_number)?;
    match NfsStatus(reader.number()?) {
        NfsStatus::OK => reader.handle(),
        status => Err(NfsFailure::status(status)),
    }
}
