//! Exports of file servers: their notation as targets, and what a run needs of them over NFS.

use std::fmt;
use std::net::SocketAddr;
use std::rc::Rc;
use std::str::FromStr;

use drivers::file::FileClientOptions;
use drivers::file::nfs::{
    NfsContext, NfsDriver, NfsOwner, NfsServerFacts, NfsSessionError, NfsShare, NfsShareError, NfsTarget,
    NfsVersion, NfsWindowDriver,
};
use languages::{foreign_text, percent_decoded_bytes};
use model::{Family, FileDialect, FileWorkload, Plan};
use testbed::RunningSut;
use units::{Bytes, RealClock};

use super::database_url::encoded;
use super::file::workload;
use super::remote_folder::{FolderPlace, RemoteShare, SESSION_MAX, check_requests};
use super::{ServerForm, SetupError, TargetTextError, host_and_port, host_of};
use crate::verify::VerifyError;

/// The scheme of targets.
const SCHEME: &str = "nfs";

/// The port of targets that name none.
const STANDARD_PORT: u16 = 2049;

/// The parameter with the port of the service that mounts exports.
const MOUNT_PORT: &str = "mountport";

/// The export of servers that are started by their recipes.
const EXPORT_OF_RECIPES: &str = "plimsoll";

/// The notation of a target.
const EXPECTED: &str = "expected `nfs://HOST:PORT/EXPORT` or `nfs://UID:GID@HOST:PORT/EXPORT/FOLDER`, such as `nfs://127.0.0.1/export`; `?mountport=PORT` names the port that mounts exports of NFS 3";

/// The error of a folder that leads out of the export.
const NO_WAY_OUT: &str =
    "the folder of a target is one in the export, without `.`, `..` and control characters";

/// An export of a file server, as the user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileExport {
    /// A name or an address; an IPv6 address in brackets.
    pub host: String,
    /// The TCP port; the standard one, and with NFS 3 that which the server's port mapper says, unless it is given.
    pub(super) given_port: Option<u16>,
    /// The port that mounts exports of NFS 3, if it is given.
    pub(super) mount_port: Option<u16>,
    /// The path of the export and of the folder in it.
    pub(super) path: String,
    /// The user and the group of calls; those of the load generator unless they are given.
    pub(super) owner: Option<(u32, u32)>,
}

impl FileExport {
    /// Returns whether a target is in the notation of exports, as far as its scheme says.
    pub fn is_scheme_of(target: &str) -> bool {
        target.split_once("://").is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case(SCHEME))
    }

    /// Returns the export of a server that was started by its recipe.
    pub(super) fn of_sut(sut: &RunningSut) -> FileExport {
        FileExport {
            host: host_of(sut.addr().ip()),
            given_port: Some(sut.addr().port()),
            mount_port: None,
            path: EXPORT_OF_RECIPES.to_owned(),
            owner: None,
        }
    }

    /// Returns the TCP port.
    pub fn port(&self) -> u16 {
        self.given_port.unwrap_or(STANDARD_PORT)
    }

    /// Returns the export as a run with these settings uses it.
    fn target(&self, address: SocketAddr, workload: &FileWorkload) -> NfsTarget {
        let version = match workload.dialect() {
            Some(FileDialect::Nfs3) => NfsVersion::V3,
            _ => NfsVersion::V4_1,
        };
        NfsTarget {
            address,
            // Whoever names one port knows what listens there.
            mount_port: self.mount_port.or(self.given_port),
            path: self.path.clone(),
            version,
            owner: NfsOwner::of_process(self.owner),
        }
    }
}

/// Reads `nfs://UID:GID@HOST:PORT/EXPORT/FOLDER?mountport=PORT`.
impl FromStr for FileExport {
    type Err = TargetTextError;

    fn from_str(text: &str) -> Result<FileExport, TargetTextError> {
        let form = || TargetTextError::Form(EXPECTED);
        let rest = text.split_once("://").filter(|_| FileExport::is_scheme_of(text)).map(|(_, rest)| rest);
        let rest = rest.ok_or_else(form)?;
        let (rest, parameter) =
            rest.split_once('?').map_or((rest, None), |(rest, parameter)| (rest, Some(parameter)));
        let (authority, path) = rest.split_once('/').ok_or_else(form)?;
        let (owner, place) = match authority.rsplit_once('@') {
            Some((owner, place)) => (Some(owner_of(owner).ok_or_else(form)?), place),
            None => (None, authority),
        };
        let (host, given_port) = host_and_port(place, EXPECTED)?;
        let mount_port = parameter.map(|parameter| mount_port_of(parameter).ok_or_else(form)).transpose()?;
        let path =
            percent_decoded_bytes(path).and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(form)?;
        let path = path.trim_matches('/').to_owned();
        if path.is_empty() {
            return Err(form());
        }
        let is_way_out = |part: &str| ["", ".", ".."].contains(&part);
        if path.split('/').any(is_way_out) || path.contains(char::is_control) {
            return Err(TargetTextError::Form(NO_WAY_OUT));
        }
        Ok(FileExport { host, given_port, mount_port, path, owner })
    }
}

/// Reads `UID:GID`.
fn owner_of(text: &str) -> Option<(u32, u32)> {
    let (uid, gid) = text.split_once(':')?;
    Some((uid.parse().ok()?, gid.parse().ok()?))
}

/// Reads `mountport=PORT`.
fn mount_port_of(text: &str) -> Option<u16> {
    let (name, port) = text.split_once('=')?;
    port.parse().ok().filter(|port| name == MOUNT_PORT && *port != 0)
}

impl fmt::Display for FileExport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FileExport { host, given_port, mount_port, path, owner } = self;
        write!(f, "{SCHEME}://")?;
        if let Some((uid, gid)) = owner {
            write!(f, "{uid}:{gid}@")?;
        }
        f.write_str(host)?;
        if let Some(port) = given_port {
            write!(f, ":{port}")?;
        }
        write!(f, "/{}", encoded(path))?;
        mount_port.map_or(Ok(()), |port| write!(f, "?{MOUNT_PORT}={port}"))
    }
}

impl RemoteShare for FileExport {
    type Folder = NfsShare;
    type Clients = Rc<NfsContext>;
    type Client = NfsDriver;
    type WindowClient = NfsWindowDriver;

    const NOUN: &'static str = "export";

    fn host(&self) -> &str {
        &self.host
    }

    /// Names the user and the group of this process, who make the files.
    fn external(&self) -> ServerForm {
        let NfsOwner { uid, gid, .. } = NfsOwner::of_process(self.owner);
        ServerForm::export(&FileExport { owner: Some((uid, gid)), ..self.clone() })
    }

    fn place(&self, address: SocketAddr) -> FolderPlace {
        FolderPlace(SCHEME, address, self.path.clone())
    }

    async fn inspect(
        &self,
        address: SocketAddr,
        plan: &Plan,
    ) -> Result<Vec<(&'static str, String)>, VerifyError> {
        let workload = workload(plan)?;
        let target = self.target(address, workload);
        let found = NfsServerFacts::find(&target, &plan.source_addresses, SESSION_MAX).await;
        let found = found.map_err(|error| self.unusable(error))?;
        check_requests(self, workload, found.read_bytes_max, found.write_bytes_max)?;
        Ok(described(&found, &target.owner))
    }

    async fn open(&self, address: SocketAddr, plan: &Plan) -> Result<NfsShare, VerifyError> {
        let target = self.target(address, workload(plan)?);
        let opened = NfsShare::open(&target, &plan.source_addresses, SESSION_MAX).await;
        opened.map_err(|error| self.unusable(error))
    }

    fn unusable(&self, error: NfsShareError) -> VerifyError {
        let target = self.to_string();
        match error {
            NfsShareError::Stopped => VerifyError::Interrupted,
            NfsShareError::Session(NfsSessionError::Unreachable { outcome, text }) => {
                VerifyError::Unreachable { family: Family::File, target, outcome, text }
            }
            error => VerifyError::Export { target, error: Box::new(error) },
        }
    }

    fn clients(
        &self,
        address: SocketAddr,
        plan: &Plan,
        options: FileClientOptions,
        clock: RealClock,
    ) -> Result<Rc<NfsContext>, SetupError> {
        let target = self.target(address, workload(plan)?);
        Ok(NfsContext::new(target, &plan.source_addresses, options, clock)?)
    }

    fn client(clients: &Rc<NfsContext>, client: u32) -> NfsDriver {
        NfsDriver::new(Rc::clone(clients), client)
    }

    fn window_client(
        clients: &Rc<NfsContext>,
        client: u32,
        n_places: usize,
        request_bytes: u32,
    ) -> NfsWindowDriver {
        NfsWindowDriver::new(Rc::clone(clients), client, n_places, request_bytes)
    }
}

/// Describes a session as it was found.
fn described(facts: &NfsServerFacts, owner: &NfsOwner) -> Vec<(&'static str, String)> {
    let NfsServerFacts { version, server, lease_seconds, read_bytes_max, write_bytes_max } = facts;
    let bytes = |bytes: &u32| Bytes(u64::from(*bytes)).to_string();
    let mut rows = vec![
        ("dialect", version.to_string()),
        ("authentication", format!("AUTH_SYS, user {} and group {}", owner.uid, owner.gid)),
        ("largest read", bytes(read_bytes_max)),
        ("largest write", bytes(write_bytes_max)),
    ];
    if let Some(seconds) = lease_seconds {
        rows.push(("lease", format!("{seconds} s")));
    }
    if !server.is_empty() {
        rows.push(("server’s name for itself", foreign_text(server)));
    }
    if *version == NfsVersion::V3 {
        rows.push(("locks", "left out".to_owned()));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_name_an_export_and_perhaps_ports_and_an_owner() {
        let read = |text: &str| text.parse::<FileExport>().unwrap();
        let plain = read("nfs://127.0.0.1/export");
        assert_eq!((plain.port(), plain.given_port, plain.owner), (2049, None, None));
        for text in [
            "nfs://127.0.0.1/export",
            "nfs://[::1]:12049/export/my%20folder",
            "nfs://1000:100@host:12049/export?mountport=12050",
        ] {
            assert_eq!(read(text).to_string(), text);
        }
        let all = read("NFS://1000:100@host:12049/a/b/?mountport=12050");
        assert_eq!((all.owner, all.mount_port, all.path.as_str()), (Some((1000, 100)), Some(12050), "a/b"));
        for text in [
            "nfs://host",
            "nfs://host/",
            "nfs:host/export",
            "smb://host/export",
            "nfs://me@host/export",
            "nfs://host/export?mountport=0",
            "nfs://host/export?port=5",
        ] {
            assert_eq!(text.parse::<FileExport>().unwrap_err().to_string(), EXPECTED, "{text}");
        }
        assert_eq!("nfs://host/a/../b".parse::<FileExport>().unwrap_err().to_string(), NO_WAY_OUT);
    }
}
