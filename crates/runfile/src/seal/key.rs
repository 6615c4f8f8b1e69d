//! The keys of seals: Ed25519 (RFC 8032), written in hexadecimal digits after a prefix for their kind.

use std::fmt;
use std::str::FromStr;

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use thiserror::Error;

use super::hex::{from_hex, to_hex};

/// The prefix of a public key.
const PUBLIC: &str = "ed25519:";

/// The prefix of a secret key, in its file.
const SECRET: &str = "ed25519-secret:";

/// A key for making seals. Its secret is shown only by [`SealKey::secret_text`].
#[derive(Debug)]
pub struct SealKey(SigningKey);

impl SealKey {
    /// Makes a key of 32 secret random bytes.
    pub fn new(secret: [u8; 32]) -> SealKey {
        SealKey(SigningKey::from_bytes(&secret))
    }

    /// Reads the text of a key file.
    ///
    /// # Errors
    ///
    /// The text is not that of a key file.
    pub fn parse(text: &str) -> Result<SealKey, KeyError> {
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let secret = lines.next().and_then(|line| from_hex(line.strip_prefix(SECRET)?));
        match (secret, lines.next()) {
            (Some(secret), None) => Ok(SealKey::new(secret)),
            _ => Err(KeyError::Secret),
        }
    }

    /// Returns the text of a key file, with the secret in it.
    pub fn secret_text(&self) -> String {
        let public = self.public();
        let secret = to_hex(self.0.as_bytes());
        format!(
            "# A key that Plimsoll seals run files with. Whoever has this file can seal in its owner's name.\n\
             # Its public half, for `plimsoll audit --signed-by`: {public}\n{SECRET}{secret}\n"
        )
    }

    /// Returns the public half, by which seals are checked.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// Signs a message.
    pub(super) fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.0.sign(message).to_bytes()
    }
}

/// The public half of a key. It is short enough to be its own fingerprint: `ed25519:` and 64 digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl PublicKey {
    /// Returns the key's 32 bytes.
    pub(super) fn bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    /// Returns whether a message was signed with this key. Weak keys and non-canonical signatures are refused: their
    /// maker could fit one to several messages.
    pub(super) fn signed(&self, message: &[u8], signature: &[u8; 64]) -> bool {
        self.0.verify_strict(message, &Signature::from_bytes(signature)).is_ok()
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PUBLIC}{}", to_hex(self.bytes()))
    }
}

impl FromStr for PublicKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<PublicKey, KeyError> {
        let bytes = text.trim().strip_prefix(PUBLIC).and_then(from_hex);
        let key = bytes.and_then(|bytes| VerifyingKey::from_bytes(&bytes).ok());
        key.map(PublicKey).ok_or(KeyError::Public)
    }
}

/// A reason why a text is not a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum KeyError {
    /// A text that is not a public key.
    #[error("expected a public key, `ed25519:` and 64 hexadecimal digits")]
    Public,
    /// A text that is not a key file. The error does not repeat it: it may be a secret.
    #[error("expected a key that `plimsoll seal --new-key` made")]
    Secret,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first test of RFC 8032, section 7.1: an empty message.
    #[test]
    fn signatures_are_those_of_the_standard() {
        let secret = from_hex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60").unwrap();
        let key = SealKey::new(secret);
        let public = "ed25519:d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
        assert_eq!(key.public().to_string(), public);
        assert_eq!(public.parse(), Ok(key.public()));
        let signature = "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b\
                         d25bf5f0595bbe24655141438e7a100b";
        assert_eq!(to_hex(&key.sign(b"")), signature);
        assert!(key.public().signed(b"", &from_hex(signature).unwrap()));
        assert!(!key.public().signed(b"x", &from_hex(signature).unwrap()));
    }

    #[test]
    fn a_key_file_gives_back_its_key() {
        let key = SealKey::new([7; 32]);
        let text = key.secret_text();
        assert_eq!(SealKey::parse(&text).unwrap().public(), key.public());
        for wrong in ["", "# nothing", &text.replace("secret:07", "secret:0"), &format!("{text}{text}")] {
            assert_eq!(SealKey::parse(wrong).unwrap_err(), KeyError::Secret, "{wrong}");
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        let secret = "0707070707070707";
        let key = SealKey::new([7; 32]);
        assert!(key.secret_text().contains(secret));
        assert!(!format!("{key:?}{}", key.public()).contains(secret));
    }

    #[test]
    fn bytes_that_are_no_point_of_the_curve_are_no_key() {
        let hex = |digits: &str| format!("ed25519:{}", digits.repeat(32));
        for wrong in [String::new(), hex("0"), hex("xx"), hex("02"), hex("d7").to_uppercase()] {
            assert_eq!(wrong.parse::<PublicKey>(), Err(KeyError::Public), "{wrong}");
        }
    }

    /// A key of small order accepts one signature for many messages.
    #[test]
    fn weak_keys_sign_nothing() {
        let mut identity = [0; 32];
        identity[0] = 1;
        let weak: PublicKey = format!("ed25519:{}", to_hex(&identity)).parse().unwrap();
        let mut signature = [0; 64];
        signature[0] = 1;
        assert!(!weak.signed(b"anything", &signature));
    }
}
