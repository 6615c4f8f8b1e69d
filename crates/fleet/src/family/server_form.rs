//! The form in which the server that is to be loaded travels to load agents: by its name, which each of them resolves itself.

use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use drivers::database::DatabasePassword;
use drivers::file::smb::SmbAccount;
use drivers::web::{ConnectTo, Target, TargetAccess};
use drivers::{Authorities, ClientIdentity, Trust};
use model::DatabaseProduct;

use super::{
    ApplicationServer, ExternalDatabase, ExternalServer, FileExport, FileShare, OrderDatabase, UrlEncryption,
};
use crate::form::{FormError, FormReader, FormWriter};

/// A server as load agents are told of it: its kind, and what names it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct ServerForm(Vec<u8>);

/// It may have passwords.
impl fmt::Debug for ServerForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServerForm({} bytes)", self.0.len())
    }
}

/// The kinds of servers, one for each variant of [`ExternalServer`] that load agents can reach.
const WEB: u64 = 0;
const APP: u64 = 1;
const SHARE: u64 = 2;
const ORDER_ENTRY: u64 = 3;
const DATABASE: u64 = 4;
const SQL: u64 = 5;
const EXPORT: u64 = 6;

impl ServerForm {
    fn of(kind: u64, put: impl FnOnce(&mut FormWriter)) -> ServerForm {
        let mut form = FormWriter::default();
        form.number(kind);
        put(&mut form);
        ServerForm(form.finish())
    }

    pub(super) fn web(target: &Target, trust: &Trust) -> ServerForm {
        ServerForm::of(WEB, |form| {
            put_web(target, form);
            put_trust(trust, form);
        })
    }

    pub(crate) fn app(server: &ApplicationServer) -> ServerForm {
        ServerForm::of(APP, |form| form.text(&server.to_string()))
    }

    pub(super) fn share(share: &FileShare) -> ServerForm {
        let FileShare { host, port, share, folder, account } = share;
        ServerForm::of(SHARE, |form| {
            put_place(host, *port, form);
            for text in [share, folder, &account.user, &account.domain, &account.password] {
                form.text(text);
            }
        })
    }

    pub(super) fn export(export: &FileExport) -> ServerForm {
        let FileExport { host, given_port, mount_port, path, owner } = export;
        ServerForm::of(EXPORT, |form| {
            form.text(host);
            form.optional(*given_port, FormWriter::number);
            form.optional(*mount_port, FormWriter::number);
            form.text(path);
            form.optional(*owner, |form, (uid, gid)| {
                form.number(uid);
                form.number(gid);
            });
        })
    }

    pub(super) fn order_entry(server: &OrderDatabase) -> ServerForm {
        ServerForm::of(ORDER_ENTRY, |form| put_place(&server.host, server.port, form))
    }

    pub(super) fn database(database: &ExternalDatabase) -> ServerForm {
        ServerForm::of(DATABASE, |form| put_database(database, form))
    }

    pub(super) fn sql(database: &ExternalDatabase) -> ServerForm {
        ServerForm::of(SQL, |form| put_database(database, form))
    }

    /// Returns the bytes in which it travels.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Takes the bytes in which it travelled, whatever they are.
    pub(crate) fn from_bytes(bytes: &[u8]) -> ServerForm {
        ServerForm(bytes.to_owned())
    }

    /// Reads the server. Any bytes are safe.
    ///
    /// # Errors
    /// They name none.
    pub(crate) fn read(&self) -> Result<ExternalServer, FormError> {
        let mut form = FormReader::new(&self.0);
        let server = server(&mut form)?;
        form.finish()?;
        Ok(server)
    }
}

fn server(form: &mut FormReader<'_>) -> Result<ExternalServer, FormError> {
    Ok(match form.u64()? {
        WEB => ExternalServer::Web(web(form)?, trust(form)?),
        APP => {
            let named = form.text("application server")?.parse();
            ExternalServer::App(named.map_err(|_| FormError::Impossible("application server"))?)
        }
        SHARE => {
            let (host, port) = place(form)?;
            let mut text = || form.text("share");
            let (share, folder) = (text()?, text()?);
            let account = SmbAccount { user: text()?, domain: text()?, password: text()? };
            ExternalServer::Share(FileShare { host, port, share, folder, account })
        }
        EXPORT => ExternalServer::Export(FileExport {
            host: form.text("host")?,
            given_port: form.optional(|form| form.number("port"))?,
            mount_port: form.optional(|form| form.number("port"))?,
            path: form.text("path of an export")?,
            owner: form.optional(|form| Ok((form.number("user")?, form.number("group")?)))?,
        }),
        ORDER_ENTRY => {
            let (host, port) = place(form)?;
            ExternalServer::OrderEntry(OrderDatabase { host, port })
        }
        DATABASE => ExternalServer::Database(database(form)?),
        SQL => ExternalServer::Sql(database(form)?),
        _ => return Err(FormError::Impossible("kind of server")),
    })
}

fn put_place(host: &str, port: u16, form: &mut FormWriter) {
    form.text(host);
    form.number(port);
}

fn place(form: &mut FormReader<'_>) -> Result<(String, u16), FormError> {
    Ok((form.text("host")?, form.number("port")?))
}

fn put_path(path: &Path, form: &mut FormWriter) {
    form.bytes(path.as_os_str().as_bytes());
}

fn path(form: &mut FormReader<'_>) -> Result<PathBuf, FormError> {
    let bytes = form.bytes()?;
    if bytes.contains(&0) {
        return Err(FormError::Impossible("path"));
    }
    Ok(OsString::from_vec(bytes.to_owned()).into())
}

fn put_web(target: &Target, form: &mut FormWriter) {
    put_place(&target.host, target.port, form);
    form.flag(target.secure);
    match &target.access.connect_to {
        ConnectTo::Target => form.number(0_u64),
        ConnectTo::Address { host, port } => {
            form.number(1_u64);
            put_place(host, *port, form);
        }
        ConnectTo::Socket(socket) => {
            form.number(2_u64);
            put_path(socket, form);
        }
    }
    form.optional(target.access.identity.as_ref(), |form, identity| {
        identity.pem().into_iter().for_each(|pem| form.bytes(pem));
    });
}

fn web(form: &mut FormReader<'_>) -> Result<Target, FormError> {
    let (host, port) = place(form)?;
    let secure = form.flag("mark of encryption")?;
    let connect_to = match form.u64()? {
        0 => ConnectTo::Target,
        1 => {
            let (host, port) = place(form)?;
            ConnectTo::Address { host, port }
        }
        2 => ConnectTo::Socket(path(form)?),
        _ => return Err(FormError::Impossible("way to a server")),
    };
    let identity = form.optional(|form| {
        let (certificate, key) = (form.bytes()?, form.bytes()?);
        ClientIdentity::from_pem(certificate, key).map_err(|_| FormError::Impossible("client certificate"))
    })?;
    Ok(Target { host, port, secure, access: TargetAccess { connect_to, identity } })
}

fn put_trust(trust: &Trust, form: &mut FormWriter) {
    match trust {
        Trust::Any => form.number(0_u64),
        Trust::Certificate(certificate) => {
            form.number(1_u64);
            form.bytes(certificate);
        }
        Trust::Authorities(authorities) => {
            form.number(2_u64);
            form.list(authorities.certificates(), FormWriter::bytes);
        }
    }
}

fn trust(form: &mut FormReader<'_>) -> Result<Trust, FormError> {
    match form.u64()? {
        0 => Ok(Trust::Any),
        1 => Ok(Trust::Certificate(form.bytes()?.to_owned())),
        2 => {
            let certificates = form.list(|form| Ok(form.bytes()?.to_owned()))?;
            let authorities = Authorities::new(certificates);
            Ok(Trust::Authorities(authorities.ok_or(FormError::Impossible("list of authorities"))?))
        }
        _ => Err(FormError::Impossible("trust in certificates")),
    }
}

fn put_database(database: &ExternalDatabase, form: &mut FormWriter) {
    form.flag(database.product == DatabaseProduct::MariaDb);
    form.optional(database.host.as_deref(), FormWriter::text);
    put_path(&database.socket, form);
    form.number(database.port);
    form.text(&database.user);
    form.text(&database.database);
    form.number(database.encryption as u64);
    form.optional(database.password.as_ref(), |form, password| form.text(password.text()));
    form.optional(database.trust.as_ref(), |form, trust| put_trust(trust, form));
}

fn database(form: &mut FormReader<'_>) -> Result<ExternalDatabase, FormError> {
    let is_maria = form.flag("product of a database")?;
    Ok(ExternalDatabase {
        product: if is_maria { DatabaseProduct::MariaDb } else { DatabaseProduct::PostgreSql },
        host: form.optional(|form| form.text("host"))?,
        socket: path(form)?,
        port: form.number("port")?,
        user: form.text("user")?,
        database: form.text("database")?,
        encryption: match form.u64()? {
            0 => UrlEncryption::Unsaid,
            1 => UrlEncryption::Unverified,
            2 => UrlEncryption::Verified,
            _ => return Err(FormError::Impossible("encryption")),
        },
        password: form.optional(|form| form.text("password"))?.map(DatabasePassword::new),
        trust: form.optional(trust)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: an agent loads what the controller names, with the same passwords and certificates.
    #[test]
    fn servers_of_all_families_travel_whole() {
        let again = |form: ServerForm| format!("{:?}", ServerForm::from_bytes(form.bytes()).read().unwrap());
        let text = |server: ExternalServer| format!("{server:?}");
        let secure: Target = "https://[::1]:8443/".parse().unwrap();
        let socket: Target = "http+unix://%2Frun%2Fapp.sock/".parse().unwrap();
        let mut other = socket.clone();
        other.access.connect_to = ConnectTo::Address { host: "a".to_owned(), port: 7 };
        for trust in [Trust::Any, Trust::Certificate(vec![1, 2, 3])] {
            for target in [&secure, &socket, &other] {
                let expected = ExternalServer::Web(target.clone(), trust.clone());
                assert_eq!(again(ServerForm::web(target, &trust)), text(expected));
            }
        }
        for target in ["app://h:7000", "http://h:7000"] {
            let server: ApplicationServer = target.parse().unwrap();
            assert_eq!(again(ServerForm::app(&server)), text(ExternalServer::App(server)));
        }
        let server: OrderDatabase = "orders://h:7000".parse().unwrap();
        assert_eq!(again(ServerForm::order_entry(&server)), text(ExternalServer::OrderEntry(server)));
        for url in ["mysql://me@h:3306/shop", "mysql://me@/shop?socket=/run/m.sock"] {
            let database: ExternalDatabase = url.parse().unwrap();
            assert_eq!(again(ServerForm::sql(&database)), text(ExternalServer::Sql(database)));
        }
        // Passwords are not shown, and so compared otherwise.
        let mut database: ExternalDatabase = "postgres://me@db:5432/shop".parse().unwrap();
        database.password = Some(DatabasePassword::new("p w"));
        let form = ServerForm::database(&database);
        assert!(!format!("{form:?}").contains("p w"));
        let ExternalServer::Database(read) = form.read().unwrap() else { panic!() };
        assert_eq!(read, database);
        let mut share: FileShare = "smb://d;me@host:4450/files/sub".parse().unwrap();
        share.account.password = "secret".to_owned();
        let ExternalServer::Share(read) = ServerForm::share(&share).read().unwrap() else { panic!() };
        assert_eq!(read, share);
        for text in ["nfs://host/export", "nfs://1000:100@[::1]:12049/export/my%20folder?mountport=12050"] {
            let export: FileExport = text.parse().unwrap();
            assert_eq!(again(ServerForm::export(&export)), format!("{:?}", ExternalServer::Export(export)));
        }
    }

    #[test]
    fn bytes_that_are_no_server_are_refused() {
        for bytes in [&[][..], &[9; 8], &[0; 8], &[3; 24]] {
            assert!(ServerForm::from_bytes(bytes).read().is_err());
        }
        let mut longer = ServerForm::order_entry(&"orders://h:7000".parse().unwrap());
        longer.0.push(0);
        assert!(longer.read().is_err());
    }
}
