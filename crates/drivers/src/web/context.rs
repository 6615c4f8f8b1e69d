//! The state that all connections of a load thread to one server share.

use std::cell::{Cell, RefCell};
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

use languages::{foreign_text, without_credentials};
use model::{
    ConnectionLifetime, Content, HttpVersion, MissingSecret, Request, Secrets, WebProtocol, WebRequest,
    WebWorkload,
};
use units::{Nanos, RealClock};

use super::body_check::BodyCheck;
use super::http2::Pool;
use super::request::PreparedRequest;
use super::seen::{ObjectSeen, SeenBodies};
use super::session::{SessionContext, SessionTarget};
use super::setup_error::WebSetupError;
use super::target::Target;
use super::tls::{HandshakeCounts, TlsSettings};
use crate::net::{HandshakeProblem, OperationFailure};
use crate::{CertificateProblem, TargetEndpoint, TargetPolicy, Trust};

/// Size of the read buffer that all connections of a thread use in turn: the larger it is, the fewer calls a
/// large body takes; 128 KiB still fits the second-level cache together with the content block.
const READ_BUFFER_BYTES: usize = 128 * 1024;

/// The options of a [`WebContext`].
#[derive(Debug, Clone, Copy)]
pub struct WebContextOptions<'a> {
    /// The server as given by the user.
    pub target: &'a Target,
    /// One of the addresses that [`TargetPolicy::resolve`] returned for it; checked again at every
    /// connection. It does not matter where connections go to a Unix socket.
    pub address: SocketAddr,
    /// The policy on addresses.
    pub policy: TargetPolicy,
    /// The workload to fetch, and its protocol.
    pub workload: &'a WebWorkload,
    /// The values of its secrets.
    pub secrets: &'a Secrets,
    /// Local addresses to connect from, in turn; empty: chosen by the system.
    pub source_addresses: &'a [IpAddr],
    /// The certificates to accept; irrelevant without TLS.
    pub trust: &'a Trust,
    /// The clock of the run.
    pub clock: RealClock,
}

/// The state that all connections of a load thread to one server share. Not for more than one thread.
#[derive(Debug)]
pub struct WebContext {
    pub(crate) endpoint: TargetEndpoint,
    pub(crate) clock: RealClock,
    pub(crate) content: Content,
    requests: Vec<PreparedRequest>,
    pub(crate) connection: ConnectionLifetime,
    /// The bodies of each object, for replies without known content.
    pub(crate) seen: SeenBodies,
    /// The read buffer.
    pub(crate) buffer: RefCell<Vec<u8>>,
    /// The bytes of a request with parameters.
    request: RefCell<Vec<u8>>,
    /// The bytes to be sent over TLS.
    pub(crate) sealed: RefCell<Vec<u8>>,
    pub(crate) tls: Option<TlsSettings>,
    pub(crate) handshakes: Cell<HandshakeCounts>,
    /// Counts of kept connections, by their fate.
    pub(crate) kept: Cell<KeptConnectionCounts>,
    pub(crate) http2: Option<Pool>,
    /// The part of users' sessions; `None` if they have none.
    pub(crate) session: Option<Rc<SessionContext>>,
    /// The explanation of the last failure that a number cannot express.
    explanation: RefCell<String>,
    /// Secrets to remove from it.
    secrets: Secrets,
    /// The reason for which TLS failed last, if it is known.
    handshake_problem: Cell<Option<HandshakeProblem>>,
}

/// The numbers of what happened to kept connections, of which most operations never hear.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KeptConnectionCounts {
    /// Connections that had ended when a request was sent on them, or that ended before any byte of its reply.
    pub lost: u64,
    /// HTTP/2: streams that were refused, so that their requests were made again.
    pub refused: u64,
}

/// The expected response to a request: its status and the check of its body.
pub struct ExpectedReply<'a> {
    pub(crate) prepared: &'a PreparedRequest,
    pub(crate) check: BodyCheck<'a>,
}

impl WebContext {
    /// Prepares the requests of a workload.
    ///
    /// # Errors
    /// A request is not valid, or target, protocol, source addresses or certificate do not match.
    pub fn new(setup: WebContextOptions<'_>) -> Result<Rc<WebContext>, WebSetupError> {
        let WebContextOptions { target, workload, .. } = setup;
        let protocol = &workload.protocol;
        let host = target.authority();
        target.check(protocol)?;
        let endpoint = match target.socket() {
            Some(path) => TargetEndpoint::of_socket(path)?,
            None => TargetEndpoint::new(setup.address, setup.policy, setup.source_addresses)?,
        };
        let secrets = setup.secrets;
        let filled: Vec<Request> = (0..)
            .zip(&workload.requests)
            .map(|(kind, request)| secrets.fill(kind, request))
            .collect::<Result<_, MissingSecret>>()?;
        let prepared = |(request, filled): (&Request, &Request)| {
            PreparedRequest::new(request, filled.clone(), protocol, &host)
                .map_err(|problem| WebSetupError::Request { name: request.name.clone(), problem })
        };
        let tls = TlsSettings::new(target, protocol, setup.trust)?;
        let is_http2 = protocol.http == HttpVersion::Http2;
        let session = workload.has_sessions().then(|| {
            let WebContextOptions { policy, source_addresses, trust, .. } = setup;
            let at = SessionTarget { target, policy, source_addresses, trust };
            SessionContext::new(&at, workload, &filled, secrets).map(Rc::new)
        });
        Ok(Rc::new(WebContext {
            endpoint,
            clock: setup.clock,
            content: Content::new(workload.content_seed),
            requests: workload
                .requests
                .iter()
                .zip(&filled)
                .map(prepared)
                .collect::<Result<_, WebSetupError>>()?,
            connection: protocol.connection,
            seen: SeenBodies::new(setup.clock),
            buffer: RefCell::new(vec![0; READ_BUFFER_BYTES]),
            request: RefCell::default(),
            sealed: RefCell::default(),
            http2: is_http2.then(|| Pool::new(&filled, protocol, &host, tls.as_ref())),
            session: session.transpose()?,
            tls,
            handshakes: Cell::default(),
            kept: Cell::default(),
            explanation: RefCell::default(),
            secrets: secrets.clone(),
            handshake_problem: Cell::default(),
        }))
    }

    /// Sets up connections to a server besides the target, for requests that are made one by one.
    ///
    /// # Errors
    /// Source addresses or certificate do not match.
    pub(crate) fn elsewhere(
        &self,
        target: &Target,
        address: SocketAddr,
        protocol: &WebProtocol,
        policy: TargetPolicy,
        source_addresses: &[IpAddr],
        trust: &Trust,
    ) -> Result<Rc<WebContext>, WebSetupError> {
        Ok(Rc::new(WebContext {
            endpoint: TargetEndpoint::new(address, policy, source_addresses)?,
            clock: self.clock,
            content: Content::new(0),
            requests: Vec::new(),
            connection: protocol.connection,
            seen: SeenBodies::new(self.clock),
            buffer: RefCell::new(vec![0; READ_BUFFER_BYTES]),
            request: RefCell::default(),
            sealed: RefCell::default(),
            http2: None,
            session: None,
            tls: TlsSettings::new(target, protocol, trust)?,
            handshakes: Cell::default(),
            kept: Cell::default(),
            explanation: RefCell::default(),
            secrets: self.secrets.clone(),
            handshake_problem: Cell::default(),
        }))
    }

    /// Returns the number of TLS handshakes so far.
    pub fn handshakes(&self) -> HandshakeCounts {
        self.handshakes.get()
    }

    /// Returns what happened to kept connections so far.
    pub fn kept_connections(&self) -> KeptConnectionCounts {
        self.kept.get()
    }

    /// Counts a kept connection that had ended when a request was sent on it.
    #[cold]
    pub(crate) fn count_lost(&self) {
        let before = self.kept.get();
        self.kept.set(KeptConnectionCounts { lost: before.lost + 1, ..before });
    }

    /// Counts a stream that the server refused without processing its request.
    #[cold]
    pub(crate) fn count_refused(&self) {
        let before = self.kept.get();
        self.kept.set(KeptConnectionCounts { refused: before.refused + 1, ..before });
    }

    /// Returns the bodies of every object that has changed and of the first object of each kind, where they are compared,
    /// by kind and number.
    pub fn bodies_seen(&self) -> Vec<((u16, u64), ObjectSeen)> {
        self.seen.notable()
    }

    /// Returns the problem of the last certificate that was refused.
    pub fn certificate_problem(&self) -> Option<CertificateProblem> {
        self.tls.as_ref()?.problem()
    }

    /// Returns the reason for which TLS failed last, if it is known and not the server's certificate; and the likely one
    /// where the server has just ended the connection.
    pub fn handshake_problem(&self) -> Option<HandshakeProblem> {
        self.handshake_problem.get().or_else(|| self.tls.as_ref()?.client.problem_of_end())
    }

    /// Returns whether the server has asked for a client certificate, and there is none.
    pub(crate) fn lacks_identity(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.client.problem_of_end() == Some(HandshakeProblem::NoIdentity))
    }

    /// Stores why TLS failed, in words that name the cause where it is known.
    #[cold]
    pub(crate) fn tls_failure(&self, error: &rustls::Error) -> OperationFailure {
        let text = self.handshake_problem_text(error);
        self.explain(model::Outcome::TlsFailed, text)
    }

    /// Returns why TLS failed, in words that name the cause where it is known.
    #[cold]
    pub(crate) fn handshake_problem_text(&self, error: &rustls::Error) -> String {
        let problem = self.tls.as_ref().and_then(|tls| tls.client.problem_of(error));
        self.handshake_problem.set(problem);
        problem.map_or_else(|| error.to_string(), |problem| problem.to_string())
    }

    /// Stores that the server has ended a connection before TLS was established.
    #[cold]
    pub(crate) fn ended_in_handshake(&self) -> OperationFailure {
        let problem = self.tls.as_ref().and_then(|tls| tls.client.problem_of_end());
        let text = "connection ended in the handshake";
        self.explain(
            model::Outcome::TlsFailed,
            problem.map_or(text.to_owned(), |one| format!("{text}: {one}")),
        )
    }

    /// Returns the prepared request of an operation.
    #[inline]
    pub(crate) fn prepared(&self, operation: &WebRequest) -> &PreparedRequest {
        &self.requests[usize::from(operation.kind)]
    }

    /// Passes the bytes of a request to `take`.
    #[inline]
    pub(crate) fn with_request<T>(&self, operation: &WebRequest, take: impl FnOnce(&[u8]) -> T) -> T {
        self.prepared(operation).bytes(operation, &mut self.request.borrow_mut(), take)
    }

    /// Returns the prepared request and the check of the expected response.
    #[inline]
    pub(crate) fn expected(&self, operation: &WebRequest, sent: Nanos) -> (&PreparedRequest, BodyCheck<'_>) {
        let prepared = self.prepared(operation);
        let object = Content::object(self.requests.len(), operation.kind, operation.number);
        (prepared, prepared.check(operation, &self.content, (object, sent), &self.seen))
    }

    /// Stores a text that explains a failure; it is read before any other operation goes on.
    #[cold]
    pub(crate) fn explain(&self, outcome: model::Outcome, words: impl ToString) -> OperationFailure {
        // The text may be the peer's.
        let words = without_credentials(&self.secrets.redact_from(&words.to_string()));
        self.explanation.replace(foreign_text(&words));
        OperationFailure::new(outcome, 0)
    }

    pub(crate) fn explanation(&self) -> String {
        self.explanation.borrow().clone()
    }
}
