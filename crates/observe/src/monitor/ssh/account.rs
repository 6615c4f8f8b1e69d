//! The account that is passed to `ssh`.

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::str::FromStr;

/// An account on another machine: `user@host`, `host`, or a name from the user's `~/.ssh/config`.
///
/// `ssh` cannot mistake it for anything else: it does not begin like an option and contains no blanks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SshAccount(String);

/// The default port of `ssh`.
const SSH_PORT: u16 = 22;

/// An invalid account.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected `USER@HOST`, found `{text}`: {problem}")]
pub struct SshAccountError {
    text: String,
    problem: &'static str,
}

impl SshAccount {
    /// Returns the addresses of the host, as far as they can be resolved without `ssh`.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        // A zone selects the interface, not the destination.
        let host = self.host().split('%').next().unwrap_or(self.host());
        (host, SSH_PORT).to_socket_addrs().map_or_else(|_| Vec::new(), Iterator::collect)
    }

    /// Returns the host alone.
    pub fn host(&self) -> &str {
        self.0.rsplit_once('@').map_or(self.0.as_str(), |(_, host)| host)
    }

    /// Returns it in the form passed to `ssh`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SshAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for SshAccount {
    type Err = SshAccountError;

    fn from_str(text: &str) -> Result<SshAccount, SshAccountError> {
        match problem(text) {
            Some(problem) => Err(SshAccountError { text: text.escape_debug().to_string(), problem }),
            None => Ok(SshAccount(text.to_owned())),
        }
    }
}

/// Returns why a text cannot be a destination of `ssh`.
fn problem(text: &str) -> Option<&'static str> {
    // As in ssh: a user name may contain an `@`, a host cannot.
    let (user, host) = text.rsplit_once('@').map_or((None, text), |(user, host)| (Some(user), host));
    let is_host = |c: char| c.is_ascii_alphanumeric() || "-._:%".contains(c);
    let is_user = |c: char| c.is_ascii_graphic() && !"'\"`$\\;|&<>(){}*?!#/:".contains(c);
    if host.is_empty() {
        Some("it has no host")
    } else if text.split('@').any(|part| part.starts_with('-')) {
        Some("it would be parsed as an option")
    } else if host.matches(':').count() == 1 {
        Some("ports are not supported\nhint: name the machine and its port in `~/.ssh/config`")
    } else if !host.chars().all(is_host) {
        Some("a host consists of letters, digits, `-`, `.`, `_`, and `:` if it is an IPv6 address")
    } else if user.is_some_and(|user| user.is_empty() || !user.chars().all(is_user)) {
        Some("a user consists of letters, digits and characters without meaning to a shell")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn accounts_are_accepted_unchanged() {
        for text in
            ["load@sut", "sut", "root@10.0.0.7", "me@fe80::1%eth0", "first.last@corp@db-1.lan", "u_1-x@s"]
        {
            assert_eq!(text.parse::<SshAccount>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn invalid_accounts_are_refused_with_the_reason() {
        for (text, said) in [
            ("", "no host"),
            ("user@", "no host"),
            ("-oProxyCommand=reboot", "option"),
            ("-v@host", "option"),
            ("user@-oProxyCommand=reboot", "option"),
            // A user of `@-`, found by the property test below.
            ("@-@a", "option"),
            ("me@-x@host", "option"),
            ("user@host:22", "hint: name the machine"),
            ("user@host name", "a host consists of"),
            ("user@[::1]", "a host consists of"),
            ("user@host;reboot", "a host consists of"),
            ("@host", "a user consists of"),
            ("a b@host", "a user consists of"),
            ("$(reboot)@host", "a user consists of"),
            ("us\ner@host", "a user consists of"),
        ] {
            let error = text.parse::<SshAccount>().unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
            assert!(error.starts_with("expected `USER@HOST`, found `"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn an_account_is_one_argument_and_not_an_option(text in "[-a@:. $\n]{0,12}|\\PC{0,12}") {
            if let Ok(account) = text.parse::<SshAccount>() {
                prop_assert!(!account.as_str().starts_with('-') && !account.as_str().contains("@-"));
                prop_assert!(account.as_str().bytes().all(|byte| byte.is_ascii_graphic()));
            }
        }
    }
}
