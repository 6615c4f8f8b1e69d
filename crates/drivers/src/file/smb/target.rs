//! The share that a run works in, and how sessions with it are opened.

use std::fmt;
use std::net::SocketAddr;

use thiserror::Error;

/// A version of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SmbDialect {
    /// SMB 2.1, of Windows 7: signatures, no encryption.
    V2_1,
    /// SMB 3.1.1, of Windows 10.
    V3_1_1,
}

impl SmbDialect {
    /// All dialects.
    pub const ALL: [SmbDialect; 2] = [SmbDialect::V2_1, SmbDialect::V3_1_1];

    /// Returns its number, as settings and reports have it: `3.1.1`.
    pub fn name(self) -> &'static str {
        match self {
            SmbDialect::V2_1 => "2.1",
            SmbDialect::V3_1_1 => "3.1.1",
        }
    }
}

impl fmt::Display for SmbDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SMB {}", self.name())
    }
}

/// The dialect of sessions, and how their messages are protected. Encrypted messages are not signed besides, and only 3.1.1
/// encrypts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SmbOptions {
    dialect: SmbDialect,
    signing: bool,
    encryption: bool,
}

/// Options that contradict each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("SMB 2.1 has no encryption\nhint: use dialect 3.1.1, or no encryption")]
pub struct SmbOptionsError;

impl SmbOptions {
    /// Makes options.
    ///
    /// # Errors
    /// The dialect cannot encrypt.
    pub fn new(dialect: SmbDialect, signing: bool, encryption: bool) -> Result<SmbOptions, SmbOptionsError> {
        if encryption && dialect == SmbDialect::V2_1 {
            return Err(SmbOptionsError);
        }
        Ok(SmbOptions { dialect, signing, encryption })
    }

    /// Returns the only dialect that is offered.
    pub fn dialect(&self) -> SmbDialect {
        self.dialect
    }

    /// Returns whether messages are signed, and the signatures of replies verified.
    pub fn signs(&self) -> bool {
        self.signing && !self.encryption
    }

    /// Returns whether messages are encrypted.
    pub fn encrypts(&self) -> bool {
        self.encryption
    }
}

/// An account of a server.
#[derive(Clone, PartialEq, Eq)]
pub struct SmbAccount {
    /// The user.
    pub user: String,
    /// The domain; empty for an account of the server itself.
    pub domain: String,
    /// The password, which is never shown.
    pub password: String,
}

impl fmt::Debug for SmbAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SmbAccount").field("user", &self.user).field("domain", &self.domain).finish()
    }
}

/// A share of a server, and a folder in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmbTarget {
    /// The address, which the target policy has allowed.
    pub address: SocketAddr,
    /// The server as named, which is part of the name of the share.
    pub host: String,
    /// The share.
    pub share: String,
    /// The folder in the share, with `/` between its parts; empty for the share itself.
    pub folder: String,
    /// The account.
    pub account: SmbAccount,
    /// The options of sessions.
    pub options: SmbOptions,
}

impl SmbTarget {
    /// Returns the name of the share as servers read it: `\\HOST\SHARE`.
    pub(super) fn unc(&self) -> String {
        format!(r"\\{}\{}", self.host, self.share)
    }

    /// Returns the folder as servers read it.
    pub(super) fn folder_path(&self) -> String {
        self.folder.trim_matches('/').replace('/', "\\")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_contradict_each_other_are_refused() {
        assert_eq!(SmbOptions::new(SmbDialect::V2_1, false, true), Err(SmbOptionsError));
        for dialect in SmbDialect::ALL {
            let signed = SmbOptions::new(dialect, true, false).unwrap();
            assert!(signed.signs() && !signed.encrypts());
        }
        let encrypted = SmbOptions::new(SmbDialect::V3_1_1, true, true).unwrap();
        assert!(encrypted.encrypts() && !encrypted.signs());
    }

    #[test]
    fn a_password_is_never_shown() {
        let account = SmbAccount { user: "u".to_owned(), domain: String::new(), password: "pw-7".to_owned() };
        assert!(!format!("{account:?}").contains("pw-7"));
    }
}
