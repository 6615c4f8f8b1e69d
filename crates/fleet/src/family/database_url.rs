//! The URLs of databases, as their own clients and the frameworks that use them write them.
//!
//! Source: the documentation of PostgreSQL 15, "Connection Strings", "Parameter Key Words"; that of MariaDB Connector/C.

use std::path::{Path, PathBuf};

use languages::{host_and_port, nearest, percent_decoded_bytes, push_percent_encoded};
use model::DatabaseProduct;
use thiserror::Error;

use super::database::ExternalDatabase;

/// The notation of targets.
const EXPECTED: &str = "write `postgres://USER@HOST:PORT/DATABASE` or `mysql://USER@HOST:PORT/DATABASE`; for a socket of this \
                        machine `postgres://USER@/DATABASE?host=/DIRECTORY` or `mysql://USER@/DATABASE?socket=/FILE`";

/// The sources of passwords.
const PASSWORDS: &str =
    "set it by `PGPASSWORD`, `~/.pgpass` or the file in `PGPASSFILE`, for MariaDB by `MYSQL_PWD`";

/// The schemes of targets, perhaps behind `jdbc:`.
const SCHEMES: [(&str, DatabaseProduct); 4] = [
    ("postgres", DatabaseProduct::PostgreSql),
    ("postgresql", DatabaseProduct::PostgreSql),
    ("mysql", DatabaseProduct::MariaDb),
    ("mariadb", DatabaseProduct::MariaDb),
];

/// The directories of PostgreSQL's socket, and the paths of MariaDB's, where the target names none: the first that exists.
const POSTGRESQL_SOCKETS: [&str; 2] = ["/run/postgresql", "/tmp"];
const MARIADB_SOCKETS: [&str; 3] =
    ["/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock", "/tmp/mysql.sock"];

/// The encryption that a target asks for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UrlEncryption {
    /// It leaves that to the settings of the run.
    #[default]
    Unsaid,
    /// With any certificate.
    Unverified,
    /// With a certificate that is verified.
    Verified,
}

/// A reason why a text is not the URL of a database.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{text}")]
pub struct DatabaseUrlError {
    /// The reason. It repeats no part that may be a password.
    pub text: String,
    /// The remedy.
    pub hint: String,
}

fn mistake<T>(text: impl Into<String>, hint: impl Into<String>) -> Result<T, DatabaseUrlError> {
    Err(DatabaseUrlError { text: text.into(), hint: hint.into() })
}

/// The use of a parameter.
#[derive(Debug, Clone, Copy)]
enum Use {
    Host,
    Port,
    User,
    Database,
    Socket,
    Encryption,
    Password,
    /// It changes nothing here, with these values, or with any.
    None(&'static [&'static str]),
    /// None: the text names the other way to say it.
    Otherwise(&'static str),
}

const CERTIFICATES: Use = Use::Otherwise("name the authorities by `--ca FILE`");
const NO_IDENTITY: Use =
    Use::Otherwise("Plimsoll has no certificates of its own for databases: leave it out");
const TIME_LIMIT: Use = Use::Otherwise("leave it out: `time-limit` in `[protocol]` also limits the log-on");
const OF_ROLE: Use =
    Use::Otherwise("set it for the role, `ALTER ROLE … SET …`, or write schemas into the statements");

/// The parameters, in lower case and without `-` and `_`.
const PARAMETERS: [(&str, Use); 34] = [
    ("host", Use::Host),
    ("hostaddr", Use::Otherwise("write the address instead of the host")),
    ("port", Use::Port),
    ("user", Use::User),
    ("dbname", Use::Database),
    ("socket", Use::Socket),
    ("unixsocket", Use::Socket),
    ("password", Use::Password),
    ("sslmode", Use::Encryption),
    ("ssl", Use::Encryption),
    ("usessl", Use::Encryption),
    ("tls", Use::Encryption),
    ("sslrootcert", CERTIFICATES),
    ("sslca", CERTIFICATES),
    ("sslcert", NO_IDENTITY),
    ("sslkey", NO_IDENTITY),
    ("passfile", Use::Otherwise("name the file in the variable `PGPASSFILE`")),
    ("connecttimeout", TIME_LIMIT),
    ("timeout", TIME_LIMIT),
    ("options", OF_ROLE),
    ("schema", OF_ROLE),
    ("currentschema", OF_ROLE),
    ("searchpath", OF_ROLE),
    ("applicationname", Use::None(&[])),
    ("serverversion", Use::None(&[])),
    ("parsetime", Use::None(&[])),
    (
        "pool",
        Use::Otherwise(
            "leave it out: each user has a session; their number is `--load`, or `--in-flight-max`",
        ),
    ),
    ("clientencoding", Use::None(&["utf8", "utf-8", "auto"])),
    ("charset", Use::None(&["utf8", "utf8mb4"])),
    ("characterencoding", Use::None(&["utf8", "utf-8"])),
    ("channelbinding", Use::None(&["disable", "prefer"])),
    ("gssencmode", Use::None(&["disable", "prefer"])),
    ("targetsessionattrs", Use::None(&["any"])),
    ("autocommit", Use::None(&["1", "true"])),
];

/// The values of the parameters of encryption, in lower case and with `-` for `_`; `None` of what no certificate check here
/// does.
const ENCRYPTIONS: [(&str, Option<UrlEncryption>); 16] = [
    ("disable", Some(UrlEncryption::Unsaid)),
    ("disabled", Some(UrlEncryption::Unsaid)),
    ("false", Some(UrlEncryption::Unsaid)),
    ("0", Some(UrlEncryption::Unsaid)),
    ("allow", Some(UrlEncryption::Unsaid)),
    ("prefer", Some(UrlEncryption::Unsaid)),
    ("preferred", Some(UrlEncryption::Unsaid)),
    ("require", Some(UrlEncryption::Unverified)),
    ("required", Some(UrlEncryption::Unverified)),
    ("skip-verify", Some(UrlEncryption::Unverified)),
    ("verify-full", Some(UrlEncryption::Verified)),
    ("verify-identity", Some(UrlEncryption::Verified)),
    ("true", Some(UrlEncryption::Verified)),
    ("1", Some(UrlEncryption::Verified)),
    ("verify-ca", None),
    ("verifyca", None),
];

/// Returns the product that targets of a scheme name.
pub(super) fn product_of_scheme(scheme: &str) -> Option<DatabaseProduct> {
    let scheme = scheme.to_ascii_lowercase();
    let scheme = scheme.strip_prefix("jdbc:").unwrap_or(&scheme);
    SCHEMES.iter().find(|(one, _)| scheme == *one).map(|(_, product)| *product)
}

/// Returns the port of targets that name none.
pub(super) fn standard_port(product: DatabaseProduct) -> u16 {
    match product {
        DatabaseProduct::PostgreSql => 5432,
        DatabaseProduct::MariaDb => 3306,
    }
}

/// The parts of a target, as far as they are known.
#[derive(Debug, Default)]
struct Parts {
    host: Option<String>,
    socket: Option<PathBuf>,
    port: Option<u16>,
    user: Option<String>,
    database: Option<String>,
    encryption: UrlEncryption,
}

/// Reads the URL of a database.
pub(super) fn read(text: &str) -> Result<ExternalDatabase, DatabaseUrlError> {
    let scheme_and_rest = text.split_once("://");
    let product = scheme_and_rest.and_then(|(scheme, _)| product_of_scheme(scheme));
    let Some(((_, rest), product)) = scheme_and_rest.zip(product) else {
        return mistake("expected the URL of a database", EXPECTED);
    };
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, path) = place.split_once('/').unwrap_or((place, ""));
    // The password of one that is not encoded may contain anything.
    let (user, place) = authority.rsplit_once('@').unwrap_or(("", authority));
    if user.contains(':') {
        return mistake("a target has no password: others could read it on the command line", PASSWORDS);
    }
    let mut parts =
        Parts { user: decoded(user, "user")?, database: decoded(path, "database")?, ..Parts::default() };
    parts.read_place(product, place)?;
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        parts.read_parameter(product, parameter)?;
    }
    parts.complete(product)
}

impl Parts {
    fn read_place(&mut self, product: DatabaseProduct, place: &str) -> Result<(), DatabaseUrlError> {
        let (path, port) = match place.rsplit_once(':') {
            Some((path, port)) if place.starts_with('%') => (path, Some(port)),
            _ => (place, None),
        };
        let path = decoded(path, "host")?.filter(|path| path.starts_with('/'));
        if let Some(path) = path {
            self.socket = Some(PathBuf::from(path));
            self.port = port.map(port_of).transpose()?;
            return Ok(());
        }
        if place.is_empty() {
            return Ok(());
        }
        if place.contains(',') {
            return mistake("a target has one host", "run once for each of them");
        }
        let Ok((host, port)) = host_and_port(place) else {
            return mistake("no host and port between user and database", EXPECTED);
        };
        (self.host, self.port) = (Some(host), Some(port.unwrap_or(standard_port(product))));
        Ok(())
    }

    fn read_parameter(&mut self, product: DatabaseProduct, parameter: &str) -> Result<(), DatabaseUrlError> {
        let (key, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let key = decoded(key, "parameter")?.unwrap_or_default();
        let plain = |c: &char| !matches!(c, '-' | '_');
        let name: String = key.to_ascii_lowercase().chars().filter(plain).collect();
        let Some((_, meaning)) = PARAMETERS.iter().find(|(known, _)| *known == name) else {
            let near = nearest(&name, PARAMETERS.iter().map(|(known, _)| *known));
            let hint = near.map_or("leave it out".to_owned(), |near| format!("did you mean `{near}`?"));
            return mistake(format!("`{key}` is no parameter of a target that Plimsoll knows"), hint);
        };
        let value = decoded(value, &key)?;
        let text = value.as_deref().unwrap_or_default();
        match meaning {
            Use::Host if text.starts_with('/') => self.socket = Some(PathBuf::from(text)),
            Use::Host => {
                let port = self.port;
                self.read_place(product, text)?;
                self.port = port.or(self.port);
            }
            Use::Socket if product == DatabaseProduct::MariaDb && text.starts_with('/') => {
                self.socket = Some(PathBuf::from(text));
            }
            Use::Socket => {
                return mistake(
                    format!("`{key}` is the whole path of MariaDB's socket"),
                    "for PostgreSQL, write the socket's directory: `host=/run/postgresql`",
                );
            }
            Use::Port => self.port = Some(port_of(text)?),
            Use::User => self.user = value,
            Use::Database => self.database = value,
            Use::Encryption => self.encryption = encryption(&key, text)?,
            Use::Password => {
                return mistake(
                    "a target has no password: others could read it on the command line",
                    PASSWORDS,
                );
            }
            Use::None(values) if values.is_empty() || values.contains(&&*text.to_ascii_lowercase()) => {}
            Use::None(values) => {
                let error = format!("Plimsoll knows `{key}` as `{}` only", values.join("` or `"));
                return mistake(error, "leave it out");
            }
            Use::Otherwise(remedy) => return mistake(format!("`{key}` is not part of a target"), *remedy),
        }
        Ok(())
    }

    /// Completes what is left out as the products' own clients do.
    fn complete(self, product: DatabaseProduct) -> Result<ExternalDatabase, DatabaseUrlError> {
        let port = self.port.unwrap_or(standard_port(product));
        let Some(user) = self.user.or_else(observe::named_user) else {
            return mistake("a target needs a user", EXPECTED);
        };
        let database = match product {
            DatabaseProduct::PostgreSql => self.database.unwrap_or_else(|| user.clone()),
            DatabaseProduct::MariaDb => self.database.unwrap_or_default(),
        };
        let socket = match &self.host {
            Some(_) => PathBuf::new(),
            None => self.socket.unwrap_or_else(|| standard_socket(product, port)),
        };
        let host = self.host;
        let encryption = self.encryption;
        if host.is_none() && encryption != UrlEncryption::Unsaid {
            return mistake("a socket of this machine is not encrypted", "leave out the TLS parameter");
        }
        Ok(ExternalDatabase {
            product,
            host,
            socket,
            port,
            user,
            database,
            encryption,
            password: None,
            trust: None,
        })
    }
}

fn port_of(text: &str) -> Result<u16, DatabaseUrlError> {
    match text.parse() {
        Ok(port @ 1..) => Ok(port),
        _ => mistake("a port is a number from 1 to 65535", EXPECTED),
    }
}

fn encryption(key: &str, value: &str) -> Result<UrlEncryption, DatabaseUrlError> {
    let value = value.to_ascii_lowercase().replace('_', "-");
    match ENCRYPTIONS.iter().find(|(known, _)| *known == value) {
        Some((_, Some(encryption))) => Ok(*encryption),
        Some((_, None)) => mistake(
            format!("`{key}={value}` would not verify the name of the server"),
            "`verify-full` verifies it too; `require` accepts any certificate, and the result notes it",
        ),
        None => mistake(format!("unknown value of `{key}`"), "write `require` or `verify-full`"),
    }
}

/// Decodes `%40` and its like; `None` of an empty text.
fn decoded(text: &str, what: &str) -> Result<Option<String>, DatabaseUrlError> {
    let Some(bytes) = percent_decoded_bytes(text) else {
        return mistake(
            format!("`%` needs two hexadecimal digits in the {what}"),
            "write `%25` for `%` itself",
        );
    };
    match String::from_utf8(bytes) {
        Ok(text) if text.is_empty() => Ok(None),
        Ok(text) if !text.contains(char::is_control) => Ok(Some(text)),
        _ => mistake(format!("the {what} is not printable text"), EXPECTED),
    }
}

/// Encodes a text so that it is read again.
pub(super) fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    push_percent_encoded(text, "-_.~$/", &mut encoded);
    encoded
}

/// Returns the socket of a server of this machine that the target does not name.
fn standard_socket(product: DatabaseProduct, port: u16) -> PathBuf {
    let (known, name): (&[&str], _) = match product {
        DatabaseProduct::PostgreSql => (&POSTGRESQL_SOCKETS, format!(".s.PGSQL.{port}")),
        DatabaseProduct::MariaDb => (&MARIADB_SOCKETS, String::new()),
    };
    let exists = |place: &&&str| Path::new(place).join(&name).exists();
    PathBuf::from(known.iter().find(exists).unwrap_or(&known[0]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_have_a_user_a_place_and_a_database() {
        for (text, shown) in [
            ("postgres://me@127.0.0.1:5433/shop", "postgres://me@127.0.0.1:5433/shop"),
            ("PostgreSQL://me@name.example/shop", "postgres://me@name.example:5432/shop"),
            ("jdbc:postgresql://me@a/shop", "postgres://me@a:5432/shop"),
            ("postgres://me@[::1]/shop", "postgres://me@[::1]:5432/shop"),
            ("postgres://me@a", "postgres://me@a:5432/me"),
            ("postgres://a/shop?user=me&port=7&dbname=other", "postgres://me@a:7/other"),
            ("postgres://me@server@a/shop", "postgres://me%40server@a:5432/shop"),
            ("postgres://me%40server@a/my%20shop", "postgres://me%40server@a:5432/my%20shop"),
            ("postgres://me@a/shop$1", "postgres://me@a:5432/shop$1"),
            ("postgres://me@/shop?host=/run/x", "postgres://me@/shop?host=/run/x&port=5432"),
            ("postgres://me@%2Frun%2Fx:7/shop", "postgres://me@/shop?host=/run/x&port=7"),
            ("postgres://me@%2Frun%2Fx/shop", "postgres://me@/shop?host=/run/x&port=5432"),
            ("postgres://me@/shop?port=7&host=%2Fa%20b", "postgres://me@/shop?host=/a%20b&port=7"),
            (
                "postgres://me@/shop?host=a&application_name=x&client_encoding=UTF8",
                "postgres://me@a:5432/shop",
            ),
            ("mysql://me@name.example", "mysql://me@name.example:3306"),
            ("mariadb://me@[::1]:7/", "mysql://me@[::1]:7"),
            ("mysql://me@a/shop?charset=utf8mb4&sslMode=DISABLED", "mysql://me@a:3306/shop"),
            ("mysql://me@/shop?socket=/a", "mysql://me@/shop?socket=/a"),
            ("mysql://me@/?socket=/run/mysqld/mysqld.sock", "mysql://me@/?socket=/run/mysqld/mysqld.sock"),
        ] {
            let database: ExternalDatabase = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(database.to_string(), shown, "{text}");
            assert_eq!(shown.parse(), Ok(database));
        }
    }

    #[test]
    fn the_user_and_the_socket_are_those_of_the_system() {
        let user = observe::named_user().unwrap();
        let database = read("postgres:///?port=1").unwrap();
        assert_eq!((database.user.as_str(), database.database.as_str()), (user.as_str(), user.as_str()));
        assert_eq!(
            (database.host, database.socket),
            (None, PathBuf::from(POSTGRESQL_SOCKETS[0])),
            "none has this port"
        );
        let database = read("mysql://a").unwrap();
        assert_eq!((database.user, database.database), (user, String::new()));
        assert!(read("mysql:///shop").unwrap().socket.is_absolute());
    }

    #[test]
    fn targets_may_ask_for_encryption() {
        for (query, expected) in [
            ("", UrlEncryption::Unsaid),
            ("?sslmode=prefer", UrlEncryption::Unsaid),
            ("?sslmode=require", UrlEncryption::Unverified),
            ("?sslmode=verify-full", UrlEncryption::Verified),
            ("?ssl-mode=VERIFY_IDENTITY", UrlEncryption::Verified),
            ("?useSSL=true", UrlEncryption::Verified),
        ] {
            assert_eq!(read(&format!("mysql://me@a/shop{query}")).unwrap().encryption, expected, "{query}");
        }
    }

    /// Each mistake has a reason and a remedy of its own, and none shows what may be a password.
    #[test]
    fn other_targets_are_refused_with_a_reason_and_a_remedy() {
        let notation = "write `postgres://USER@HOST:PORT/DATABASE`";
        let password = "set it by `PGPASSWORD`, `~/.pgpass`";
        for (text, reason, remedy) in [
            ("127.0.0.1:5432", "expected the URL of a database", notation),
            ("orders://127.0.0.1:1", "expected the URL of a database", notation),
            ("postgres://me@127.0.0.1:0/shop", "no host and port between user and database", notation),
            ("postgres://me@a,b/shop", "a target has one host", "run once for each"),
            ("postgres://me:secret@a/shop", "a target has no password", password),
            ("postgres://me:se@cret@a/shop", "a target has no password", password),
            ("postgres://me@a/shop?password=secret", "a target has no password", password),
            ("postgres://me%4@a/shop", "`%` needs two hexadecimal digits in the user", "`%25`"),
            ("postgres://me@a/shop%00", "the database is not printable text", notation),
            (
                "postgres://me@a/shop?sslmode=verify-ca",
                "`sslmode=verify-ca` would not verify the name",
                "`require`",
            ),
            ("postgres://me@a/shop?sslmode=yes", "unknown value of `sslmode`", "`require`"),
            ("postgres://me@a/shop?sslrootcert=x", "`sslrootcert` is not part of a target", "`--ca FILE`"),
            ("postgres://me@a/shop?connect_timeout=5", "`connect_timeout` is not part", "`time-limit`"),
            ("postgres://me@a/shop?options=-c%20x", "`options` is not part", "`ALTER ROLE"),
            ("postgres://me@a/shop?sslmod=require", "`sslmod` is no parameter", "did you mean `sslmode`?"),
            ("postgres://me@a/shop?what=1", "`what` is no parameter", "leave it out"),
            ("postgres://me@/shop?socket=/run/x", "`socket` is the whole path of MariaDB's", "`host=/run"),
            ("mysql://me@/?socket=run", "`socket` is the whole path of MariaDB's", "`host=/run"),
            ("mysql://me@a/?charset=latin1", "knows `charset` as `utf8` or `utf8mb4` only", "leave it out"),
            ("mysql://me@/?socket=/run/x&tls=true", "a socket of this machine is not encrypted", "leave out"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.text.contains(reason), "{text}: {error}");
            assert!(error.hint.contains(remedy), "{text}: {}", error.hint);
            assert!(!format!("{error:?}").contains("cret"), "{text}");
        }
    }
}
