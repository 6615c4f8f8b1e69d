//! The change to TLS in the middle of a connection.

use thiserror::Error;

/// Bytes behind the reply to STARTTLS that came without encryption: someone on the way could have put them there, to be
/// taken for replies of the encrypted session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{0} unencrypted bytes follow the reply to STARTTLS, where the handshake must begin")]
pub struct PlaintextBehindUpgrade(pub usize);

/// Checks that nothing was read behind the reply to STARTTLS: `n_unread` is the number of bytes that are left of what was
/// read, of which no reader has taken any.
///
/// # Errors
///
/// When there are any.
pub fn check_upgrade(n_unread: usize) -> Result<(), PlaintextBehindUpgrade> {
    if n_unread == 0 { Ok(()) } else { Err(PlaintextBehindUpgrade(n_unread)) }
}
