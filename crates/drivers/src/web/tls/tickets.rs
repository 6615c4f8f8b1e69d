//! The sessions that one user can resume.
//!
//! The store of rustls serves a whole program: it keeps 8 tickets per server name behind a lock that all
//! threads share, so of a hundred users that connect at once most would silently make full handshakes. Here
//! each user has a store of its own for one server; its lock is never contended.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustls::NamedGroup;
use rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::pki_types::ServerName;

/// The most tickets that are kept: servers send two per connection by default, and a user needs one for the
/// next.
const TICKETS_MAX: usize = 4;

/// The sessions of one user with one server.
#[derive(Default)]
pub(super) struct TicketStore {
    sessions: Mutex<Sessions>,
}

#[derive(Default)]
struct Sessions {
    group: Option<NamedGroup>,
    tls12: Option<Tls12ClientSessionValue>,
    /// Newest last.
    tls13: VecDeque<Tls13ClientSessionValue>,
}

impl fmt::Debug for TicketStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TicketStore").finish_non_exhaustive()
    }
}

impl TicketStore {
    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientSessionStore for TicketStore {
    fn set_kx_hint(&self, _: ServerName<'static>, group: NamedGroup) {
        self.sessions().group = Some(group);
    }

    fn kx_hint(&self, _: &ServerName<'_>) -> Option<NamedGroup> {
        self.sessions().group
    }

    fn set_tls12_session(&self, _: ServerName<'static>, value: Tls12ClientSessionValue) {
        self.sessions().tls12 = Some(value);
    }

    fn tls12_session(&self, _: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.sessions().tls12.clone()
    }

    fn remove_tls12_session(&self, _: &ServerName<'static>) {
        self.sessions().tls12 = None;
    }

    fn insert_tls13_ticket(&self, _: ServerName<'static>, value: Tls13ClientSessionValue) {
        let mut sessions = self.sessions();
        if sessions.tls13.len() == TICKETS_MAX {
            sessions.tls13.pop_front();
        }
        sessions.tls13.push_back(value);
    }

    fn take_tls13_ticket(&self, _: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        self.sessions().tls13.pop_back()
    }
}
