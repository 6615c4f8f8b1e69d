//! Differences between two web workloads.

use model::{ConnectionLifetime, Request, WebProtocol, WebWorkload};

use super::plan_difference::{Check, nothing};

/// Checks requests, mix, think time and protocol.
pub(super) fn differences(a: &WebWorkload, b: &WebWorkload) -> [Check; 4] {
    let kinds = |workload: &WebWorkload| {
        let requests: Vec<Request> = workload.requests.iter().map(without_path).collect();
        (workload.content_seed, requests)
    };
    let mix = |workload: &WebWorkload| (workload.pages.clone(), workload.counts_pages);
    [
        ("files or requests", kinds(a) == kinds(b), nothing()),
        ("mix", mix(a) == mix(b), nothing()),
        ("think time", a.think == b.think, nothing()),
        ("protocol", a.protocol == b.protocol, [protocol_text(&a.protocol), protocol_text(&b.protocol)]),
    ]
}

fn without_path(request: &Request) -> Request {
    Request { name: String::new(), path: "/".parse().expect("a plain path"), ..request.clone() }
}

fn protocol_text(protocol: &WebProtocol) -> String {
    let connection = match protocol.connection {
        ConnectionLifetime::PerRequest => "a connection per request",
        ConnectionLifetime::Sessions => "a connection per session",
        ConnectionLifetime::KeepAlive { requests_max: None } => "keep-alive connections",
        ConnectionLifetime::KeepAlive { requests_max: Some(_) } => {
            "keep-alive connections with a request limit"
        }
    };
    format!("HTTP/{}{}, {connection}", protocol.http.name(), protocol.tls.clause())
}
