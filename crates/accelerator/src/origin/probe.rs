//! Health probes.

use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use http1::RequestMethod;
use tokio::io::AsyncWriteExt;
use tokio::task::JoinSet;

use super::connect::connect;
use super::deadline::within;
use super::failure::OriginFailure;
use super::head::read_head;
use super::health::HealthEvent;
use super::servers::{Servers, UpstreamServer};
use super::settings::Probe;

/// Probes all servers, each over a new connection every time, until dropped. Ends at once if probes are off.
///
/// To be run once, on any thread; health is shared by all.
pub async fn run_probes(servers: Arc<Servers>) {
    let mut tasks = JoinSet::new();
    if let Some(probe) = &servers.settings.health.probe {
        for index in 0..servers.all.len() {
            tasks.spawn(probe_server(Arc::clone(&servers), index, probe.clone()));
        }
    }
    while tasks.join_next().await.is_some() {}
}

async fn probe_server(servers: Arc<Servers>, index: usize, probe: Probe) {
    let Some(server) = servers.all.get(index) else { return };
    loop {
        let asking = send_probe(&servers, server, &probe);
        match within(probe.timeout, asking, || OriginFailure::TimedOut).await {
            Ok(status) => {
                let is_good = probe.statuses.contains(&status);
                let event = if is_good { HealthEvent::GoodProbe } else { HealthEvent::BadProbe };
                servers.note(index, event, || format!("probe returned {status}"));
            }
            Err(failure) if failure.is_server_fault() => {
                servers.note(index, HealthEvent::BadProbe, || failure.to_string());
            }
            Err(_of_this_machine) => {}
        }
        tokio::time::sleep(Duration::from_nanos(probe.interval.0)).await;
    }
}

/// Returns the status of the server's response.
async fn send_probe(servers: &Servers, server: &UpstreamServer, probe: &Probe) -> Result<u16, OriginFailure> {
    let mut connection = connect(server, servers.now(), probe.timeout).await?;
    let host = servers.settings.host.as_ref().unwrap_or(&server.address);
    let request = format!(
        "GET {} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: plimsoll\r\nConnection: close\r\n\r\n",
        probe.path
    );
    let stream = &mut connection.stream;
    stream.write_all(request.as_bytes()).await.map_err(|_| OriginFailure::Closed)?;
    stream.flush().await.map_err(|_| OriginFailure::Closed)?;
    let head = read_head(stream, &mut BytesMut::new(), RequestMethod::Get).await?;
    Ok(head.head.status)
}
