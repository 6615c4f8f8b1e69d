//! Trials of servers that are down, where there are no probes.
//!
//! A trial is a copy of a request that another server has just answered: of a kind that works, so that its failure is
//! the server's. No client waits for it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::connect::connect;
use super::connection::OriginConnection;
use super::failure::OriginFailure;
use super::health::HealthEvent;
use super::servers::{Servers, UpstreamServer};
use super::upload::{EncodedRequest, UploadTimeouts, send_request};
use super::upstream_request::UpstreamRequest;
use crate::message::NoBody;

impl Servers {
    /// Tries the servers that are due for it with a copy of a request that was answered with this status.
    ///
    /// If the request must not be sent twice, or has not worked, it is only tried whether a connection can be made.
    pub(super) fn try_those_down(self: &Arc<Self>, request: &UpstreamRequest, status: u16) {
        let is_copied = request.is_repeatable() && request.upgrade.is_none() && status < 500;
        for (index, server) in self.all.iter().enumerate() {
            if server.weight == 0 || !server.health.begin_trial(is_copied, self.now()) {
                continue;
            }
            let host = self.host(request, server);
            let encoded = is_copied.then(|| EncodedRequest::new(request, host).ok()).flatten();
            tokio::spawn(run_trial(Arc::clone(self), index, encoded));
        }
    }
}

async fn run_trial(servers: Arc<Servers>, index: usize, encoded: Option<EncodedRequest>) {
    let server = &servers.all[index];
    server.counts.requests.fetch_add(1, Ordering::Relaxed);
    match outcome(&servers, server, encoded.as_ref()).await {
        Ok(event) => servers.note(index, event, || "a trial has succeeded".to_owned()),
        Err(failure) => {
            server.counts.failures.fetch_add(1, Ordering::Relaxed);
            servers.note(index, HealthEvent::Unreached, || failure.to_string());
        }
    }
}

async fn outcome(
    servers: &Servers,
    server: &UpstreamServer,
    encoded: Option<&EncodedRequest>,
) -> Result<HealthEvent, OriginFailure> {
    let settings = &servers.settings;
    let OriginConnection { mut stream, mut buffer } =
        connect(server, servers.now(), settings.connect_timeout).await?;
    let Some(encoded) = encoded else { return Ok(HealthEvent::Connected) };
    let limits = UploadTimeouts::from(settings);
    send_request(&mut stream, &mut buffer, encoded, &mut NoBody, limits).await?;
    Ok(HealthEvent::Success)
}
