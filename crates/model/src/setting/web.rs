//! The settings of web workloads: those of their protocol.

use languages::Named;

use super::{Setting, SettingKind, SettingValue};
use crate::{Connection, HttpVersion, STREAMS_MAX, Tls, WebProtocol, Workload};

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        name: "http",
        title: "HTTP version",
        about: "version of HTTP",
        kind: SettingKind::Choice(&["1.0", "1.1", "2"]),
        text: |workload| protocol(workload).map(|protocol| protocol.http.name().to_owned()),
        apply: |workload, value| {
            change(workload, |protocol| {
                protocol.http = chosen::<HttpVersion>(value).unwrap_or(protocol.http)
            });
        },
    },
    Setting {
        name: "tls",
        title: "TLS",
        about: "encryption of connections",
        kind: SettingKind::Choice(&["off", "full", "resumed"]),
        text: |workload| protocol(workload).map(|protocol| tls_text(protocol.tls)),
        apply: |workload, value| {
            change(workload, |protocol| protocol.tls = chosen::<Tls>(value).unwrap_or(protocol.tls));
        },
    },
    Setting {
        name: "streams",
        title: "streams per connection",
        about: "users that share an HTTP/2 connection",
        kind: SettingKind::Count { least: 1, most: STREAMS_MAX },
        text: |workload| protocol(workload).map(|protocol| protocol.streams.to_string()),
        apply: |workload, value| {
            if let SettingValue::Count(streams) = value {
                change(workload, |protocol| protocol.streams = streams);
            }
        },
    },
    Setting {
        name: "connection",
        title: "connection",
        about: "lifetime of a connection",
        kind: SettingKind::Choice(&["per-request", "keep-alive", "sessions"]),
        text: |workload| protocol(workload).map(|protocol| connection_text(protocol.connection)),
        apply: |workload, value| {
            let kept = |protocol: &WebProtocol| protocol.connection;
            change(workload, |protocol| {
                protocol.connection = chosen::<Connection>(value).unwrap_or(kept(protocol));
            });
        },
    },
];

fn protocol(workload: &Workload) -> Option<WebProtocol> {
    workload.web().map(|web| web.protocol)
}

fn change(workload: &mut Workload, change: impl FnOnce(&mut WebProtocol)) {
    if let Some(web) = workload.web_mut() {
        change(&mut web.protocol);
    }
}

/// Returns the value of a name.
fn chosen<T: Named + Copy>(value: SettingValue) -> Option<T> {
    match value {
        SettingValue::Choice(name) => T::named(name),
        SettingValue::Count(_) | SettingValue::Bytes(_) => None,
    }
}

fn tls_text(tls: Tls) -> String {
    match tls {
        Tls::Off => "off".to_owned(),
        Tls::Full => "a full handshake for every connection".to_owned(),
        Tls::Resumed => "with resumed sessions".to_owned(),
    }
}

fn connection_text(connection: Connection) -> String {
    match connection {
        Connection::PerRequest => "one per request".to_owned(),
        Connection::Sessions => "kept for a session of SPECweb99's lengths".to_owned(),
        Connection::KeepAlive { requests_max: None } => "kept alive".to_owned(),
        Connection::KeepAlive { requests_max: Some(n) } => format!("kept alive, at most {n} requests each"),
    }
}

#[cfg(test)]
mod tests {
    use languages::Named;

    use super::*;

    #[test]
    fn choices_are_the_names_that_definitions_have() {
        fn names<T: Named>() -> Vec<&'static str> {
            T::NAMES.iter().map(|(name, _)| *name).collect()
        }
        let choices = |name: &str| {
            let setting = SETTINGS.iter().find(|setting| setting.name == name).unwrap();
            let SettingKind::Choice(choices) = setting.kind else { panic!("{name}") };
            choices.to_vec()
        };
        assert_eq!(choices("http"), names::<HttpVersion>());
        assert_eq!(choices("tls"), names::<Tls>());
        assert_eq!(choices("connection"), names::<Connection>());
    }
}
