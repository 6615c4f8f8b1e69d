//! Signatures and encryption of messages, in place.
//!
//! HMAC-SHA256 and AES-GCM are those of the TLS library, which is linked anyway: the crate `smb2` copies each message and
//! expands the key for each. AES-GMAC is that of `aes-gcm`, which `smb2` brings along: of 60 KiB it takes 16 µs, and that of
//! the TLS library, which is not made for much data without encryption, 43 µs. AES-CMAC, for servers that have no GMAC, is
//! that of `smb2`.

use std::fmt;

use aes_gcm::{AeadInOut, Aes128Gcm, KeyInit};
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, Tag, UnboundKey};
use ring::hmac;
use smb2::crypto::signing::{SigningAlgorithm, sign_message, verify_signature};
use smb2::msg::transform::TRANSFORM_PROTOCOL_ID;

use super::failure::{SmbFailure, Violation};
use super::wire::{HEADER_BYTES, SIGNATURE};

/// Length of a key for signing or encryption.
pub(super) const KEY_BYTES: usize = 16;

/// Length of what stands before an encrypted message.
pub(super) const TRANSFORM_BYTES: usize = 52;

/// The parts of it: the tag, the nonce, the length of the message, flags, and the session. All behind the tag is
/// authenticated.
const TAG: std::ops::Range<usize> = 4..20;
const NONCE_BYTES: usize = 12;
const LENGTH: std::ops::Range<usize> = 36..40;
const FLAGS: std::ops::Range<usize> = 42..44;
const SESSION: std::ops::Range<usize> = 44..52;

/// The flag of an encrypted message.
const ENCRYPTED: u16 = 1;

/// A key that signs messages, of an algorithm.
pub(super) enum SigningKey {
    /// HMAC-SHA256, of SMB 2.1.
    Hmac(Box<hmac::Key>),
    /// AES-128-GMAC.
    Gmac(Box<Aes128Gcm>),
    /// AES-128-CMAC.
    Cmac([u8; KEY_BYTES]),
}

impl fmt::Debug for SigningKey {
    /// Writes the algorithm, and no key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.algorithm())
    }
}

/// The side that has signed a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signer {
    Client,
    Server,
}

impl SigningKey {
    /// Makes a key for HMAC-SHA256.
    pub(super) fn hmac(key: &[u8; KEY_BYTES]) -> SigningKey {
        SigningKey::Hmac(Box::new(hmac::Key::new(hmac::HMAC_SHA256, key)))
    }

    /// Makes a key for AES-128-GMAC.
    pub(super) fn gmac(key: &[u8; KEY_BYTES]) -> SigningKey {
        SigningKey::Gmac(Box::new(Aes128Gcm::new(key.into())))
    }

    /// Returns the name of the algorithm.
    pub(super) fn algorithm(&self) -> &'static str {
        match self {
            SigningKey::Hmac(_) => "HMAC-SHA256",
            SigningKey::Gmac(_) => "AES-128-GMAC",
            SigningKey::Cmac(_) => "AES-128-CMAC",
        }
    }

    /// Signs a message, which has at least a header, with its number.
    pub(super) fn sign(&self, message: &mut [u8], number: u64, signer: Signer) {
        let signature = self.signature(message, number, signer);
        message[SIGNATURE].copy_from_slice(&signature);
    }

    /// Returns whether the server has signed a message with this number. Its signature is gone then.
    pub(super) fn has_signed(&self, message: &mut [u8], number: u64) -> bool {
        if let SigningKey::Cmac(key) = self {
            return verify_signature(message, key, SigningAlgorithm::AesCmac, number, false).is_ok();
        }
        let mut found = [0; 16];
        found.copy_from_slice(&message[SIGNATURE]);
        self.signature(message, number, Signer::Server) == found
    }

    /// Returns the signature of a message, in which there are zeros in its place then.
    fn signature(&self, message: &mut [u8], number: u64, signer: Signer) -> [u8; 16] {
        assert!(HEADER_BYTES <= message.len(), "a message without a header");
        message[SIGNATURE].fill(0);
        let mut signature = [0; 16];
        match self {
            SigningKey::Hmac(key) => {
                signature.copy_from_slice(&hmac::sign(key, message).as_ref()[..16]);
            }
            SigningKey::Gmac(key) => {
                let mut nonce = [0; NONCE_BYTES];
                nonce[..8].copy_from_slice(&number.to_le_bytes());
                nonce[8] = u8::from(signer == Signer::Server);
                // It fails for messages of many gigabytes only.
                let nothing = <&mut [u8]>::default();
                if let Ok(tag) = key.encrypt_inout_detached(&nonce.into(), message, nothing.into()) {
                    signature.copy_from_slice(&tag);
                }
            }
            SigningKey::Cmac(key) => {
                // It fails for messages without a header only. A role is not part of it.
                if sign_message(message, key, SigningAlgorithm::AesCmac, number, false).is_ok() {
                    signature.copy_from_slice(&message[SIGNATURE]);
                }
            }
        }
        signature
    }
}

fn cipher(key: &[u8; KEY_BYTES]) -> LessSafeKey {
    LessSafeKey::new(UnboundKey::new(&AES_128_GCM, key).expect("the key has the length of AES-128"))
}

/// The keys of a session whose messages are encrypted, by AES-128-GCM.
pub(super) struct Ciphers {
    sending: LessSafeKey,
    receiving: LessSafeKey,
    session_id: u64,
    /// The number of messages that were encrypted, which makes their nonces.
    n_sent: u64,
}

impl fmt::Debug for Ciphers {
    /// Writes no key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ciphers({} sent)", self.n_sent)
    }
}

impl Ciphers {
    /// Makes the keys of a session.
    pub(super) fn new(sending: &[u8; KEY_BYTES], receiving: &[u8; KEY_BYTES], session_id: u64) -> Ciphers {
        Ciphers { sending: cipher(sending), receiving: cipher(receiving), session_id, n_sent: 0 }
    }

    /// Encrypts what stands behind the room for the transform header, and fills that.
    pub(super) fn encrypt(&mut self, transformed: &mut [u8]) {
        let (head, message) = transformed.split_at_mut(TRANSFORM_BYTES);
        let mut nonce = [0; NONCE_BYTES];
        nonce[..8].copy_from_slice(&self.n_sent.to_le_bytes());
        self.n_sent += 1;
        head.fill(0);
        head[..4].copy_from_slice(&TRANSFORM_PROTOCOL_ID);
        head[TAG.end..TAG.end + NONCE_BYTES].copy_from_slice(&nonce);
        head[LENGTH].copy_from_slice(&(message.len() as u32).to_le_bytes());
        head[FLAGS].copy_from_slice(&ENCRYPTED.to_le_bytes());
        head[SESSION].copy_from_slice(&self.session_id.to_le_bytes());
        let nonce = Nonce::assume_unique_for_key(nonce);
        let sealed = self.sending.seal_in_place_separate_tag(nonce, Aad::from(&head[TAG.end..]), message);
        // It fails for messages of many gigabytes only, which the length of a frame has no room for.
        if let Ok(tag) = sealed {
            head[TAG].copy_from_slice(tag.as_ref());
        }
    }

    /// Decrypts a frame, and returns the message in it.
    ///
    /// # Errors
    /// It is not encrypted, or not with the key of the session, or its header lies.
    pub(super) fn decrypt<'a>(&self, frame: &'a mut [u8]) -> Result<&'a mut [u8], SmbFailure> {
        if !frame.starts_with(&TRANSFORM_PROTOCOL_ID) {
            return Err(SmbFailure::violation(Violation::NotEncrypted, 0));
        }
        let wrong = |detail: usize| SmbFailure::violation(Violation::WrongEncryption, detail as u64);
        let length = frame.len();
        let (head, message) = frame.split_at_mut_checked(TRANSFORM_BYTES).ok_or_else(|| wrong(length))?;
        let stated = u32::from_le_bytes([head[36], head[37], head[38], head[39]]);
        if stated as usize != message.len() {
            return Err(SmbFailure::violation(Violation::LyingLength, stated.into()));
        }
        if head[SESSION] != self.session_id.to_le_bytes() {
            return Err(wrong(0));
        }
        let nonce = Nonce::try_assume_unique_for_key(&head[TAG.end..TAG.end + NONCE_BYTES]);
        let tag = Tag::try_from(&head[TAG]);
        let (Ok(nonce), Ok(tag)) = (nonce, tag) else { return Err(wrong(0)) };
        let aad = Aad::from(&head[TAG.end..]);
        let opened = self.receiving.open_in_place_separate_tag(nonce, aad, tag, message, 0..);
        opened.map_err(|_| wrong(length))
    }
}

/// The protection of the messages of a session.
#[derive(Debug)]
pub(super) enum Protection {
    /// They are not.
    None,
    /// All are signed.
    Signed(SigningKey),
    /// All are encrypted, and not signed besides.
    Encrypted(Box<Ciphers>),
}

#[cfg(test)]
mod tests {
    use smb2::crypto::encryption::{Cipher, decrypt_message, encrypt_message};

    use super::*;

    const KEY: [u8; 16] = *b"0123456789abcdef";
    const OTHER_KEY: [u8; 16] = *b"fedcba9876543210";

    fn message() -> Vec<u8> {
        let mut message: Vec<u8> = (0..200).collect();
        message[..4].copy_from_slice(&smb2::msg::header::PROTOCOL_ID);
        // The command, of which `smb2` knows only real ones.
        message[12..14].copy_from_slice(&8_u16.to_le_bytes());
        message
    }

    /// Goal: our signatures are those of another implementation, for requests; a reply with the bit of the server is
    /// accepted by it.
    #[test]
    fn signatures_are_those_of_another_implementation() {
        for (key, algorithm) in [
            (SigningKey::hmac(&KEY), SigningAlgorithm::HmacSha256),
            (SigningKey::gmac(&KEY), SigningAlgorithm::AesGmac),
            (SigningKey::Cmac(KEY), SigningAlgorithm::AesCmac),
        ] {
            let mut ours = message();
            let mut theirs = message();
            key.sign(&mut ours, 77, Signer::Client);
            sign_message(&mut theirs, &KEY, algorithm, 77, false).unwrap();
            assert_eq!(ours, theirs, "{key:?}");
            key.sign(&mut ours, 77, Signer::Server);
            assert!(verify_signature(&ours, &KEY, algorithm, 77, false).is_ok(), "{key:?}");
            assert!(key.has_signed(&mut ours.clone(), 77), "{key:?}");
            ours[150] ^= 1;
            assert!(!key.has_signed(&mut ours, 77), "{key:?}");
        }
        let mut other_number = message();
        let gmac = SigningKey::gmac(&KEY);
        gmac.sign(&mut other_number, 77, Signer::Server);
        assert!(!gmac.has_signed(&mut other_number, 78));
    }

    #[test]
    fn encryption_is_that_of_another_implementation() {
        let mut ours = vec![0xAA; TRANSFORM_BYTES];
        ours.extend(message());
        let mut ciphers = Ciphers::new(&KEY, &OTHER_KEY, 0x1122);
        ciphers.n_sent = 5;
        ciphers.encrypt(&mut ours);
        let (head, body) = ours.split_at(TRANSFORM_BYTES);
        assert_eq!(decrypt_message(head, body, &KEY, Cipher::Aes128Gcm).unwrap(), message());
        let mut nonce = [0; 16];
        nonce[0] = 9;
        let (head, body) =
            encrypt_message(&message(), &OTHER_KEY, Cipher::Aes128Gcm, &nonce, 0x1122).unwrap();
        let theirs = [head, body].concat();
        assert_eq!(ciphers.decrypt(&mut theirs.clone()).unwrap(), message());

        let code = |frame: &mut [u8]| ciphers.decrypt(frame).map(|message| message.len()).unwrap_err().code;
        for at in [5, 20, 45, 60, 251] {
            let mut wrong = theirs.clone();
            wrong[at] ^= 1;
            assert_eq!(code(&mut wrong), Violation::WrongEncryption as u32, "byte {at}");
        }
        let mut lying = theirs.clone();
        lying[38] = 0xff;
        assert_eq!(code(&mut lying), Violation::LyingLength as u32);
        assert_eq!(code(&mut theirs.clone()[..30]), Violation::WrongEncryption as u32);
        assert_eq!(code(&mut message()), Violation::NotEncrypted as u32);
        assert_eq!(code(&mut []), Violation::NotEncrypted as u32);
    }
}
