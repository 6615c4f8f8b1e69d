//! Servers besides the target that redirects lead to.

use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;

use model::{ConnectionLifetime, HttpVersion, Reply, Tls, WebProtocol};
use units::Nanos;

use super::origin::Origin;
use crate::Trust;
use crate::net::OperationFailure;
use crate::web::capture::Capture;
use crate::web::composed_request::ComposedRequest;
use crate::web::context::{ExpectedReply, WebContext};
use crate::web::missing_value::BadRedirect;
use crate::web::session_transport::SessionTransport;
use crate::web::{PlainDriver, Target, TargetAccess, TlsDriver};
use crate::{TargetPolicy, TargetPolicyError};

/// The most servers besides the target whose addresses are remembered.
const SERVERS_MAX: usize = 16;

/// The servers besides the target that redirects have led to so far. Each address is checked by the target policy; a
/// request there is made in HTTP/1.1 on a connection of its own.
pub(super) struct RedirectTargets {
    policy: TargetPolicy,
    source_addresses: Vec<IpAddr>,
    trust: Trust,
    servers: RefCell<Vec<(Origin, Rc<WebContext>)>>,
}

impl RedirectTargets {
    pub(super) fn new(policy: TargetPolicy, source_addresses: &[IpAddr], trust: &Trust) -> RedirectTargets {
        let source_addresses = source_addresses.to_vec();
        RedirectTargets { policy, source_addresses, trust: trust.clone(), servers: RefCell::default() }
    }

    /// Sends a request to an origin besides the target and reads its reply.
    pub(super) async fn exchange(
        &self,
        web: &WebContext,
        origin: &Origin,
        request: &ComposedRequest,
        expected: ExpectedReply<'_>,
        capture: &mut Capture,
        sent: Nanos,
    ) -> Result<Reply, OperationFailure> {
        let server = self.server(web, origin).await?;
        Ok(if origin.secure {
            TlsDriver::of(server).exchange(request, expected, capture, sent).await
        } else {
            PlainDriver::of(server).exchange(request, expected, capture, sent).await
        })
    }

    /// Returns the context of a server, whose address is looked up the first time.
    async fn server(&self, web: &WebContext, origin: &Origin) -> Result<Rc<WebContext>, OperationFailure> {
        let known = |servers: &[(Origin, Rc<WebContext>)]| {
            servers.iter().find(|(known, _)| known == origin).map(|(_, server)| Rc::clone(server))
        };
        if let Some(server) = known(&self.servers.borrow()) {
            return Ok(server);
        }
        if self.servers.borrow().len() == SERVERS_MAX {
            return Err(BadRedirect::TooManyServers.into());
        }
        let policy = self.policy;
        let host = origin.host.clone();
        let port = origin.port;
        let lookup = tokio::task::spawn_blocking(move || policy.resolve(&host, port)).await;
        let addresses = match lookup {
            Ok(Ok(addresses)) => addresses,
            Ok(Err(TargetPolicyError::Forbidden { .. })) => return Err(BadRedirect::Forbidden.into()),
            Ok(Err(_)) | Err(_) => return Err(BadRedirect::NoAddress.into()),
        };
        // A client certificate is for the target alone.
        let access = TargetAccess::default();
        let target = Target { host: origin.host.clone(), port: origin.port, secure: origin.secure, access };
        let protocol = WebProtocol {
            http: HttpVersion::Http11,
            tls: if origin.secure { Tls::Full } else { Tls::Off },
            connection: ConnectionLifetime::KeepAlive { requests_max: None },
            streams: 1,
        };
        let server =
            web.elsewhere(&target, addresses[0], &protocol, self.policy, &self.source_addresses, &self.trust);
        let server = server.map_err(|_| BadRedirect::NoAddress)?;
        let mut servers = self.servers.borrow_mut();
        // Another user may have been as fast.
        if let Some(server) = known(&servers) {
            return Ok(server);
        }
        servers.push((origin.clone(), Rc::clone(&server)));
        Ok(server)
    }
}
