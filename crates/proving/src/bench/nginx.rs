//! nginx as the server: one worker on its CPU, counting requests.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result};
use http_lite::{ResponseReader, fetch_blocking};
use http1::RequestMethod;

use super::process::{BackgroundProcess, free_ports, pinned};
use super::site::{CERTIFICATE, KEY, Site};
use super::{OPEN_FILES_MIN, SERVER_CPU};

/// Limits of a status page: bytes, and time even for a busy server.
const STATUS_BYTES_MAX: usize = 4096;
const STATUS_TIME_MAX: Duration = Duration::from_secs(60);

/// The protocol of the listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Listen {
    /// HTTP/1.
    Plain,
    /// HTTP/1 over TLS 1.3, with one cipher for all generators.
    Tls,
    /// HTTP/2 with prior knowledge.
    Http2,
}

/// A running nginx that serves one benchmark's files.
pub(super) struct Nginx {
    port: u16,
    listen: Listen,
    status_port: u16,
    process: BackgroundProcess,
}

impl Nginx {
    /// Starts it and waits until it answers.
    pub(super) fn start(site: &Site, benchmark: &str, listen: Listen) -> Result<Nginx> {
        Nginx::start_with(site, benchmark, listen, "")
    }

    /// Starts it in the same way, with `location` blocks beside the files.
    pub(super) fn start_with(site: &Site, benchmark: &str, listen: Listen, locations: &str) -> Result<Nginx> {
        let [port, status_port] = free_ports()?;
        let server = format!("{} {locations}", listen_text(site, listen, port));
        let text = config(site, &site.path(benchmark), &server, status_port);
        let path = site.path("nginx.conf");
        std::fs::write(&path, text)?;
        let program = if Path::new("/usr/sbin/nginx").exists() { "/usr/sbin/nginx" } else { "nginx" };
        let mut command = pinned(SERVER_CPU, Path::new(program));
        command.arg("-p").arg(site.folder()).arg("-c").arg(&path).stdin(Stdio::null());
        let mut process = BackgroundProcess::start(&mut command)?;
        process.wait_until(|| status_requests(status_port).is_ok())?;
        Ok(Nginx { port, listen, status_port, process })
    }

    /// Returns its URL.
    pub(super) fn url(&self) -> String {
        let scheme = if self.listen == Listen::Tls { "https" } else { "http" };
        format!("{scheme}://127.0.0.1:{}/", self.port)
    }

    /// Returns its process, where its address is known and it only has to run.
    pub(super) fn into_process(self) -> BackgroundProcess {
        self.process
    }

    /// Returns the number of requests received, including this query.
    pub(super) fn requests(&self) -> Result<u64> {
        status_requests(self.status_port)
    }

    /// Returns the number of requests received during `work`, and its result.
    pub(super) fn count<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<(u64, T)> {
        let before = self.requests()?;
        let result = work()?;
        // The second query counts itself.
        Ok((self.requests()? - before - 1, result))
    }
}

/// Queries nginx's status page for the number of requests received, including this query.
pub(super) fn requests(address: SocketAddr, path: &str) -> Result<u64> {
    let request = format!("GET {path} HTTP/1.0\r\n\r\n");
    let mut response = ResponseReader::new(RequestMethod::Get, STATUS_BYTES_MAX);
    fetch_blocking(&[address], request.as_bytes(), &mut response, STATUS_TIME_MAX)?;
    let page = String::from_utf8_lossy(response.body());
    counted(&page).with_context(|| format!("cannot read `{page}`"))
}

/// The line after `server accepts handled requests` ends with the requests.
fn counted(page: &str) -> Option<u64> {
    let mut lines = page.lines().skip_while(|line| !line.starts_with("server accepts"));
    lines.nth(1)?.split_whitespace().last()?.parse().ok()
}

fn status_requests(port: u16) -> Result<u64> {
    requests((Ipv4Addr::LOCALHOST, port).into(), "/status")
}

fn listen_text(site: &Site, listen: Listen, port: u16) -> String {
    let (word, more) = match listen {
        Listen::Plain => ("", String::new()),
        Listen::Http2 => (" http2", String::new()),
        Listen::Tls => (
            " ssl",
            format!(
                "ssl_certificate {}; ssl_certificate_key {}; ssl_protocols TLSv1.3; \
                 ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256;",
                site.path(CERTIFICATE).display(),
                site.path(KEY).display()
            ),
        ),
    };
    format!("listen 127.0.0.1:{port}{word} backlog=16384; {more}")
}

fn config(site: &Site, files: &Path, server: &str, status_port: u16) -> String {
    let folder = site.folder().display();
    // Root's worker would run as `nobody`, who may not read the folder.
    let user = if rustix::process::geteuid().is_root() { "user root;" } else { "" };
    format!(
        "{user}
daemon off;
worker_processes 1;
worker_rlimit_nofile {open_files};
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections {open_files}; }}
http {{
    types {{ text/html html; }}
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000000;
    keepalive_timeout 3600s;
    open_file_cache max=10000 inactive=3600s;
    open_file_cache_valid 3600s;
    open_file_cache_min_uses 1;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{ {server} root {files}; }}
    server {{ listen 127.0.0.1:{status_port}; location = /status {{ stub_status; }} }}
}}
",
        open_files = OPEN_FILES_MIN,
        files = files.display(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_requests_is_parsed_from_the_status_page() {
        let page = "Active connections: 1 \nserver accepts handled requests\n 16 16 31 \nReading: 0\n";
        assert_eq!(counted(page), Some(31));
        assert_eq!(counted("<html>404 Not Found</html>"), None);
    }
}
