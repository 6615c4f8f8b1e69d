//! The opening of sessions: servers that contradict the options, and those that let nobody in, or anybody.

use smb2::msg::negotiate::{
    CIPHER_AES_128_CCM, CIPHER_AES_128_GCM, HASH_ALGORITHM_SHA512, NegotiateContext, NegotiateResponse,
};
use smb2::msg::session_setup::{SessionFlags, SessionSetupResponse};
use smb2::msg::tree_connect::{ShareType, TreeConnectResponse};
use smb2::pack::Guid;
use smb2::types::Dialect;
use smb2::types::flags::{Capabilities, SecurityMode, ShareCapabilities, ShareFlags};

use super::super::error::SmbSessionError;
use super::super::failure::code_name;
use super::super::login::{LoginStep, SmbLogin};
use super::super::target::{SmbAccount, SmbDialect, SmbOptions, SmbTarget};
use super::super::wire::Request;
use super::*;

/// Returns a target at an address where nobody is asked.
pub(super) fn target(options: SmbOptions) -> SmbTarget {
    SmbTarget {
        address: "127.0.0.1:445".parse().unwrap(),
        host: "server".to_owned(),
        share: "files".to_owned(),
        folder: String::new(),
        account: SmbAccount { user: "u".to_owned(), domain: String::new(), password: "pw".to_owned() },
        options,
    }
}

/// A server's answers, which tests change.
#[derive(Debug, Clone)]
pub(super) struct LoginAnswers {
    negotiated: NegotiateResponse,
    status: [u32; 4],
    flags: u16,
    share: TreeConnectResponse,
    /// A header flag of the end of the authentication.
    proof_flags: u32,
}

impl LoginAnswers {
    /// Those of a server that agrees.
    pub(super) fn of(dialect: SmbDialect) -> LoginAnswers {
        let hash = NegotiateContext::PreauthIntegrity {
            hash_algorithms: vec![HASH_ALGORITHM_SHA512],
            salt: vec![1; 32],
        };
        let encryption = NegotiateContext::Encryption { ciphers: vec![CIPHER_AES_128_GCM] };
        let dialect_revision = match dialect {
            SmbDialect::V2_1 => Dialect::Smb2_1,
            SmbDialect::V3_1_1 => Dialect::Smb3_1_1,
        };
        LoginAnswers {
            negotiated: NegotiateResponse {
                security_mode: SecurityMode::new(1),
                dialect_revision,
                server_guid: Guid::ZERO,
                capabilities: Capabilities::new(Capabilities::LARGE_MTU),
                max_transact_size: 1 << 20,
                max_read_size: 1 << 20,
                max_write_size: 1 << 20,
                system_time: 0,
                server_start_time: 0,
                security_buffer: Vec::new(),
                negotiate_contexts: vec![hash, encryption],
            },
            status: [0, 0xC000_0016, 0, 0],
            flags: 0,
            share: TreeConnectResponse {
                share_type: ShareType::Disk,
                share_flags: ShareFlags::new(0),
                capabilities: ShareCapabilities::new(0),
                maximal_access: 0,
            },
            proof_flags: 0,
        }
    }

    /// Returns the answer to the request of this number.
    pub(super) fn answer(&self, number: u64) -> Answer {
        let setup = |security_buffer| SessionSetupResponse {
            session_flags: SessionFlags(self.flags),
            security_buffer,
        };
        let answer = match number {
            0 => Answer::of(0, Command::Negotiate, &self.negotiated),
            1 => Answer::of(1, Command::SessionSetup, &setup(challenge())),
            2 => Answer::of(2, Command::SessionSetup, &setup(Vec::new())).with_flags(self.proof_flags),
            _ => Answer::of(3, Command::TreeConnect, &self.share),
        };
        Answer { credits: 10, status: self.status[number as usize], ..answer }
    }
}

/// A challenge of NTLM, without an exchange of keys.
fn challenge() -> Vec<u8> {
    let mut challenge = b"NTLMSSP\0\x02\0\0\0".to_vec();
    challenge.extend([0; 8]);
    challenge.extend(0x0008_0201_u32.to_le_bytes());
    challenge.extend([9; 8]);
    challenge.extend([0; 16]);
    challenge
}

fn open(options: SmbOptions, answers: &LoginAnswers) -> Result<Box<SmbSession>, SmbSessionError> {
    let target = target(options);
    let mut login = SmbLogin::new(&target);
    let mut frame = FrameBuffer::default();
    login.begin(&mut frame)?;
    for number in 0.. {
        match login.take(&mut answers.answer(number).message(0), &mut frame)? {
            LoginStep::Send => {}
            LoginStep::Await => panic!("nothing is pending"),
            LoginStep::Open(session) => return Ok(session),
        }
    }
    unreachable!("a session has four requests")
}

fn options(dialect: SmbDialect, signing: bool, encryption: bool) -> SmbOptions {
    SmbOptions::new(dialect, signing, encryption).unwrap()
}

#[test]
fn a_session_of_2_1_opens_unsigned() {
    let unsigned = options(SmbDialect::V2_1, false, false);
    let mut session = open(unsigned, &LoginAnswers::of(SmbDialect::V2_1)).unwrap();
    let mut frame = FrameBuffer::default();
    session.compose(&[Request::Flush(FILE)], &mut frame).unwrap();
    let message = sent_messages(Kind::Plain, &mut frame).remove(0);
    let header = smb2::pack::Unpack::unpack(&mut smb2::pack::ReadCursor::new(&message));
    let header: Header = header.unwrap();
    assert_eq!((header.message_id.0, header.session_id.0), (4, SESSION_ID));
    assert_eq!(header.tree_id, Some(TreeId(TREE_ID)));
}

/// A server and options: a change of its answers, and the error.
type Contradiction = (SmbOptions, fn(&mut LoginAnswers), SmbSessionError);

#[test]
fn servers_that_contradict_the_options_are_named() {
    let v2 = options(SmbDialect::V2_1, false, false);
    let v3 = options(SmbDialect::V3_1_1, false, false);
    let encrypted = options(SmbDialect::V3_1_1, false, true);
    let kerberos = |answers: &mut LoginAnswers| {
        let oid = [0x06, 0x09, 0x2a, 0x86, 0x48, 0x82, 0xf7, 0x12, 0x01, 0x02, 0x02];
        answers.negotiated.security_buffer = [&[0x60, 0x20][..], &oid, &[0; 9]].concat();
    };
    let no_gcm = |answers: &mut LoginAnswers| {
        let ccm = NegotiateContext::Encryption { ciphers: vec![CIPHER_AES_128_CCM] };
        answers.negotiated.negotiate_contexts[1] = ccm;
    };
    let user = || "u".to_owned();
    let denied = |status: &str| SmbSessionError::Denied { user: user(), status: status.to_owned() };
    let share_denied = SmbSessionError::ShareDenied {
        user: user(),
        share: "files".to_owned(),
        status: "STATUS_ACCESS_DENIED".to_owned(),
    };
    let table: [Contradiction; 18] = [
        (v3, |a| a.status[0] = 0xC000_00BB, SmbSessionError::DialectRefused(SmbDialect::V3_1_1)),
        (
            v2,
            |a| a.negotiated.dialect_revision = Dialect::Smb2_0_2,
            SmbSessionError::OtherDialect { offered: SmbDialect::V2_1, found: 0x202 },
        ),
        (v2, |a| a.negotiated.security_mode = SecurityMode::new(3), SmbSessionError::SigningRequired),
        (v3, |a| a.negotiated.security_mode = SecurityMode::new(3), SmbSessionError::SigningRequired),
        (encrypted, |a| a.negotiated.negotiate_contexts.truncate(1), SmbSessionError::NoEncryption),
        (encrypted, no_gcm, SmbSessionError::NoEncryption),
        (v2, kerberos, SmbSessionError::KerberosOnly),
        (v2, |a| a.status[1] = 0xC000_00BB, SmbSessionError::KerberosOnly),
        (v2, |a| a.status[1] = 0, SmbSessionError::Guest(user())),
        (v2, |a| a.flags = 1, SmbSessionError::Guest(user())),
        (v2, |a| a.flags = 2, SmbSessionError::Guest(user())),
        (v2, |a| a.status[2] = 0xC000_006D, denied("STATUS_LOGON_FAILURE")),
        (v2, |a| a.flags = 4, SmbSessionError::EncryptionRequired),
        (v3, |a| a.status[2] = 0xC000_0022, SmbSessionError::EncryptionRequired),
        (encrypted, |a| a.status[2] = 0xC000_0022, denied("STATUS_ACCESS_DENIED")),
        (
            v2,
            |a| a.share.share_flags = ShareFlags::new(ShareFlags::ENCRYPT_DATA),
            SmbSessionError::EncryptionRequired,
        ),
        (v2, |a| a.status[3] = 0xC000_00CC, SmbSessionError::NoShare("files".to_owned())),
        (v2, |a| a.status[3] = 0xC000_0022, share_denied),
    ];
    for (options, change, error) in table {
        let mut answers = LoginAnswers::of(options.dialect());
        change(&mut answers);
        assert_eq!(open(options, &answers).unwrap_err(), error);
    }
    let mut printer = LoginAnswers::of(SmbDialect::V2_1);
    printer.share.share_type = ShareType::Print;
    assert_eq!(open(v2, &printer).unwrap_err(), SmbSessionError::NotFiles("files".to_owned()));
}

/// Goal: who does not know the password cannot end the authentication, with signatures or in 3.1.1.
#[test]
fn a_server_that_does_not_prove_that_it_knows_the_password_is_refused() {
    let signed = 8;
    for (options, proof_flags, code) in [
        (options(SmbDialect::V2_1, true, false), 0, "SMB_UNSIGNED_REPLY"),
        (options(SmbDialect::V2_1, true, false), signed, "SMB_WRONG_SIGNATURE"),
        (options(SmbDialect::V2_1, false, false), signed, "SMB_WRONG_SIGNATURE"),
        (options(SmbDialect::V3_1_1, false, false), 0, "SMB_UNSIGNED_REPLY"),
        (options(SmbDialect::V3_1_1, true, false), signed, "SMB_WRONG_SIGNATURE"),
        (options(SmbDialect::V3_1_1, false, true), 0, "SMB_UNSIGNED_REPLY"),
    ] {
        let answers = LoginAnswers { proof_flags, ..LoginAnswers::of(options.dialect()) };
        let error = open(options, &answers).unwrap_err();
        let SmbSessionError::Failed { code: found, .. } = error else { panic!("{error}") };
        assert_eq!(code_name(found), Some(code), "{options:?}");
    }
}

#[test]
fn an_opening_that_stays_pending_or_breaks_the_protocol_ends() {
    let v2 = options(SmbDialect::V2_1, false, false);
    let target = target(v2);
    let answers = LoginAnswers::of(SmbDialect::V2_1);
    let code_after = |frames: Vec<Vec<u8>>| {
        let mut login = SmbLogin::new(&target);
        let mut frame = FrameBuffer::default();
        login.begin(&mut frame).unwrap();
        let taken = frames.into_iter().find_map(|mut bytes| login.take(&mut bytes, &mut frame).err());
        match taken {
            Some(SmbSessionError::Failed { code, .. }) => code_name(code),
            other => panic!("{other:?}"),
        }
    };
    let pending = Answer { status: 0x103, ..answers.answer(0) }.with_flags(2).message(0);
    assert_eq!(code_after(vec![pending; 40]), Some("SMB_ENDLESS_PENDING"));
    let right = answers.answer(0).message(0);
    assert_eq!(code_after(vec![right.clone(), right.clone()]), Some("SMB_OTHER_MESSAGE"));
    assert_eq!(code_after(vec![right[..100].to_vec()]), Some("SMB_LYING_LENGTH"));
    assert_eq!(code_after(vec![vec![0; 100]]), Some("SMB_NOT_A_MESSAGE"));
    let no_credits = Answer { credits: 0, ..answers.answer(0) }.message(0);
    assert_eq!(code_after(vec![no_credits]), Some("SMB_NO_CREDITS"));
    let tiny = LoginAnswers {
        negotiated: NegotiateResponse { max_read_size: 100, ..answers.negotiated.clone() },
        ..answers.clone()
    };
    assert_eq!(code_after(vec![tiny.answer(0).message(0)]), Some("SMB_LYING_LENGTH"));
    // Every cut of every answer is an error, and none is a panic.
    for cut in 0..right.len() {
        let mut login = SmbLogin::new(&target);
        let mut frame = FrameBuffer::default();
        login.begin(&mut frame).unwrap();
        assert!(login.take(&mut right[..cut].to_vec(), &mut frame).is_err(), "{cut}");
    }
}
