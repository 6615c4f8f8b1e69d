//! The addresses and ports of servers.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, TcpListener};

use super::SutError;
use crate::recipe::{Ready, Recipe};

/// The address of a server behind an accelerator: the secondary address of this machine, as the accelerator
/// has the primary one.
const BEHIND: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// Returns the address that a server listens on. Behind an accelerator that is the secondary address, if its
/// recipe leaves the choice to Plimsoll, and a port that is known before the start.
///
/// A server that announces its address otherwise chooses its port itself; for others a free one is searched.
/// The port is checked before the start: two servers that both share their port would share the load as well.
pub(super) fn place(
    recipe: &Recipe,
    is_behind: bool,
    asked: Option<u16>,
) -> Result<(Ipv4Addr, u16), SutError> {
    if is_behind {
        let address = if recipe.names("address") { BEHIND } else { Ipv4Addr::LOCALHOST };
        return Ok((address, free_port(address, 0)?));
    }
    let port = match asked {
        None if recipe.ready == Ready::Announced => 0,
        _ => free_port(Ipv4Addr::LOCALHOST, asked.unwrap_or(0))?,
    };
    Ok((Ipv4Addr::LOCALHOST, port))
}

/// Returns a different free port for each name.
pub(super) fn free_ports(names: &[String]) -> Result<BTreeMap<String, u16>, SutError> {
    let address = Ipv4Addr::LOCALHOST;
    let failed = |source| SutError::PortTaken { address, port: 0, source };
    // All are bound at once, or the same port could be found twice.
    let listeners = names.iter().map(|_| TcpListener::bind((address, 0))).collect::<Result<Vec<_>, _>>();
    let ports = listeners.map_err(failed)?.iter().map(|one| Ok(one.local_addr()?.port())).collect::<Vec<_>>();
    names.iter().zip(ports).map(|(name, port)| Ok((name.clone(), port.map_err(failed)?))).collect()
}

/// Returns a port of an address that is free; `port` itself unless it is 0.
pub(super) fn free_port(address: Ipv4Addr, port: u16) -> Result<u16, SutError> {
    let free = TcpListener::bind((address, port)).and_then(|listener| listener.local_addr());
    free.map(|free| free.port()).map_err(|source| SutError::PortTaken { address, port, source })
}
