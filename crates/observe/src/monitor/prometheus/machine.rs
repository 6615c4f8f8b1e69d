//! A machine whose exporter is scraped over HTTP.

use std::time::Duration;

use model::Reading;

use super::scrape::{ScrapeNotes, SeriesTables, describe};
use crate::monitor::fetch::{FetchLimits, PageUrl};
use crate::monitor::{MonitorError, ResourceMonitor};

/// Limits of a scrape, which happens once a second. A machine of 256 CPUs sends some 300 KB.
const LIMITS: FetchLimits = FetchLimits { time: Duration::from_millis(900), bytes: 16 << 20 };

/// A machine that runs node_exporter or windows_exporter; the names of its series tell them apart.
#[derive(Debug)]
pub struct PrometheusMachine {
    url: PageUrl,
    limits: FetchLimits,
    tables: SeriesTables,
}

impl PrometheusMachine {
    /// Creates a monitor of the machine whose exporter has this URL; only the first reading connects.
    pub fn new(url: PageUrl) -> PrometheusMachine {
        PrometheusMachine { url, limits: LIMITS, tables: SeriesTables::all() }
    }

    /// Describes a page without any known series.
    fn not_known(&self, page: &str, notes: &ScrapeNotes) -> String {
        let mut reason = format!(
            "expected series of node_exporter (`node_*`) or windows_exporter (`windows_*`), found {}",
            describe(page)
        );
        if notes.bad.count != 0 {
            reason += &format!(" ({})", notes.bad);
        }
        if !self.url.as_str().contains("/metrics") {
            reason += "\nhint: exporters answer at `/metrics`";
        }
        reason
    }
}

impl ResourceMonitor for PrometheusMachine {
    fn read(&mut self, into: &mut Vec<Reading>) -> Result<(), MonitorError> {
        let fail = |reason| MonitorError { watched: self.url.as_str().to_owned(), reason };
        let page = self.url.fetch(self.limits).map_err(|error| fail(error.to_string()))?;
        let before = into.len();
        let notes = self.tables.read(&page, into);
        if into.len() == before { Err(fail(self.not_known(&page, &notes))) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::UNUSED_ADDRESS;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread::JoinHandle;

    use model::Counter;

    /// Serves one page per request; returns the monitor of its URL.
    fn exporter(path: &str, pages: Vec<String>) -> (PrometheusMachine, JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}{path}", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            for page in pages {
                let (mut stream, _) = listener.accept().unwrap();
                let mut asked = Vec::new();
                while !asked.ends_with(b"\r\n\r\n") {
                    let mut byte = [0];
                    stream.read_exact(&mut byte).unwrap();
                    asked.extend(byte);
                }
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", page.len());
                stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(page.as_bytes())).unwrap();
            }
        });
        let limits = FetchLimits { time: Duration::from_secs(30), ..LIMITS };
        (PrometheusMachine { limits, ..PrometheusMachine::new(PageUrl::parse(&url).unwrap()) }, server)
    }

    #[test]
    fn each_reading_is_a_scrape_of_its_own() {
        let pages = [10, 25].map(|forks| format!("node_forks_total {forks}\n"));
        let (mut machine, server) = exporter("/metrics", pages.to_vec());
        let mut readings = Vec::new();
        machine.read(&mut readings).unwrap();
        machine.read(&mut readings).unwrap();
        assert_eq!(readings, [Reading::new(Counter::Forks, 10), Reading::new(Counter::Forks, 25)]);
        server.join().unwrap();
    }

    #[test]
    fn bad_lines_do_not_affect_the_rest_of_a_scrape() {
        let page = "node_forks_total 1\nnode_forks_total 1\n?\n";
        let (mut machine, server) = exporter("/metrics", vec![page.to_owned()]);
        let mut readings = Vec::new();
        machine.read(&mut readings).unwrap();
        assert_eq!(readings, [Reading::new(Counter::Forks, 1)]);
        server.join().unwrap();
    }

    #[test]
    fn an_unknown_exporter_is_described_by_its_series() {
        let (mut machine, server) = exporter("/metrics", vec!["go_info{version=\"1\"} 1\n".to_owned()]);
        let error = machine.read(&mut Vec::new()).unwrap_err();
        assert_eq!(error.watched, machine.url.as_str());
        assert_eq!(
            error.reason,
            "expected series of node_exporter (`node_*`) or windows_exporter (`windows_*`), found 1 series of go_*"
        );
        server.join().unwrap();
    }

    #[test]
    fn the_front_page_yields_a_hint_to_the_metrics() {
        let (mut machine, server) = exporter("/", vec!["<html>\n<a href=\"/metrics\">".to_owned()]);
        let reason = machine.read(&mut Vec::new()).unwrap_err().reason;
        assert!(reason.contains("found no series (line 1: "), "{reason}");
        assert!(reason.ends_with("\nhint: exporters answer at `/metrics`"), "{reason}");
        server.join().unwrap();
    }

    #[test]
    fn a_refused_connection_is_an_error() {
        let url = format!("http://{UNUSED_ADDRESS}/metrics");
        let error = PrometheusMachine::new(PageUrl::parse(&url).unwrap()).read(&mut Vec::new()).unwrap_err();
        assert!(error.to_string().starts_with(&format!("{url}: ")), "{error}");
    }
}
