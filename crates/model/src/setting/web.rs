//! The settings of web workloads: those of their protocol, their filelist, and the choice of parameters.

use languages::NamedValues;

use super::configuration::TIME_LIMIT;
use super::{
    ChosenSetting, Configuration, DefinitionKey, Setting, SettingAccess, SettingChoice, SettingKind,
    SettingValue,
};
use crate::{ConnectionLifetime, Parameter, STREAMS_MAX, Tls, WebProtocol};

pub(crate) const SETTINGS: &[Setting] = &[
    Setting {
        name: "http",
        title: "HTTP version",
        about: "version of HTTP",
        kind: SettingKind::Choice(&[
            SettingChoice::new("1.0", "HTTP/1.0, without `Host`"),
            SettingChoice::new("1.1", "HTTP/1.1"),
            SettingChoice::new("2", "HTTP/2, agreed upon by ALPN over TLS, with prior knowledge without"),
        ]),
        key: DefinitionKey::Required,
        access: SettingAccess::Whole {
            text: |configuration| Some(protocol(configuration)?.http.name().to_owned()),
            apply: |configuration, value| change(configuration, value, set_http),
        },
    },
    Setting {
        name: "tls",
        title: "TLS",
        about: "encryption of connections",
        kind: SettingKind::Choice(&[
            SettingChoice::new("off", "No encryption"),
            SettingChoice::new("full", "Full handshake for every connection"),
            SettingChoice::new("resumed", "Session resumption where the server supports it"),
        ]),
        key: DefinitionKey::Optional("off"),
        access: SettingAccess::Whole {
            text: |configuration| Some(tls_text(protocol(configuration)?.tls)),
            apply: |configuration, value| change(configuration, value, set_tls),
        },
    },
    Setting {
        name: "streams",
        title: "streams per connection",
        about: "users that share an HTTP/2 connection",
        kind: SettingKind::Count { least: 1, most: STREAMS_MAX },
        key: DefinitionKey::Optional("1"),
        access: SettingAccess::Whole {
            text: |configuration| Some(protocol(configuration)?.streams.to_string()),
            apply: |configuration, value| change(configuration, value, set_streams),
        },
    },
    Setting {
        name: "connection",
        title: "connection",
        about: "lifetime of a connection",
        kind: SettingKind::Choice(&[
            SettingChoice::new("per-request", "A new connection for every request"),
            SettingChoice {
                name: "keep-alive",
                about: "Persistent until one side closes it",
                number: Some("the most requests of each connection"),
            },
            SettingChoice::new(
                "sessions",
                "Persistent for a session; session lengths are those of SPECweb99",
            ),
        ]),
        key: DefinitionKey::Required,
        access: SettingAccess::Whole {
            text: |configuration| Some(connection_text(protocol(configuration)?.connection)),
            apply: |configuration, value| change(configuration, value, set_connection),
        },
    },
    TIME_LIMIT,
    Setting {
        name: "filelist",
        title: "filelist",
        about: "files and their weights",
        kind: SettingKind::Text("FILE|NAME"),
        key: DefinitionKey::None,
        access: SettingAccess::Whole {
            text: |configuration| Some(configuration.filelist.clone()),
            // The caller has made the workload from it: reading a file is not for planning.
            apply: |configuration, value| {
                if let SettingValue::Text(filelist) = value {
                    configuration.filelist.clone_from(filelist);
                }
            },
        },
    },
    Setting {
        name: "pick",
        title: "choice of",
        about: "distribution of a parameter",
        kind: SettingKind::Distribution,
        key: DefinitionKey::None,
        access: SettingAccess::PerItem {
            items: |configuration| {
                let mut names: Vec<String> = parameters(configuration).map(|one| one.name.clone()).collect();
                names.sort_unstable();
                names.dedup();
                names
            },
            text: |configuration, name| {
                parameters(configuration).find(|one| one.name == name).map(|one| one.pick.to_string())
            },
            apply: |configuration, name, value| {
                let SettingValue::Distribution(pick) = value else { return };
                let requests = configuration.workload.web_mut().into_iter().flat_map(|web| &mut web.requests);
                let parameters = requests.flat_map(|request| &mut request.parameters);
                parameters.filter(|one| one.name == name).for_each(|one| one.pick = pick.clone());
            },
        },
    },
];

/// A change of a protocol by the value of a setting.
type ProtocolChange = fn(&mut WebProtocol, &SettingValue);

/// The settings of the protocol, by name.
const OF_PROTOCOL: [(&str, ProtocolChange); 4] =
    [("http", set_http), ("tls", set_tls), ("streams", set_streams), ("connection", set_connection)];

impl ChosenSetting {
    /// Gives a protocol the value, if it is one of a protocol.
    pub(crate) fn apply_to_protocol(&self, protocol: &mut WebProtocol) {
        let of_it = OF_PROTOCOL.iter().filter(|(name, _)| *name == self.setting.name);
        of_it.for_each(|(_, set)| set(protocol, &self.value));
    }
}

fn protocol(configuration: &Configuration) -> Option<&WebProtocol> {
    configuration.workload.web().map(|web| &web.protocol)
}

/// Changes the protocol of a configuration, if it is of the web.
fn change(configuration: &mut Configuration, value: &SettingValue, set: ProtocolChange) {
    if let Some(web) = configuration.workload.web_mut() {
        set(&mut web.protocol, value);
    }
}

fn set_http(protocol: &mut WebProtocol, value: &SettingValue) {
    protocol.http = chosen(value).unwrap_or(protocol.http);
}

fn set_tls(protocol: &mut WebProtocol, value: &SettingValue) {
    protocol.tls = chosen(value).unwrap_or(protocol.tls);
}

fn set_streams(protocol: &mut WebProtocol, value: &SettingValue) {
    if let SettingValue::Count(streams) = value {
        protocol.streams = *streams;
    }
}

fn set_connection(protocol: &mut WebProtocol, value: &SettingValue) {
    protocol.connection = chosen_connection(value).unwrap_or(protocol.connection);
}

fn parameters(configuration: &Configuration) -> impl Iterator<Item = &Parameter> {
    let requests = configuration.workload.web().into_iter().flat_map(|web| &web.requests);
    requests.flat_map(|request| &request.parameters)
}

/// Returns the value of a name.
fn chosen<T: NamedValues + Copy>(value: &SettingValue) -> Option<T> {
    match value {
        SettingValue::Choice(name, _) => T::named(name),
        _ => None,
    }
}

fn chosen_connection(value: &SettingValue) -> Option<ConnectionLifetime> {
    match (chosen(value)?, value) {
        (ConnectionLifetime::KeepAlive { .. }, SettingValue::Choice(_, requests_max)) => {
            Some(ConnectionLifetime::KeepAlive { requests_max: *requests_max })
        }
        (connection, _) => Some(connection),
    }
}

fn tls_text(tls: Tls) -> String {
    match tls {
        Tls::Off => "off".to_owned(),
        Tls::Full => "a full handshake for every connection".to_owned(),
        Tls::Resumed => "with resumed sessions".to_owned(),
    }
}

fn connection_text(connection: ConnectionLifetime) -> String {
    match connection {
        ConnectionLifetime::PerRequest => "one per request".to_owned(),
        ConnectionLifetime::Sessions => "kept for a session of SPECweb99's lengths".to_owned(),
        ConnectionLifetime::KeepAlive { requests_max: None } => "kept alive".to_owned(),
        ConnectionLifetime::KeepAlive { requests_max: Some(n) } => {
            format!("kept alive, at most {n} requests each")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HttpVersion;

    #[test]
    fn choices_are_the_names_of_the_model() {
        fn names<T: NamedValues>() -> Vec<&'static str> {
            T::NAMES.iter().map(|(name, _)| *name).collect()
        }
        let choices = |name: &str| -> Vec<&'static str> {
            let setting = SETTINGS.iter().find(|setting| setting.name == name).unwrap();
            let SettingKind::Choice(choices) = setting.kind else { panic!("{name}") };
            choices.iter().map(|choice| choice.name).collect()
        };
        assert_eq!(choices("http"), names::<HttpVersion>());
        assert_eq!(choices("tls"), names::<Tls>());
        assert_eq!(choices("connection"), names::<ConnectionLifetime>());
    }

    /// Every value of a protocol setting has an effect.
    #[test]
    fn settings_of_the_protocol_are_applied() {
        let applied = |name: &str, value: &str| {
            let mut protocol =
                WebProtocol { streams: 77, ..WebProtocol::plain(ConnectionLifetime::PerRequest) };
            crate::Family::Web.choose_setting(name, value).unwrap().apply_to_protocol(&mut protocol);
            protocol
        };
        assert_eq!(applied("http", "2").http, HttpVersion::Http2);
        assert_eq!(applied("tls", "resumed").tls, Tls::Resumed);
        assert_eq!(applied("streams", "5").streams, 5);
        let kept = |requests_max| ConnectionLifetime::KeepAlive { requests_max };
        assert_eq!(applied("connection", "keep-alive").connection, kept(None));
        assert_eq!(applied("connection", "keep-alive:9").connection, kept(Some(9)));
        assert_eq!(applied("connection", "sessions").connection, ConnectionLifetime::Sessions);
    }
}
