//! Words of the command line that are URLs, and the servers that their schemes stand for.

/// Schemes of servers that are no web servers, with the command that loads them.
const OTHER_FAMILIES: [(&str, &str); 12] = [
    ("postgres", DATABASE),
    ("postgresql", DATABASE),
    ("mysql", DATABASE),
    ("mariadb", DATABASE),
    ("jdbc", DATABASE),
    ("app", "`plimsoll run serverbench --target app://HOST:PORT` loads an application server"),
    ("file", "`plimsoll run netbench --target file:///PATH` loads the files of a directory"),
    ("nfs", "`plimsoll run netbench --target nfs://HOST/EXPORT` loads the files of an export"),
    ("smb", "`plimsoll run netbench --target smb://USER@HOST/SHARE` loads the files of a share"),
    ("imap", MAIL),
    ("imaps", MAIL),
    ("orders", "`plimsoll run orderentry --target orders://HOST:PORT` loads a server of order-entry data"),
];

/// The command that loads a mail server.
const MAIL: &str =
    "`plimsoll run notes-mail --target 'imap://HOST:PORT?submission=PORT&accounts=FILE'` loads a mail server";

/// The commands that load a database.
const DATABASE: &str = "`plimsoll run orderentry --target postgres://USER@HOST:PORT/DATABASE` (or `mysql://USER@HOST:PORT`) \
    loads a database with order entry; a definition of the family `sql` has statements of your own (docs/definitions.md)";

/// Returns whether a word is meant as a URL rather than as the name or path of a benchmark.
pub(crate) fn is_url(word: &str) -> bool {
    word.contains("://") || ["http:", "https:", "unix:"].iter().any(|start| word.starts_with(start))
}

/// Returns the command that loads the server of a URL which is no web server.
pub(crate) fn command_for(url: &str) -> Option<&'static str> {
    let scheme = url.split(':').next().filter(|_| url.contains("://"))?;
    let found = OTHER_FAMILIES.iter().find(|(other, _)| other.eq_ignore_ascii_case(scheme));
    found.map(|(_, command)| *command)
}
