//! The user accounts of servers: the usual one for those that refuse to run as root, or the one that a recipe names.

use observe::{kernel_file, user_name};
use rustix::process::{getegid, geteuid};

use super::SutError;
use super::recipe_selection::RecipeSelection;
use crate::recipe::{Recipe, StartRecipe};

/// Usual accounts for servers, in order of preference.
const USUAL: [&str; 4] = ["www-data", "http", "apache", "nobody"];

/// A user of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Account {
    /// Its name.
    pub name: String,
    /// Its number.
    pub uid: u32,
    /// The number of its group.
    pub gid: u32,
}

impl Account {
    /// Returns the account for servers: for root the first usual one of this machine, for other users their
    /// own.
    pub(crate) fn for_service() -> Account {
        let users = kernel_file::read("/etc/passwd").unwrap_or_default();
        let usual = || USUAL.iter().find_map(|name| Account::named(name, &users));
        let other = if geteuid().is_root() { usual() } else { None };
        other.unwrap_or_else(|| Account {
            name: user_name(),
            uid: geteuid().as_raw(),
            gid: getegid().as_raw(),
        })
    }

    /// Checks that this user can start a server, and that the accounts of all its programs exist.
    ///
    /// # Errors
    /// Only root can start the server, or an account does not exist.
    pub(super) fn check(recipe: &Recipe, choice: &RecipeSelection) -> Result<(), SutError> {
        if let (false, Some(why)) = (geteuid().is_root(), &recipe.needs_root) {
            return Err(SutError::NeedsRoot { title: recipe.title.clone(), why: why.clone() });
        }
        let companions = choice.companions.iter().map(|(_, one)| (&one.title, &one.start, &one.program));
        let programs = companions.chain([(&recipe.title, &recipe.start, &recipe.program)]);
        for (title, start, program) in programs {
            if let (Some(account), None) = (asked(start), Account::for_start(start)) {
                return Err(SutError::NoAccount {
                    title: title.clone(),
                    account: account.to_owned(),
                    install: program.install.clone(),
                });
            }
        }
        Ok(())
    }

    /// Returns the account under which a program is started; `None` for that of this process.
    pub(super) fn for_start(start: &StartRecipe) -> Option<Account> {
        Account::named(asked(start)?, &kernel_file::read("/etc/passwd").unwrap_or_default())
    }

    /// Parses lines `name:x:uid:gid:...`.
    fn named(name: &str, users: &str) -> Option<Account> {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let number = |field: usize| line.split(':').nth(field)?.parse().ok();
        Some(Account { name: name.to_owned(), uid: number(2)?, gid: number(3)? })
    }
}

/// Returns the name of the account that root takes for a program.
fn asked(start: &StartRecipe) -> Option<&str> {
    start.account.as_deref().filter(|_| geteuid().is_root())
}

/// Returns whether a server, or a companion, gives up root's rights: in favor of the service account, or because
/// it is started under another.
pub(super) fn takes_other_rights(recipe: &Recipe, choice: &RecipeSelection) -> bool {
    recipe.start.account.is_some()
        || ["service_user", "service_gid"].iter().any(|account| {
            recipe.names(account) || choice.companions.iter().any(|(_, companion)| companion.names(account))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_its_complete_name() {
        let users = "root:x:0:0:root:/root:/bin/sh\nnobody2:x:1:1::/:\nnobody:x:65534:65533:n:/:/x";
        assert_eq!(
            Account::named("nobody", users),
            Some(Account { name: "nobody".into(), uid: 65_534, gid: 65_533 })
        );
        assert_eq!(Account::named("www-data", users), None);
    }
}
