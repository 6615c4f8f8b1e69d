//! What all connections of a load thread to one server share.

use std::cell::{Cell, RefCell};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::rc::Rc;

use http1::RequestError;
use model::{
    Connection, Content, HttpVersion, MissingSecret, Protocol, Request, Secrets, WebRequest, Workload,
    foreign_text, without_credentials,
};
use rustix::io::Errno;
use thiserror::Error;
use units::RealClock;

use super::check::{Check, Memory};
use super::connection;
use super::failure::Failure;
use super::http2::Pool;
use super::request::Prepared;
use super::target::Target;
use super::tls::{CertificateProblem, HandshakeCounts, TlsSettings, Trust};
use crate::Policy;

/// Size of the read buffer that all connections of a thread use in turn: the larger it is, the fewer calls
/// a large body takes; 128 KiB still fits the second-level cache beside the content block.
const READ_BUFFER_BYTES: usize = 128 * 1024;

/// What an origin is made of.
#[derive(Debug, Clone, Copy)]
pub struct OriginSetup<'a> {
    /// The server as named.
    pub target: &'a Target,
    /// One of the addresses that [`Policy::resolve`] returned for it; it is checked again at every connection.
    pub address: SocketAddr,
    /// Where load may be sent to.
    pub policy: Policy,
    /// What is fetched.
    pub workload: &'a Workload,
    /// The values of its secrets.
    pub secrets: &'a Secrets,
    /// How it is fetched.
    pub protocol: &'a Protocol,
    /// Local addresses that connections are made from, in turn; empty: the system chooses.
    pub source_addresses: &'a [IpAddr],
    /// Which certificates are good; without TLS of no meaning.
    pub trust: &'a Trust,
    /// The clock of the run.
    pub clock: RealClock,
}

/// Why a workload cannot be fetched.
#[derive(Debug, Error)]
pub enum OriginError {
    /// A request cannot be written as it is.
    #[error("request `{name}`: {problem}")]
    Request {
        /// The name of the request.
        name: String,
        /// What is wrong with it.
        problem: RequestError,
    },
    /// A secret has no value.
    #[error(transparent)]
    Secret(#[from] MissingSecret),
    /// The target's scheme and the plan's protocol do not go together.
    #[error("target `{target}` {}", match secure {
        true => "wants TLS, the plan has none\nhint: add `--tls full` or `--tls resumed`",
        false => "is without TLS, the plan wants it\nhint: name an `https://` target, or take `--tls off`",
    })]
    Scheme {
        /// The target as named.
        target: String,
        /// Whether the target wants TLS.
        secure: bool,
    },
    /// No connections can be made from a source address.
    #[error(
        "cannot connect from `{address}`: {problem}\nhint: source addresses are addresses of this machine, of the same family as the server's"
    )]
    Source {
        /// The address.
        address: IpAddr,
        /// What the system said.
        problem: Errno,
    },
    /// TLS cannot be set up.
    #[error("cannot set up TLS: {0}")]
    Tls(String),
}

/// What all connections of a load thread to one server share. Not for more than one thread.
#[derive(Debug)]
pub struct Origin {
    pub(crate) address: SocketAddr,
    pub(crate) policy: Policy,
    pub(crate) clock: RealClock,
    pub(crate) content: Content,
    requests: Vec<Prepared>,
    pub(crate) connection: Connection,
    /// What came first, for replies that are known by that only.
    pub(crate) memory: Memory,
    /// What has arrived.
    pub(crate) buffer: RefCell<Vec<u8>>,
    /// A request that is not known beforehand.
    request: RefCell<Vec<u8>>,
    /// What is to be sent over TLS.
    pub(crate) sealed: RefCell<Vec<u8>>,
    sources: Box<[IpAddr]>,
    next_source: Cell<usize>,
    pub(crate) tls: Option<TlsSettings>,
    pub(crate) handshakes: Cell<HandshakeCounts>,
    pub(crate) http2: Option<Pool>,
    /// What a library said of the last failure that a number cannot tell.
    explanation: RefCell<String>,
    /// What must not stand in it.
    secrets: Secrets,
}

impl Origin {
    /// Prepares the requests of a workload.
    ///
    /// # Errors
    /// If a request cannot be written, or target, protocol, source addresses or certificate do not go together.
    pub fn new(setup: OriginSetup<'_>) -> Result<Rc<Origin>, OriginError> {
        let OriginSetup { target, protocol, workload, .. } = setup;
        let host = format!("{}:{}", target.host, target.port);
        target.check(protocol)?;
        check_sources(setup.source_addresses, &setup.address)?;
        let secrets = setup.secrets;
        let filled: Vec<Request> = (0..)
            .zip(&workload.requests)
            .map(|(kind, request)| secrets.fill(kind, request))
            .collect::<Result<_, MissingSecret>>()?;
        let prepared = |(request, filled): (&Request, &Request)| {
            Prepared::new(request, filled.clone(), protocol, &host)
                .map_err(|problem| OriginError::Request { name: request.name.clone(), problem })
        };
        let tls = TlsSettings::new(target, protocol, setup.trust).map_err(OriginError::Tls)?;
        let is_http2 = protocol.http == HttpVersion::Http2;
        Ok(Rc::new(Origin {
            address: setup.address,
            policy: setup.policy,
            clock: setup.clock,
            content: Content::new(workload.content_seed),
            requests: workload
                .requests
                .iter()
                .zip(&filled)
                .map(prepared)
                .collect::<Result<_, OriginError>>()?,
            connection: protocol.connection,
            memory: Memory::default(),
            buffer: RefCell::new(vec![0; READ_BUFFER_BYTES]),
            request: RefCell::default(),
            sealed: RefCell::default(),
            sources: setup.source_addresses.into(),
            next_source: Cell::new(0),
            http2: is_http2.then(|| Pool::new(&filled, protocol, &host, tls.as_ref())),
            tls,
            handshakes: Cell::default(),
            explanation: RefCell::default(),
            secrets: secrets.clone(),
        }))
    }

    /// Returns how many TLS handshakes were made so far.
    pub fn handshakes(&self) -> HandshakeCounts {
        self.handshakes.get()
    }

    /// Returns what was wrong with the last certificate that was refused.
    pub fn certificate_problem(&self) -> Option<CertificateProblem> {
        self.tls.as_ref()?.problem()
    }

    /// Begins a connection. Returns the socket and whether it is established already.
    #[inline]
    pub(crate) fn begin(&self) -> Result<(OwnedFd, bool), Errno> {
        if !self.policy.allows(self.address.ip()) {
            return Err(Errno::ACCESS);
        }
        connection::begin(&self.address, self.source())
    }

    /// Returns the address that the next connection is made from.
    #[inline]
    fn source(&self) -> Option<IpAddr> {
        let index = self.next_source.get();
        let source = self.sources.get(index)?;
        self.next_source.set((index + 1) % self.sources.len());
        Some(*source)
    }

    /// Returns the kind of request of an operation.
    #[inline]
    pub(crate) fn prepared(&self, operation: &WebRequest) -> &Prepared {
        &self.requests[usize::from(operation.kind)]
    }

    /// Gives the bytes of a request to `take`.
    #[inline]
    pub(crate) fn with_request<T>(&self, operation: &WebRequest, take: impl FnOnce(&[u8]) -> T) -> T {
        self.prepared(operation).bytes(operation, &mut self.request.borrow_mut(), take)
    }

    /// Returns what the reply must be.
    #[inline]
    pub(crate) fn expected(&self, operation: &WebRequest) -> (&Prepared, Check<'_>) {
        let prepared = self.prepared(operation);
        let object = Content::object(self.requests.len(), operation.kind, operation.number);
        (prepared, prepared.check(operation, &self.content, object, &self.memory))
    }

    /// Notes in words why an operation fails; it is asked for before any other operation goes on.
    #[cold]
    pub(crate) fn explain(&self, outcome: model::Outcome, words: impl ToString) -> Failure {
        // The words may be a peer's.
        let words = without_credentials(&self.secrets.redact_from(&words.to_string()));
        self.explanation.replace(foreign_text(&words));
        Failure::new(outcome, 0)
    }

    pub(crate) fn explanation(&self) -> String {
        self.explanation.borrow().clone()
    }
}

/// Checks that connections can be made from each address: what fails later is lack of ports then.
fn check_sources(sources: &[IpAddr], address: &SocketAddr) -> Result<(), OriginError> {
    for source in sources {
        let made = connection::make_socket(address, Some(*source));
        made.map_err(|problem| OriginError::Source { address: *source, problem })?;
    }
    Ok(())
}
