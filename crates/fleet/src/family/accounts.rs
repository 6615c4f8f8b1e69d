//! The list of the accounts of a mail server's users, as its file has them.

use drivers::mail::{MailAccounts, MailLogin, MailPassword};
use mail::{DirectoryError, MailDirectory};
use thiserror::Error;

use super::SetupError;

/// A list of accounts: the addresses of users, all of one domain, with which they log on, and their passwords.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccountList {
    names: Vec<String>,
    domain: String,
    passwords: Vec<MailPassword>,
}

/// A fault of a list of accounts. It never shows a password.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AccountListError {
    /// A line is no account.
    #[error("line {0}: expected `NAME@DOMAIN:PASSWORD`")]
    Line(usize),
    /// A line is of another domain.
    #[error("line {line}: expected a user of `{domain}`, the domain of the first")]
    Domain {
        /// The number of the line, from 1.
        line: usize,
        /// The domain of the first account.
        domain: String,
    },
    /// There can be no such users.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
}

impl AccountList {
    /// Reads a list: a line `NAME@DOMAIN:PASSWORD` for each user; empty lines and those that begin with `#` count as none.
    ///
    /// # Errors
    /// A line is no account, two have different domains, or a user is there twice.
    pub fn parse(text: &str) -> Result<AccountList, AccountListError> {
        let mut list = AccountList::default();
        for (index, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let line_number = index + 1;
            let parts = line.split_once(':').and_then(|(address, password)| {
                let (name, domain) = address.split_once('@')?;
                Some((name, domain, password)).filter(|_| !password.is_empty())
            });
            let (name, domain, password) = parts.ok_or(AccountListError::Line(line_number))?;
            if list.names.is_empty() {
                domain.clone_into(&mut list.domain);
            }
            if !domain.eq_ignore_ascii_case(&list.domain) {
                let domain = list.domain.clone();
                return Err(AccountListError::Domain { line: line_number, domain });
            }
            list.names.push(name.to_owned());
            list.passwords.push(MailPassword::new(password));
        }
        MailDirectory::listed(list.names.clone(), &list.domain)?;
        Ok(list)
    }

    /// Returns the number of accounts.
    pub fn n_accounts(&self) -> usize {
        self.names.len()
    }

    /// Returns the first so many users by their numbers.
    ///
    /// # Errors
    /// There are fewer.
    pub(super) fn directory(&self, n_users: u32) -> Result<MailDirectory, SetupError> {
        let names = self.names.get(..n_users as usize);
        let names = names.ok_or(SetupError::TooFewAccounts { n_users, n_accounts: self.n_accounts() })?;
        Ok(MailDirectory::listed(names.to_vec(), &self.domain)?)
    }

    /// Returns the accounts with which users log on.
    pub(super) fn accounts(&self) -> MailAccounts {
        MailAccounts { login: MailLogin::Address, passwords: self.passwords.clone().into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_an_account_in_each_line() {
        let list = AccountList::parse("# users\nanna@x.test:p:1\n\nbo@X.test:q\n").unwrap();
        let directory = list.directory(2).unwrap();
        assert_eq!((directory.n_users(), directory.domain()), (2, "x.test"));
        assert_eq!(list.passwords[0].text(), "p:1");
        assert!(!format!("{list:?}").contains("p:1"));
        let error = list.directory(3).unwrap_err().to_string();
        assert_eq!(error, "3 users of the plan need an account each, and the list has 2");
    }

    #[test]
    fn lists_with_mistakes_are_refused() {
        let error = |text: &str| AccountList::parse(text).unwrap_err().to_string();
        assert_eq!(error("a@x.test:p\nb@x.test\n"), "line 2: expected `NAME@DOMAIN:PASSWORD`");
        assert_eq!(error("a@x.test:p\nb@x.test:"), "line 2: expected `NAME@DOMAIN:PASSWORD`");
        assert_eq!(error("a:secret"), "line 1: expected `NAME@DOMAIN:PASSWORD`");
        assert_eq!(
            error("a@x.test:p\nb@y.test:q"),
            "line 2: expected a user of `x.test`, the domain of the first"
        );
        assert_eq!(error("a@x.test:p\nA@x.test:q"), "the name `A` is there twice");
        assert_eq!(error(""), "a directory needs at least one user");
    }
}
