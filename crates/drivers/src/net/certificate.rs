//! Verification of server certificates, and the problems it finds.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{VerifierBuilderError, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme};
use webpki::EndEntityCert;

/// The most names of a certificate that are shown.
const NAMES_MAX: usize = 5;

/// The most characters of foreign text that are shown.
const TEXT_MAX: usize = 200;

const DAY_S: u64 = 24 * 60 * 60;

/// The certificates that are accepted from a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// Exactly this one (DER), which was created for the server of this run.
    Certificate(Vec<u8>),
    /// Any with the right name, within its validity, whose chain ends at one of these authorities.
    Authorities(Authorities),
    /// Any: the identity of the server is unknown; it still has to prove that it holds the private key. The
    /// result has to say so.
    Any,
}

/// A reason why a text has no certificates of authorities.
#[derive(Debug, thiserror::Error)]
pub enum AuthoritiesError {
    /// It is malformed.
    #[error(transparent)]
    Malformed(#[from] pem::Error),
    /// It has no certificate.
    #[error("it contains no certificate (PEM)")]
    None,
}

/// Certificates of authorities, at least one of which can be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authorities(Arc<[CertificateDer<'static>]>);

impl Authorities {
    /// Creates them from certificates (X.509, DER); `None` if none can be parsed.
    pub fn new(certificates: impl IntoIterator<Item = Vec<u8>>) -> Option<Authorities> {
        let authorities = Authorities(certificates.into_iter().map(CertificateDer::from).collect());
        (!authorities.store().is_empty()).then_some(authorities)
    }

    /// Parses certificates in PEM; other content is skipped.
    ///
    /// # Errors
    /// The text is malformed, or there is no certificate.
    pub fn from_pem(text: &[u8]) -> Result<Authorities, AuthoritiesError> {
        let all = CertificateDer::pem_slice_iter(text).map(|one| one.map(|der| der.to_vec()));
        let all: Vec<Vec<u8>> = all.collect::<Result<_, _>>()?;
        Authorities::new(all).ok_or(AuthoritiesError::None)
    }

    /// Returns the certificates (DER).
    pub fn certificates(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.0.iter().map(|certificate| &**certificate)
    }

    fn store(&self) -> RootCertStore {
        let mut store = RootCertStore::empty();
        store.add_parsable_certificates(self.0.iter().cloned());
        store
    }
}

/// A problem with a server's certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CertificateProblem {
    /// It expired this many days ago.
    Expired(u64),
    /// It becomes valid in this many days.
    NotYetValid(u64),
    /// It is for other names.
    WrongName {
        /// The name of the target.
        asked: String,
        /// Its names, at least one and at most five.
        names: Vec<String>,
    },
    /// It contains no name (`subjectAltName`) to compare with that of the target.
    NoName {
        /// The name of the target.
        asked: String,
    },
    /// It is of a version of X.509 before 3, which has no names.
    OldVersion,
    /// It is self-signed and not among the authorities.
    SelfSigned,
    /// Its chain ends at none of this many authorities.
    UnknownIssuer(usize),
    /// It is not the one created for this run.
    NotFromThisRun,
    /// Another problem.
    Other(String),
}

impl fmt::Display for CertificateProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let days = |n: &u64| match n {
            1 => "1 day".to_owned(),
            n => format!("{n} days"),
        };
        match self {
            CertificateProblem::Expired(0) => f.write_str("it expired today"),
            CertificateProblem::Expired(n) => write!(f, "it expired {} ago", days(n)),
            CertificateProblem::NotYetValid(n) => write!(f, "it becomes valid in {}", days(n)),
            CertificateProblem::NoName { asked } => {
                write!(
                    f,
                    "it contains no `subjectAltName` to compare with `{asked}`, and a common name does not count"
                )
            }
            CertificateProblem::OldVersion => {
                f.write_str("it is of X.509 version 1 or 2, which has no `subjectAltName`")
            }
            CertificateProblem::WrongName { asked, names } => {
                write!(f, "it is for `{}`, not for `{asked}`", names.join("`, `"))
            }
            CertificateProblem::SelfSigned => f.write_str("it is self-signed and not a trusted authority"),
            CertificateProblem::UnknownIssuer(n) => {
                write!(f, "its issuer is unknown: its chain ends at none of the trusted authorities ({n})")
            }
            CertificateProblem::NotFromThisRun => {
                f.write_str("it is not the one that was created for this run")
            }
            CertificateProblem::Other(text) => f.write_str(text),
        }
    }
}

/// A verifier of server certificates.
///
/// The certificate created for the run is only compared: verifying chain, name and dates would cost time and
/// add nothing. A chain that was accepted once is only compared from then on, so that the load generator does
/// no more work per handshake than with a server started by the run.
#[derive(Debug)]
pub(crate) struct CertificateVerifier {
    trust: Trust,
    chain: Option<Arc<WebPkiServerVerifier>>,
    n_authorities: usize,
    good: OnceLock<Vec<CertificateDer<'static>>>,
    problem: Mutex<Option<CertificateProblem>>,
    provider: Arc<CryptoProvider>,
}

impl CertificateVerifier {
    pub(crate) fn new(
        trust: &Trust,
        provider: Arc<CryptoProvider>,
    ) -> Result<CertificateVerifier, VerifierBuilderError> {
        let store = match trust {
            Trust::Authorities(authorities) => Some(authorities.store()),
            Trust::Certificate(_) | Trust::Any => None,
        };
        let n_authorities = store.as_ref().map_or(0, RootCertStore::len);
        let builder = store.map(|store| {
            WebPkiServerVerifier::builder_with_provider(Arc::new(store), Arc::clone(&provider)).build()
        });
        Ok(CertificateVerifier {
            trust: trust.clone(),
            chain: builder.transpose()?,
            n_authorities,
            good: OnceLock::new(),
            problem: Mutex::default(),
            provider,
        })
    }

    pub(super) fn problem(&self) -> Option<CertificateProblem> {
        self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn refuse(&self, problem: CertificateProblem, error: Error) -> Error {
        *self.problem.lock().unwrap_or_else(PoisonError::into_inner) = Some(problem);
        error
    }

    /// Notes that a certificate is of an old version, whose key cannot be used even where any certificate is accepted.
    fn unless_old<T>(&self, verified: Result<T, Error>) -> Result<T, Error> {
        verified.map_err(|error| match &error {
            Error::InvalidCertificate(CertificateError::Other(other)) if is_of_old_version(other) => {
                self.refuse(CertificateProblem::OldVersion, error)
            }
            _ => error,
        })
    }

    /// Returns whether this chain was accepted before.
    fn is_known(&self, end_entity: &CertificateDer<'_>, others: &[CertificateDer<'_>]) -> bool {
        let Some((first, rest)) = self.good.get().and_then(|good| good.split_first()) else { return false };
        first == end_entity && rest == others
    }

    /// Returns whether a self-signed certificate is among the authorities and otherwise valid. Many test
    /// servers have one that claims to be an authority, which is refused at the end of a chain.
    fn is_authority_itself(&self, shown: &CertificateDer<'_>, name: &ServerName<'_>, error: &Error) -> bool {
        let Error::InvalidCertificate(CertificateError::Other(other)) = error else { return false };
        let is_only_that =
            matches!(other.0.downcast_ref::<webpki::Error>(), Some(webpki::Error::CaUsedAsEndEntity));
        // The dates are checked before that error is found.
        is_only_that && self.is_authority(shown) && name_problem(shown, name).is_none()
    }

    /// Returns whether a certificate is among the authorities.
    fn is_authority(&self, shown: &CertificateDer<'_>) -> bool {
        matches!(&self.trust, Trust::Authorities(authorities) if authorities.0.iter().any(|one| one == shown))
    }

    fn problem_of(
        &self,
        shown: &CertificateDer<'_>,
        name: &ServerName<'_>,
        error: &Error,
    ) -> CertificateProblem {
        let days = |from: UnixTime, to: UnixTime| to.as_secs().saturating_sub(from.as_secs()) / DAY_S;
        let Error::InvalidCertificate(error) = error else { return other(&error.to_string()) };
        let asked = || name.to_str().into_owned();
        match error {
            CertificateError::Other(error) if is_of_old_version(error) => CertificateProblem::OldVersion,
            CertificateError::NotValidForNameContext { presented, .. } if presented.is_empty() => {
                CertificateProblem::NoName { asked: asked() }
            }
            CertificateError::Expired => CertificateProblem::Expired(0),
            CertificateError::ExpiredContext { time, not_after } => {
                CertificateProblem::Expired(days(*not_after, *time))
            }
            CertificateError::NotValidYet => CertificateProblem::NotYetValid(0),
            CertificateError::NotValidYetContext { time, not_before } => {
                CertificateProblem::NotYetValid(days(*time, *not_before))
            }
            CertificateError::NotValidForNameContext { presented, .. } => CertificateProblem::WrongName {
                asked: asked(),
                names: presented.iter().take(NAMES_MAX).map(|one| plain_name(one)).collect(),
            },
            _ if self.is_authority(shown) => {
                name_problem(shown, name).unwrap_or_else(|| other(&error.to_string()))
            }
            _ if is_self_signed(shown) => CertificateProblem::SelfSigned,
            CertificateError::UnknownIssuer => CertificateProblem::UnknownIssuer(self.n_authorities),
            error => other(&error.to_string()),
        }
    }
}

/// Returns why a certificate is not for a name; `None` if it is.
fn name_problem(shown: &CertificateDer<'_>, name: &ServerName<'_>) -> Option<CertificateProblem> {
    let asked = name.to_str().into_owned();
    let shown = EndEntityCert::try_from(shown).ok()?;
    let names: Vec<String> = match shown.verify_is_valid_for_subject_name(name).err()? {
        webpki::Error::CertNotValidForName(context) => {
            context.presented.iter().take(NAMES_MAX).map(|one| plain_name(one)).collect()
        }
        error => return Some(other(&error.to_string())),
    };
    Some(if names.is_empty() {
        CertificateProblem::NoName { asked }
    } else {
        CertificateProblem::WrongName { asked, names }
    })
}

fn is_of_old_version(error: &OtherError) -> bool {
    matches!(error.0.downcast_ref::<webpki::Error>(), Some(webpki::Error::UnsupportedCertVersion))
}

fn other(text: &str) -> CertificateProblem {
    CertificateProblem::Other(plain(text))
}

/// Sanitizes foreign text for display.
fn plain(text: &str) -> String {
    text.chars().take(TEXT_MAX).flat_map(char::escape_default).collect()
}

/// Extracts a name from webpki's notation: `DnsName("a.test")`, `IpAddress(10.0.0.1)`.
fn plain_name(name: &str) -> String {
    let inner = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')')).unwrap_or(name);
    plain(inner.trim_matches('"'))
}

fn is_self_signed(certificate: &CertificateDer<'_>) -> bool {
    EndEntityCert::try_from(certificate).is_ok_and(|one| one.issuer() == one.subject())
}

impl ServerCertVerifier for CertificateVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let good = Ok(ServerCertVerified::assertion());
        if let Trust::Certificate(der) = &self.trust
            && der[..] != end_entity[..]
        {
            let error = Error::InvalidCertificate(CertificateError::UnknownIssuer);
            return Err(self.refuse(CertificateProblem::NotFromThisRun, error));
        }
        let Some(chain) = &self.chain else { return good };
        if self.is_known(end_entity, intermediates) {
            return good;
        }
        match chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            Err(error) if !self.is_authority_itself(end_entity, server_name, &error) => {
                Err(self.refuse(self.problem_of(end_entity, server_name, &error), error))
            }
            _ => {
                let shown = std::iter::once(end_entity).chain(intermediates);
                // Another thread may have been first; its chain is equally valid.
                let _ = self.good.set(shown.map(|one| one.clone().into_owned()).collect());
                good
            }
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        self.unless_old(verify_tls12_signature(message, certificate, signature, algorithms))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        self.unless_old(verify_tls13_signature(message, certificate, signature, algorithms))
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use rustls::crypto::ring;

    use super::*;

    /// Returns the content of an element of DER, and what follows it.
    fn element(der: &[u8]) -> (&[u8], &[u8]) {
        let (start, length) = match der[1] {
            0x82 => (4, (usize::from(der[2]) << 8) | usize::from(der[3])),
            0x81 => (3, usize::from(der[2])),
            length => (2, usize::from(length)),
        };
        (&der[start..start + length], &der[start + length..])
    }

    fn sequence(content: &[u8]) -> Vec<u8> {
        let length = u16::try_from(content.len()).unwrap().to_be_bytes();
        // The shortest form of a length that is above 127 in any certificate.
        let head =
            if length[0] == 0 { vec![0x30, 0x81, length[1]] } else { [&[0x30, 0x82], &length[..]].concat() };
        [&head, content].concat()
    }

    /// Returns a certificate without its version, which means 1, and without extensions. Its signature is wrong then.
    fn as_version_1(certificate: &[u8]) -> CertificateDer<'static> {
        let (whole, _) = element(certificate);
        let (fields, signed) = element(whole);
        let (_, mut fields) = element(fields);
        let mut kept = Vec::new();
        while !fields.is_empty() {
            let (_, rest) = element(fields);
            let field = &fields[..fields.len() - rest.len()];
            kept.extend_from_slice(if field[0] == 0xa3 { &[] } else { field });
            fields = rest;
        }
        CertificateDer::from(sequence(&[sequence(&kept), signed.to_vec()].concat()))
    }

    #[test]
    fn a_certificate_of_an_old_version_is_told() {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let trust = Trust::Authorities(Authorities::new([made.cert.der().to_vec()]).unwrap());
        let verifier = CertificateVerifier::new(&trust, Arc::new(ring::default_provider())).unwrap();
        let shown = as_version_1(made.cert.der());
        let name = ServerName::try_from("localhost").unwrap();
        verifier.verify_server_cert(&shown, &[], &name, &[], UnixTime::now()).unwrap_err();
        assert_eq!(verifier.problem(), Some(CertificateProblem::OldVersion));
    }
}
