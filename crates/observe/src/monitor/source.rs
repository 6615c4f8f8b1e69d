//! Monitors of other machines and of servers, as specified by users.

use std::fmt;
use std::str::FromStr;

use languages::{foreign_text, without_credentials};
use model::{ForbiddenObserver, check_observer};

use super::app_stats::{AppServerAddress, AppServerAddressError, AppServerMonitor};
use super::fetch::PageUrl;
use super::prometheus::PrometheusMachine;
use super::ssh::{SshAccount, SshMachine, SshOptions};
use super::{MonitorError, ResourceMonitor};
use crate::program::StartProgram;
use crate::watch::ProcessSelector;

/// A machine to monitor: `prometheus=http://sut:9100/metrics`, `ssh=user@sut`; or a server: `app=sut:7000`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MonitorSource {
    /// A machine with node_exporter or windows_exporter at this URL.
    Prometheus(PageUrl),
    /// A Linux machine with a shell account.
    Ssh(SshAccount),
    /// An application server that tells its load.
    AppServer(AppServerAddress),
}

/// A text that is not a monitor source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("monitor `{text}`: {problem}")]
pub struct MonitorSourceError {
    text: String,
    problem: String,
}

impl MonitorSource {
    /// Returns the machine's name in series: the URL, the account, or the address.
    pub fn machine(&self) -> &str {
        match self {
            MonitorSource::Prometheus(url) => url.as_str(),
            MonitorSource::Ssh(account) => account.as_str(),
            MonitorSource::AppServer(address) => address.as_str(),
        }
    }

    /// Returns whether this is the machine that a user calls `host`: by its host, or by the whole account.
    pub fn is_on(&self, host: &str) -> bool {
        match self {
            MonitorSource::Prometheus(_) | MonitorSource::AppServer(_) => self.machine() == host,
            MonitorSource::Ssh(account) => account.as_str() == host || account.host() == host,
        }
    }

    /// Resolves the machine and checks its addresses. Names known only to `ssh` are not resolved.
    ///
    /// # Errors
    /// An address is forbidden.
    pub fn check(&self) -> Result<(), ForbiddenObserver> {
        match self {
            MonitorSource::Prometheus(url) => url.check(),
            MonitorSource::Ssh(account) => check_observer(&account.addresses()),
            MonitorSource::AppServer(address) => address.check(),
        }
    }

    /// Starts monitoring the machine, and the processes there that `watched` selects; `start` starts the program that
    /// this may need.
    ///
    /// # Errors
    /// Monitoring it is forbidden, `ssh` cannot connect, or processes are not found; an exporter is first contacted by the first
    /// reading.
    pub fn watch(
        &self,
        watched: &[ProcessSelector],
        start: StartProgram,
    ) -> Result<Box<dyn ResourceMonitor>, MonitorError> {
        let fail = |reason: String| MonitorError { watched: self.machine().to_owned(), reason };
        self.check().map_err(|why| fail(why.to_string()))?;
        Ok(match self {
            MonitorSource::Prometheus(_) | MonitorSource::AppServer(_) if !watched.is_empty() => {
                return Err(fail(
                    "processes cannot be selected there\nhint: use `--monitor ssh=USER@HOST`".to_owned(),
                ));
            }
            MonitorSource::Prometheus(url) => Box::new(PrometheusMachine::new(url.clone())),
            MonitorSource::AppServer(address) => Box::new(AppServerMonitor::new(address.clone())),
            MonitorSource::Ssh(account) => {
                let machine = SshMachine::connect(account.clone(), SshOptions::default(), start)?;
                Box::new(machine.watching(watched)?)
            }
        })
    }
}

/// Formats it as written: `ssh=user@sut`.
impl fmt::Display for MonitorSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self {
            MonitorSource::Prometheus(_) => "prometheus",
            MonitorSource::Ssh(_) => "ssh",
            MonitorSource::AppServer(_) => "app",
        };
        write!(f, "{kind}={}", self.machine())
    }
}

impl FromStr for MonitorSource {
    type Err = MonitorSourceError;

    fn from_str(text: &str) -> Result<MonitorSource, MonitorSourceError> {
        let fail = |problem| MonitorSourceError { text: foreign_text(&without_credentials(text)), problem };
        match text.split_once('=') {
            Some(("prometheus", url)) => {
                PageUrl::parse(url).map(MonitorSource::Prometheus).map_err(|error| fail(error.to_string()))
            }
            Some(("app", address)) => address
                .parse()
                .map(MonitorSource::AppServer)
                .map_err(|error: AppServerAddressError| fail(error.to_string())),
            Some(("ssh", account)) => account
                .parse()
                .map(MonitorSource::Ssh)
                .map_err(|error: super::ssh::SshAccountError| fail(error.to_string())),
            _ => Err(fail(expected(text))),
        }
    }
}

/// Describes the expectation, with a suggestion.
fn expected(text: &str) -> String {
    let meant = match text {
        url if url.starts_with("http") => {
            format!("\nhint: did you mean `prometheus={}`?", foreign_text(&without_credentials(url)))
        }
        account if account.parse::<SshAccount>().is_ok() => format!("\nhint: did you mean `ssh={account}`?"),
        _ => String::new(),
    };
    format!("expected `prometheus=http://HOST:9100/metrics`, `ssh=USER@HOST` or `app=HOST:PORT`{meant}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::UNUSED_ADDRESS;
    use crate::program::testing::start;
    use proptest::prelude::*;

    #[test]
    fn sources_round_trip() {
        for (text, machine) in [
            ("prometheus=http://sut:9100/metrics", "http://sut:9100/metrics"),
            ("prometheus=http://[::1]:9182/metrics?collect[]=cpu", "http://[::1]:9182/metrics?collect[]=cpu"),
            ("ssh=load@sut", "load@sut"),
            ("ssh=sut", "sut"),
            ("app=sut:7000", "sut:7000"),
        ] {
            let source: MonitorSource = text.parse().unwrap();
            assert_eq!((source.machine(), source.to_string()), (machine, text.to_owned()));
        }
    }

    #[test]
    fn invalid_sources_are_refused_with_a_hint() {
        let expected = "expected `prometheus=http://HOST:9100/metrics`, `ssh=USER@HOST` or `app=HOST:PORT`";
        for (text, error) in [
            ("", format!("monitor ``: {expected}")),
            ("snmp=sut", format!("monitor `snmp=sut`: {expected}")),
            ("me@sut", format!("monitor `me@sut`: {expected}\nhint: did you mean `ssh=me@sut`?")),
            (
                "http://sut:9100/metrics",
                format!(
                    "monitor `http://sut:9100/metrics`: {expected}\n\
                     hint: did you mean `prometheus=http://sut:9100/metrics`?"
                ),
            ),
            (
                "ssh=-v",
                "monitor `ssh=-v`: expected `USER@HOST`, found `-v`: it would be parsed as an option"
                    .to_owned(),
            ),
        ] {
            assert_eq!(text.parse::<MonitorSource>().unwrap_err().to_string(), error);
        }
        assert!("prometheus=https://sut/".parse::<MonitorSource>().is_err());
    }

    #[test]
    fn cloud_metadata_addresses_are_forbidden() {
        for text in [
            "prometheus=http://169.254.169.254/metrics",
            "prometheus=http://2852039166/metrics",
            "prometheus=http://[fe80::1]:9100/metrics",
            "ssh=root@169.254.169.254",
            "ssh=root@2852039166",
            "ssh=fe80::1%lo",
            "app=169.254.169.254:7000",
        ] {
            let source: MonitorSource = text.parse().unwrap();
            assert!(source.check().is_err(), "{text}");
            assert!(
                source.watch(&[], start).err().unwrap().reason.starts_with("no connection is made to `"),
                "{text}"
            );
        }
        for text in
            ["prometheus=http://8.8.8.8/metrics", "ssh=root@8.8.8.8", "ssh=a-name-of-ssh-config.invalid"]
        {
            assert_eq!(text.parse::<MonitorSource>().unwrap().check(), Ok(()), "{text}");
        }
    }

    #[test]
    fn credentials_in_urls_are_redacted() {
        let error = "prometheus=http://me:secret@sut/".parse::<MonitorSource>().unwrap_err().to_string();
        assert!(!error.contains("secret"), "{error}");
        let source: MonitorSource = "prometheus=http://169.254.1.1/?token=secret".parse().unwrap();
        let error = source.watch(&[], start).err().unwrap().to_string();
        assert!(!error.contains("secret") && error.contains("token=[redacted]"), "{error}");
    }

    #[test]
    fn an_exporter_is_contacted_only_by_a_reading() {
        let source: MonitorSource = format!("prometheus=http://{UNUSED_ADDRESS}/metrics").parse().unwrap();
        let error = source.watch(&[], start).unwrap().read(&mut Vec::new()).unwrap_err();
        assert_eq!(error.watched, source.machine());
    }

    proptest! {
        #[test]
        fn any_text_is_a_source_or_an_error(text in "(prometheus=http://|ssh=)?\\PC{0,20}") {
            if let Ok(source) = text.parse::<MonitorSource>() {
                prop_assert_eq!(source.to_string(), text);
            }
        }
    }
}
