//! The opening of a session: bytes in, bytes out.
//!
//! | stage | sent | reply | next stage | note |
//! |---|---|---|---|---|
//! | dialect | `NEGOTIATE` with one dialect | success | challenge | options that contradict the server are found here |
//! | challenge | `SESSION_SETUP` with an NTLM offer | more processing required | proof | the offer is not wrapped in SPNEGO |
//! | proof | `SESSION_SETUP` with the NTLM proof | success | share | guests are refused; keys are derived, and the reply verified |
//! | share | `TREE_CONNECT` | success | open | signed in 3.1.1 even without signing, which servers demand |
//!
//! Any other reply is an error. An interim reply is waited out, a few times.

use ring::rand::{SecureRandom, SystemRandom};
use smb2::auth::{NtlmAuthenticator, NtlmCredentials};
use smb2::crypto::kdf::{PreauthHasher, derive_session_keys};
use smb2::msg::negotiate::{
    CIPHER_AES_128_GCM, HASH_ALGORITHM_SHA512, NegotiateContext, NegotiateRequest, NegotiateResponse,
    SIGNING_AES_CMAC, SIGNING_AES_GMAC,
};
use smb2::msg::session_setup::{SessionSetupRequest, SessionSetupRequestFlags, SessionSetupResponse};
use smb2::msg::tree_connect::{ShareType, TreeConnectRequest, TreeConnectRequestFlags, TreeConnectResponse};
use smb2::pack::{Guid, Pack, ReadCursor, Unpack, WriteCursor};
use smb2::types::flags::{Capabilities, SecurityMode, ShareFlags};
use smb2::types::{Command, Dialect};

use super::error::SmbSessionError;
use super::failure::{SmbFailure, Violation};
use super::frame::{FRAME_HEAD_BYTES, FrameBuffer};
use super::protection::{Ciphers, KEY_BYTES, Protection, Signer, SigningKey, TRANSFORM_BYTES};
use super::session::{CREDITS_WANTED, INTERIM_MAX, IO_BYTES_MAX, ServerLimits, SessionStart, SmbSession};
use super::status::NtStatus;
use super::target::{SmbDialect, SmbTarget};
use super::wire::{HEADER_BYTES, Header, ReplyHead};

/// The most bytes of a frame before there is a session: tokens of an authentication are below 64 KiB.
pub(super) const LOGIN_BYTES_MAX: usize = 128 * 1024;

/// The least size of reads and writes that a server must allow.
const IO_BYTES_LEAST: u32 = 4096;

/// Length of the random bytes that begin the hash of the opening.
const SALT_BYTES: usize = 32;

// The attempts, as errors name them.
const NEGOTIATING: &str = "choosing the dialect";
const AUTHENTICATING: &str = "authenticating";
const CONNECTING_SHARE: &str = "connecting to the share";

/// The object identifiers of mechanisms in a server's offer, in DER: NTLM, and Kerberos of the standard and of Microsoft.
const NTLM_OID: &[u8] = &[0x06, 0x0a, 0x2b, 0x06, 0x01, 0x04, 0x01, 0x82, 0x37, 0x02, 0x02, 0x0a];
const KERBEROS_OIDS: [&[u8]; 2] = [
    &[0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 0x01, 0x02, 0x02],
    &[0x06, 0x09, 0x2a, 0x86, 0x48, 0x82, 0xf7, 0x12, 0x01, 0x02, 0x02],
];

/// The beginning of a message of NTLM.
const NTLM_SIGNATURE: &[u8] = b"NTLMSSP\0";

/// The step that follows a reply.
#[derive(Debug)]
pub(super) enum LoginStep {
    /// The frame that was written is to be sent.
    Send,
    /// The reply comes later.
    Await,
    /// The session is open.
    Open(Box<SmbSession>),
}

/// The stage of an opening, by the reply that is awaited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LoginStage {
    Dialect,
    Challenge,
    Proof,
    Share,
}

impl LoginStage {
    fn command(self) -> Command {
        match self {
            LoginStage::Dialect => Command::Negotiate,
            LoginStage::Challenge | LoginStage::Proof => Command::SessionSetup,
            LoginStage::Share => Command::TreeConnect,
        }
    }

    fn doing(self) -> &'static str {
        match self {
            LoginStage::Dialect => NEGOTIATING,
            LoginStage::Challenge | LoginStage::Proof => AUTHENTICATING,
            LoginStage::Share => CONNECTING_SHARE,
        }
    }
}

/// The parts of a server's answer to `NEGOTIATE` that count later.
#[derive(Debug, Clone, Copy)]
struct Negotiated {
    limits: ServerLimits,
    has_gmac: bool,
}

/// The opening of a session.
pub(super) struct SmbLogin<'a> {
    target: &'a SmbTarget,
    stage: LoginStage,
    ntlm: NtlmAuthenticator,
    /// The hash of the messages so far, of which keys are made in 3.1.1.
    hash: PreauthHasher,
    number: u64,
    credits: u32,
    n_interim: u32,
    session_id: u64,
    negotiated: Option<Negotiated>,
    /// The key that verifies the last replies, whether the session signs or not.
    key: Option<SigningKey>,
    ciphers: Option<Box<Ciphers>>,
}

/// A reply to one of the requests.
struct LoginReply<'a> {
    head: ReplyHead,
    message: &'a mut [u8],
}

impl LoginReply<'_> {
    /// Reads the body of a success.
    fn body<T: Unpack>(&self, stage: LoginStage) -> Result<T, SmbSessionError> {
        let body = T::unpack(&mut ReadCursor::new(&self.message[HEADER_BYTES..]));
        body.map_err(|_| SmbSessionError::violation(stage.doing(), Violation::LyingLength))
    }
}

impl<'a> SmbLogin<'a> {
    /// Begins to open a session with a share.
    pub(super) fn new(target: &'a SmbTarget) -> SmbLogin<'a> {
        let account = &target.account;
        let ntlm = NtlmAuthenticator::new(NtlmCredentials {
            username: account.user.clone(),
            password: account.password.clone(),
            domain: account.domain.clone(),
        });
        SmbLogin {
            target,
            stage: LoginStage::Dialect,
            ntlm,
            hash: PreauthHasher::new(),
            number: 0,
            credits: 1,
            n_interim: 0,
            session_id: 0,
            negotiated: None,
            key: None,
            ciphers: None,
        }
    }

    /// Writes the first frame.
    ///
    /// # Errors
    /// The system has no random bytes.
    pub(super) fn begin(&mut self, frame: &mut FrameBuffer) -> Result<(), SmbSessionError> {
        let options = self.target.options;
        let mut salt = vec![0; SALT_BYTES];
        let mut guid = [0; 16];
        let random = SystemRandom::new();
        let is_random = random.fill(&mut salt).is_ok() && random.fill(&mut guid).is_ok();
        if !is_random {
            return Err(SmbSessionError::of(NEGOTIATING)(rustix::io::Errno::NOSYS.into()));
        }
        let (dialect, negotiate_contexts, capabilities) = match options.dialect() {
            SmbDialect::V2_1 => (Dialect::Smb2_1, Vec::new(), 0),
            SmbDialect::V3_1_1 => {
                let encryption = if options.encrypts() { Capabilities::ENCRYPTION } else { 0 };
                (Dialect::Smb3_1_1, contexts(salt, options.encrypts()), encryption)
            }
        };
        let request = NegotiateRequest {
            security_mode: self.security_mode(),
            capabilities: Capabilities::new(capabilities | Capabilities::LARGE_MTU),
            client_guid: guid_of(guid),
            dialects: vec![dialect],
            negotiate_contexts,
        };
        self.write(&request, frame);
        self.hash.update(&frame.filled()[FRAME_HEAD_BYTES..]);
        self.complete(frame)
    }

    /// Takes the frame of a reply, without the length before it; writes the next request, if there is one.
    ///
    /// # Errors
    /// There will be no session.
    pub(super) fn take(
        &mut self,
        reply: &mut [u8],
        frame: &mut FrameBuffer,
    ) -> Result<LoginStep, SmbSessionError> {
        let stage = self.stage;
        let failed = |failure| SmbSessionError::of(stage.doing())(failure);
        let message = match &self.ciphers {
            Some(ciphers) => ciphers.decrypt(reply).map_err(failed)?,
            None => reply,
        };
        let head = ReplyHead::read(message).map_err(failed)?;
        if head.number + 1 != self.number || head.command != u16::from(stage.command()) || head.next != 0 {
            return Err(failed(SmbFailure::violation(Violation::OtherMessage, head.number)));
        }
        self.credits += u32::from(head.credits);
        if head.is_interim() {
            self.n_interim += 1;
            if INTERIM_MAX < self.n_interim {
                return Err(failed(SmbFailure::violation(Violation::EndlessPending, self.n_interim.into())));
            }
            return Ok(LoginStep::Await);
        }
        if self.credits == 0 {
            return Err(failed(SmbFailure::violation(Violation::NoCredits, 0)));
        }
        let reply = LoginReply { head, message };
        match stage {
            LoginStage::Dialect => self.take_dialect(&reply, frame)?,
            LoginStage::Challenge => self.take_challenge(&reply, frame)?,
            LoginStage::Proof => self.take_proof(reply, frame)?,
            LoginStage::Share => return self.take_share(reply).map(LoginStep::Open),
        }
        Ok(LoginStep::Send)
    }

    /// Takes the answer to `NEGOTIATE`, and asks for a challenge.
    fn take_dialect(&mut self, reply: &LoginReply, frame: &mut FrameBuffer) -> Result<(), SmbSessionError> {
        let options = self.target.options;
        match reply.head.status {
            NtStatus::SUCCESS => {}
            NtStatus::NOT_SUPPORTED => return Err(SmbSessionError::DialectRefused(options.dialect())),
            status => return Err(SmbSessionError::of(NEGOTIATING)(SmbFailure::status(status))),
        }
        let answer: NegotiateResponse = reply.body(LoginStage::Dialect)?;
        let offered = match options.dialect() {
            SmbDialect::V2_1 => Dialect::Smb2_1,
            SmbDialect::V3_1_1 => Dialect::Smb3_1_1,
        };
        if answer.dialect_revision != offered {
            let found = answer.dialect_revision.into();
            return Err(SmbSessionError::OtherDialect { offered: options.dialect(), found });
        }
        if answer.security_mode.signing_required() && !options.signs() && !options.encrypts() {
            return Err(SmbSessionError::SigningRequired);
        }
        if is_kerberos_only(&answer.security_buffer) {
            return Err(SmbSessionError::KerberosOnly);
        }
        self.negotiated = Some(self.negotiated_of(&answer)?);
        self.hash.update(reply.message);
        let token = self.ntlm.negotiate();
        self.ask_session(token, LoginStage::Challenge, frame)
    }

    /// Reads what the server allows, and what of 3.1.1 it has chosen.
    fn negotiated_of(&self, answer: &NegotiateResponse) -> Result<Negotiated, SmbSessionError> {
        let is_3_1_1 = self.target.options.dialect() == SmbDialect::V3_1_1;
        let chosen = |is_it: &dyn Fn(&NegotiateContext) -> bool| answer.negotiate_contexts.iter().any(is_it);
        let has_hash = chosen(&|context| {
            matches!(context, NegotiateContext::PreauthIntegrity { hash_algorithms, .. }
                if hash_algorithms.contains(&HASH_ALGORITHM_SHA512))
        });
        let has_cipher = chosen(
            &|context| matches!(context, NegotiateContext::Encryption { ciphers } if *ciphers == [CIPHER_AES_128_GCM]),
        );
        let has_gmac = chosen(
            &|context| matches!(context, NegotiateContext::Signing { algorithms } if *algorithms == [SIGNING_AES_GMAC]),
        );
        if is_3_1_1 && !has_hash {
            return Err(SmbSessionError::violation(NEGOTIATING, Violation::NotSmb));
        }
        if self.target.options.encrypts() && !has_cipher {
            return Err(SmbSessionError::NoEncryption);
        }
        let limits = ServerLimits {
            has_large_requests: answer.capabilities.contains(Capabilities::LARGE_MTU),
            read_max: answer.max_read_size.min(IO_BYTES_MAX),
            write_max: answer.max_write_size.min(IO_BYTES_MAX),
        };
        if limits.read_max < IO_BYTES_LEAST || limits.write_max < IO_BYTES_LEAST {
            return Err(SmbSessionError::violation(NEGOTIATING, Violation::LyingLength));
        }
        Ok(Negotiated { limits, has_gmac })
    }

    /// Takes the challenge, and proves that the password is known.
    fn take_challenge(&mut self, reply: &LoginReply, frame: &mut FrameBuffer) -> Result<(), SmbSessionError> {
        let user = &self.target.account.user;
        match reply.head.status {
            NtStatus::MORE_PROCESSING_REQUIRED => {}
            // Without a proof, it can be no session of the account.
            NtStatus::SUCCESS => return Err(SmbSessionError::Guest(user.clone())),
            NtStatus::NOT_SUPPORTED | NtStatus::INVALID_PARAMETER => {
                return Err(SmbSessionError::KerberosOnly);
            }
            status => return Err(self.denied(status)),
        }
        let answer: SessionSetupResponse = reply.body(LoginStage::Challenge)?;
        self.session_id = reply.head.session_id;
        self.hash.update(reply.message);
        let token = &answer.security_buffer;
        let start = token.windows(NTLM_SIGNATURE.len()).position(|window| window == NTLM_SIGNATURE);
        let proof = start.and_then(|start| self.ntlm.authenticate(&token[start..]).ok());
        let no_ntlm = || SmbSessionError::violation(AUTHENTICATING, Violation::NotSmb);
        self.ask_session(proof.ok_or_else(no_ntlm)?, LoginStage::Proof, frame)
    }

    /// Takes the end of the authentication, derives the keys, and connects to the share.
    fn take_proof(&mut self, reply: LoginReply, frame: &mut FrameBuffer) -> Result<(), SmbSessionError> {
        match reply.head.status {
            NtStatus::SUCCESS => {}
            // A wrong password has another status: this one is of servers that refuse sessions without encryption.
            NtStatus::ACCESS_DENIED if !self.target.options.encrypts() => {
                return Err(SmbSessionError::EncryptionRequired);
            }
            status => return Err(self.denied(status)),
        }
        let answer: SessionSetupResponse = reply.body(LoginStage::Proof)?;
        let flags = answer.session_flags;
        if flags.is_guest() || flags.is_null() {
            return Err(SmbSessionError::Guest(self.target.account.user.clone()));
        }
        let options = self.target.options;
        if flags.encrypt_data() && !options.encrypts() {
            return Err(SmbSessionError::EncryptionRequired);
        }
        self.derive_keys()?;
        // The server proves with its signature that it knows the password, too.
        let must_be_signed = options.signs() || options.dialect() == SmbDialect::V3_1_1;
        self.verify(reply, must_be_signed)?;
        self.ask_share(frame)
    }

    fn derive_keys(&mut self) -> Result<(), SmbSessionError> {
        let no_key = || SmbSessionError::violation(AUTHENTICATING, Violation::NotSmb);
        let session_key = self.ntlm.session_key().and_then(|key| key.first_chunk::<KEY_BYTES>());
        let session_key = session_key.ok_or_else(no_key)?;
        if self.target.options.dialect() == SmbDialect::V2_1 {
            self.key = Some(SigningKey::hmac(session_key));
            return Ok(());
        }
        let bits = 8 * KEY_BYTES as u32;
        let keys = derive_session_keys(session_key, Dialect::Smb3_1_1, Some(self.hash.value()), bits);
        let of = |key: &[u8]| key.first_chunk::<KEY_BYTES>().copied().ok_or_else(no_key);
        let signing = of(&keys.signing_key)?;
        let has_gmac = self.negotiated.is_some_and(|negotiated| negotiated.has_gmac);
        self.key = Some(if has_gmac { SigningKey::gmac(&signing) } else { SigningKey::Cmac(signing) });
        if self.target.options.encrypts() {
            let (sending, receiving) = (of(&keys.encryption_key)?, of(&keys.decryption_key)?);
            self.ciphers = Some(Box::new(Ciphers::new(&sending, &receiving, self.session_id)));
        }
        Ok(())
    }

    /// Checks the signature of a reply that has one, or must have one.
    fn verify(&self, reply: LoginReply, must_be_signed: bool) -> Result<(), SmbSessionError> {
        let doing = self.stage.doing();
        let Some(key) = &self.key else { return Ok(()) };
        if !reply.head.is_signed {
            if must_be_signed {
                return Err(SmbSessionError::violation(doing, Violation::Unsigned));
            }
            return Ok(());
        }
        if !key.has_signed(reply.message, reply.head.number) {
            return Err(SmbSessionError::violation(doing, Violation::WrongSignature));
        }
        Ok(())
    }

    /// Takes the share; the session is open.
    fn take_share(&mut self, reply: LoginReply) -> Result<Box<SmbSession>, SmbSessionError> {
        let SmbTarget { share, account, options, .. } = self.target;
        match reply.head.status {
            NtStatus::SUCCESS => {}
            NtStatus::BAD_NETWORK_NAME => return Err(SmbSessionError::NoShare(share.clone())),
            status @ NtStatus::ACCESS_DENIED => {
                return Err(SmbSessionError::ShareDenied {
                    user: account.user.clone(),
                    share: share.clone(),
                    status: super::status::text(status),
                });
            }
            status => return Err(SmbSessionError::of(CONNECTING_SHARE)(SmbFailure::status(status))),
        }
        let answer: TreeConnectResponse = reply.body(LoginStage::Share)?;
        let tree_id = reply.head.tree_id;
        if self.ciphers.is_none() {
            self.verify(reply, options.signs())?;
        }
        if answer.share_type != ShareType::Disk {
            return Err(SmbSessionError::NotFiles(share.clone()));
        }
        if answer.share_flags.contains(ShareFlags::ENCRYPT_DATA) && !options.encrypts() {
            return Err(SmbSessionError::EncryptionRequired);
        }
        let no_answer = || SmbSessionError::violation(CONNECTING_SHARE, Violation::OtherMessage);
        let limits = self.negotiated.ok_or_else(no_answer)?.limits;
        let protection = match (self.ciphers.take(), self.key.take()) {
            (Some(ciphers), _) => Protection::Encrypted(ciphers),
            (None, Some(key)) if options.signs() => Protection::Signed(key),
            (None, _) => Protection::None,
        };
        Ok(Box::new(SmbSession::new(SessionStart {
            session_id: self.session_id,
            tree_id,
            next_number: self.number,
            credits: self.credits,
            limits,
            protection,
        })))
    }

    fn denied(&self, status: NtStatus) -> SmbSessionError {
        let failure = SmbFailure::status(status);
        if failure.outcome == model::Outcome::Denied {
            return SmbSessionError::denied(&self.target.account.user, status);
        }
        SmbSessionError::of(AUTHENTICATING)(failure)
    }

    fn ask_session(
        &mut self,
        token: Vec<u8>,
        stage: LoginStage,
        frame: &mut FrameBuffer,
    ) -> Result<(), SmbSessionError> {
        self.stage = stage;
        let request = SessionSetupRequest {
            flags: SessionSetupRequestFlags(0),
            security_mode: self.security_mode(),
            capabilities: Capabilities::new(0),
            channel: 0,
            previous_session_id: 0,
            security_buffer: token,
        };
        self.write(&request, frame);
        self.hash.update(&frame.filled()[FRAME_HEAD_BYTES..]);
        self.complete(frame)
    }

    fn ask_share(&mut self, frame: &mut FrameBuffer) -> Result<(), SmbSessionError> {
        self.stage = LoginStage::Share;
        let request = TreeConnectRequest { flags: TreeConnectRequestFlags(0), path: self.target.unc() };
        self.write(&request, frame);
        let signs = self.signs_share();
        let message = &mut frame.filled_mut()[FRAME_HEAD_BYTES..];
        match (&mut self.ciphers, &self.key) {
            (Some(ciphers), _) => ciphers.encrypt(message),
            (None, Some(key)) if signs => key.sign(message, self.number - 1, Signer::Client),
            (None, _) => {}
        }
        self.complete(frame)
    }

    /// Returns whether the connection to the share is signed: in 3.1.1 it must be.
    fn signs_share(&self) -> bool {
        let options = self.target.options;
        options.signs() || options.dialect() == SmbDialect::V3_1_1
    }

    fn security_mode(&self) -> SecurityMode {
        let required = if self.target.options.signs() { SecurityMode::SIGNING_REQUIRED } else { 0 };
        SecurityMode::new(SecurityMode::SIGNING_ENABLED | required)
    }

    /// Writes the next request of the stage into an empty frame, with room for the header of encryption.
    fn write(&mut self, request: &dyn Pack, frame: &mut FrameBuffer) {
        frame.clear();
        frame.put_zeros(FRAME_HEAD_BYTES);
        if self.ciphers.is_some() {
            frame.put_zeros(TRANSFORM_BYTES);
        }
        let is_share = self.stage == LoginStage::Share;
        let header = Header {
            command: self.stage.command(),
            charge: if self.number == 0 { 0 } else { 1 },
            credits: CREDITS_WANTED as u16,
            is_related: false,
            is_signed: is_share && self.ciphers.is_none() && self.signs_share(),
            number: self.number,
            tree_id: 0,
            session_id: self.session_id,
        };
        header.write(frame);
        let mut body = WriteCursor::new();
        request.pack(&mut body);
        frame.put(body.as_bytes());
        self.number += 1;
        self.credits = self.credits.saturating_sub(1);
    }

    fn complete(&self, frame: &mut FrameBuffer) -> Result<(), SmbSessionError> {
        frame.set_frame_length().map_err(SmbSessionError::of(self.stage.doing()))
    }
}

/// Returns what 3.1.1 offers besides.
fn contexts(salt: Vec<u8>, encrypts: bool) -> Vec<NegotiateContext> {
    let hash = NegotiateContext::PreauthIntegrity { hash_algorithms: vec![HASH_ALGORITHM_SHA512], salt };
    let signing = NegotiateContext::Signing { algorithms: vec![SIGNING_AES_GMAC, SIGNING_AES_CMAC] };
    let encryption = NegotiateContext::Encryption { ciphers: vec![CIPHER_AES_128_GCM] };
    let mut contexts = vec![hash];
    // Servers read encryption before signing.
    contexts.extend(encrypts.then_some(encryption));
    contexts.push(signing);
    contexts
}

fn guid_of(bytes: [u8; 16]) -> Guid {
    let mut cursor = ReadCursor::new(&bytes);
    Guid::unpack(&mut cursor).expect("a GUID has 16 bytes")
}

/// Returns whether a server's offer has Kerberos and no NTLM. One without an offer may have both.
fn is_kerberos_only(offer: &[u8]) -> bool {
    let has = |oid: &[u8]| offer.windows(oid.len()).any(|window| window == oid);
    KERBEROS_OIDS.into_iter().any(has) && !has(NTLM_OID)
}
