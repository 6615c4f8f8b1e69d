//! Servers as somebody starts them by hand: their files, configurations and command lines.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::json;

use super::case::ServerKind;
use super::setting::Setting;
use super::work::Work;

const PAGE_PY: &str = include_str!("programs/page.py");
const PAGE_PHP: &str = include_str!("programs/page.php");
const SERVER_JS: &str = include_str!("programs/server.js");
const SERVICE_JS: &str = include_str!("programs/service.js");

/// A program to start.
#[derive(Debug)]
pub(super) struct ServerProgram {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The place where it listens.
    pub listens: ListenPlace,
    /// Whether it is the server's own; a service behind it is not, and has none of its limits.
    pub is_own: bool,
}

/// The place where a program listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ListenPlace {
    /// A TCP port.
    Port(u16),
    /// A Unix socket.
    Socket(PathBuf),
}

/// A server that is to be started, with its folder and ports.
pub(super) struct ServerDraft<'a> {
    /// The server.
    pub kind: ServerKind,
    /// The numbers of the case.
    pub setting: &'a Setting,
    /// A folder of its own.
    pub folder: &'a Path,
    /// The address to listen at.
    pub host: &'a str,
    /// Its port, and that of a back end.
    pub ports: [u16; 2],
    /// The program under test, for the built-in server.
    pub plimsoll: &'a Path,
}

impl ServerDraft<'_> {
    /// Writes all files and returns the programs in the order of their start; the last is the server itself.
    pub(super) fn programs(&self) -> Result<Vec<ServerProgram>> {
        self.write_files()?;
        let mut programs = Vec::new();
        if let Work::Call(time) = self.setting.work {
            let arguments =
                vec![self.write("service.js", SERVICE_JS)?, self.ports[1].to_string(), time.to_string()];
            programs.push(ServerProgram {
                program: "node".into(),
                arguments,
                listens: ListenPlace::Port(self.ports[1]),
                is_own: false,
            });
        }
        match self.kind {
            ServerKind::Nginx => programs.extend(self.nginx()?),
            ServerKind::Apache => programs.push(self.apache("")?),
            ServerKind::Wsgi => programs.push(self.apache(&self.wsgi()?)?),
            ServerKind::Fpm => programs.extend(self.fpm()?),
            ServerKind::Gunicorn => programs.push(self.gunicorn()?),
            ServerKind::Node => programs.push(self.node(self.host, self.ports[0])?),
            ServerKind::BuiltIn => programs.push(self.built_in()?),
        }
        Ok(programs)
    }

    /// Writes the page's description and the files; these are not in the page cache afterwards, where they would cost
    /// the server nothing.
    fn write_files(&self) -> Result<()> {
        let of = |work: fn(Work) -> u32| work(self.setting.work);
        let page = json!({
            "compute_us": of(|work| if let Work::Compute(time) = work { time } else { 0 }),
            "wait_ms": of(|work| if let Work::Wait(time) = work { time } else { 0 }),
            "lock_ms": of(|work| if let Work::Lock(time) = work { time } else { 0 }),
            "service_port": of(|work| u32::from(matches!(work, Work::Call(_)))) * u32::from(self.ports[1]),
            "rate_limit": self.setting.rate_limit.unwrap_or(0),
            "backlog": self.setting.backlog,
        });
        self.write("page.json", &page.to_string())?;
        let (Work::Files { n, bytes } | Work::DiskReads { n, bytes }) = self.setting.work else {
            return Ok(());
        };
        fs::create_dir(self.folder.join("files"))?;
        let files: Vec<PathBuf> =
            (1..=n).map(|number| self.folder.join(format!("files/{number}.bin"))).collect();
        for file in &files {
            fs::write(file, vec![b'x'; bytes as usize])?;
        }
        // Once for all, which takes less time than once for each.
        rustix::fs::sync();
        testbed::evict(files).map_err(|(path, error)| error_at(&path, error))
    }

    fn write(&self, name: &str, text: &str) -> Result<String> {
        let path = self.folder.join(name);
        fs::write(&path, text).map_err(|error| error_at(&path, error))?;
        Ok(path.display().to_string())
    }

    fn own(&self, program: &str, arguments: Vec<String>) -> ServerProgram {
        let listens = ListenPlace::Port(self.ports[0]);
        ServerProgram { program: program.into(), arguments, listens, is_own: true }
    }

    /// nginx for files; a limit on requests in progress stands before pages that Node makes.
    fn nginx(&self) -> Result<Vec<ServerProgram>> {
        let folder = self.folder.display();
        let setting = self.setting;
        let mut location = String::new();
        let mut zones = String::new();
        if let Some(rate) = setting.rate_limit {
            zones += &format!("limit_req_zone $server_name zone=requests:1m rate={rate}r/s;\n");
            location += "limit_req zone=requests burst=10 nodelay; limit_req_status 429;\n";
        }
        if let Some(n) = setting.connections {
            zones += "limit_conn_zone $server_name zone=connections:1m;\n";
            location += &format!("limit_conn connections {n};\n");
        }
        let has_pages = !matches!(setting.work, Work::Files { .. } | Work::DiskReads { .. });
        if has_pages {
            location += &format!("proxy_pass http://127.0.0.1:{};\n", self.ports[1]);
        }
        if let Work::DiskReads { bytes, .. } = setting.work {
            // Only full buffers are read past the page cache, and only threads read several files at once.
            let buffer = bytes.min(128 << 10);
            location += &format!("sendfile off; directio 512; aio threads; output_buffers 2 {buffer};\n");
        }
        let config = format!(
            "user root; daemon off; worker_processes 2; pid {folder}/nginx.pid; error_log {folder}/error.log;\n\
            events {{ worker_connections 1024; }}\n\
            http {{ access_log off; keepalive_requests 1000000; default_type text/plain;\n\
            client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;\n\
            uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;\n{zones}\
            server {{ server_name throttled; listen {}:{} backlog={}; root {folder}; location / {{ {location} }} }} }}\n",
            self.host, self.ports[0], setting.backlog
        );
        let config = self.write("nginx.conf", &config)?;
        let log = self.folder.join("error.log").display().to_string();
        let mut programs = Vec::new();
        if has_pages {
            let listens = ListenPlace::Port(self.ports[1]);
            programs.push(ServerProgram { listens, ..self.node("127.0.0.1", self.ports[1])? });
        }
        programs.push(self.own("nginx", vec!["-e".into(), log, "-c".into(), config]));
        Ok(programs)
    }

    fn apache(&self, more: &str) -> Result<ServerProgram> {
        let folder = self.folder.display();
        let setting = self.setting;
        let most = setting.connections.unwrap_or(256);
        let per_process = most.min(64);
        let modules: String = ["mpm_event", "authz_core"]
            .map(|name| format!("LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n"))
            .concat();
        let config = format!(
            "{modules}ServerRoot {folder}\nPidFile {folder}/apache.pid\nDefaultRuntimeDir {folder}\n\
            ErrorLog {folder}/error.log\nServerName localhost\nListen {}:{}\nListenBacklog {}\nUser www-data\n\
            Group www-data\nThreadLimit {per_process}\nThreadsPerChild {per_process}\nServerLimit {}\n\
            StartServers 1\nMinSpareThreads {per_process}\nMaxSpareThreads {most}\nMaxRequestWorkers {most}\n\
            KeepAlive On\nMaxKeepAliveRequests 0\nKeepAliveTimeout 60\nDocumentRoot {folder}\n\
            <Directory {folder}>\nRequire all granted\n</Directory>\n{more}",
            self.host,
            self.ports[0],
            setting.backlog,
            most / per_process,
        );
        let config = self.write("apache.conf", &config)?;
        let arguments = ["-D", "FOREGROUND", "-f", &config].map(str::to_owned).to_vec();
        Ok(self.own("apache2", arguments))
    }

    fn wsgi(&self) -> Result<String> {
        let script = self.write("page.py", PAGE_PY)?;
        // Processes with one thread each, so that Python's own lock is none between them.
        Ok(format!(
            "LoadModule wsgi_module /usr/lib/apache2/modules/mod_wsgi.so\nWSGISocketPrefix {0}/wsgi\n\
            WSGIDaemonProcess pages processes={1} threads=1\nWSGIProcessGroup pages\n\
            WSGIApplicationGroup %{{GLOBAL}}\nWSGIScriptAlias / {script}\n",
            self.folder.display(),
            self.setting.workers
        ))
    }

    fn fpm(&self) -> Result<Vec<ServerProgram>> {
        let folder = self.folder.display();
        self.write("page", PAGE_PHP)?;
        let socket = self.folder.join("fpm.sock");
        let pool = format!(
            "[global]\ndaemonize = no\nerror_log = {folder}/fpm.log\n[www]\nlisten = {0}\n\
            listen.backlog = 511\nlisten.mode = 0666\nuser = www-data\npm = static\npm.max_children = {1}\n\
            security.limit_extensions =\n",
            socket.display(),
            self.setting.workers
        );
        let config = self.write("fpm.conf", &pool)?;
        let program = first_found(&["php-fpm8.2", "php-fpm8.4", "php-fpm8.3", "php-fpm"])?;
        let arguments = ["--nodaemonize", "--fpm-config", &config].map(str::to_owned).to_vec();
        let modules: String = ["proxy", "proxy_fcgi"]
            .map(|name| format!("LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n"))
            .concat();
        let handler = format!("SetHandler \"proxy:unix:{}|fcgi://localhost\"", socket.display());
        let apache = self.apache(&format!("{modules}<Location />\n{handler}\n</Location>\n"))?;
        let listens = ListenPlace::Socket(socket);
        Ok(vec![ServerProgram { program, arguments, listens, is_own: true }, apache])
    }

    fn gunicorn(&self) -> Result<ServerProgram> {
        self.write("page.py", PAGE_PY)?;
        let bind = format!("{}:{}", self.host, self.ports[0]);
        let folder = self.folder.display().to_string();
        let workers = self.setting.workers.to_string();
        let backlog = self.setting.backlog.to_string();
        let arguments = [
            "--preload",
            "--bind",
            &bind,
            "--workers",
            &workers,
            "--backlog",
            &backlog,
            "--chdir",
            &folder,
            "--worker-tmp-dir",
            "/dev/shm",
            "--log-level",
            "error",
            "page:application",
        ];
        // A worker of the kind that keeps connections serves one request at a time with one thread.
        let kept = ["--worker-class", "gthread", "--threads", "1", "--keep-alive", "60"];
        let is_kept = !matches!(self.setting.work, Work::Wait(_) | Work::Lock(_) | Work::Call(_));
        let kept: &[&str] = if is_kept { &kept } else { &[] };
        Ok(self
            .own("/usr/bin/gunicorn", kept.iter().chain(&arguments).map(|&word| word.to_owned()).collect()))
    }

    fn node(&self, host: &str, port: u16) -> Result<ServerProgram> {
        let script = self.write("server.js", SERVER_JS)?;
        Ok(self.own("/usr/bin/node", vec![script, host.to_owned(), port.to_string()]))
    }

    fn built_in(&self) -> Result<ServerProgram> {
        let (n, bytes) = match self.setting.work {
            Work::Files { n, bytes } | Work::DiskReads { n, bytes } => (n, bytes),
            _ => (1, 1024),
        };
        let definition = format!(
            "format = 1\nid = \"throttled\"\nversion = 1\ntitle = \"Throttled files\"\nsummary = \"Files.\"\n\
            family = \"web\"\nheadline = \"request-rate\"\n\n[[workload.requests]]\nname = \"file\"\nweight = 1\n\
            path = \"/files/{{number}}.bin\"\nparameters.number = {{ from = 1, count = {n} }}\n\
            reply = {{ file = {bytes} }}\n\n[protocol]\nhttp = \"1.1\"\nconnection = \"keep-alive\"\n\
            time-limit = \"10 s\"\n\n[load]\nusers = \"1\"\n\n[phases]\nsteady = \"5 s\"\n"
        );
        let definition = self.write("files.toml", &definition)?;
        let listen = format!("{}:{}", self.host, self.ports[0]);
        let backlog = self.setting.backlog.to_string();
        let arguments = ["serve", "web", &definition, "--listen", &listen, "--backlog", &backlog];
        let arguments = arguments.map(str::to_owned).to_vec();
        Ok(ServerProgram { program: self.plimsoll.to_owned(), ..self.own("", arguments) })
    }
}

/// Returns the first of several names of a program that is installed.
fn first_found(names: &[&str]) -> Result<PathBuf> {
    let paths =
        names.iter().flat_map(|name| ["/usr/sbin", "/usr/bin"].map(|folder| Path::new(folder).join(name)));
    let mut found = paths.into_iter().filter(|path| path.exists());
    found.next().with_context(|| format!("`{}` is not installed", names[0]))
}

fn error_at(path: &Path, error: std::io::Error) -> anyhow::Error {
    anyhow::Error::new(error).context(path.display().to_string())
}
