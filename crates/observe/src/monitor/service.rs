//! Numbers that only a server knows, such as busy workers: status pages of nginx and Apache, and the load of application
//! servers.

use std::time::Duration;

use languages::names;
use model::{Counter, Reading};

use super::app_stats::AppServerMonitor;
use super::fetch::{FetchLimits, PageUrl};
use super::sut::{MonitoredSut, StatusSource};
use super::{MonitorError, ResourceMonitor};

/// Limits of a fetch: a saturated server answers late or never.
///
/// Apache's page is long: one character for each of up to 65,536 workers.
const LIMITS: FetchLimits = FetchLimits { time: Duration::from_millis(500), bytes: 128 * 1024 };

/// A page of this length costs Apache some 0.7 ms (measured: 3.2 ms for 20,000 workers). Longer ones are
/// fetched less often, so that the cost per second is never higher.
const BYTES_PER_READING: usize = 4096;

/// Unit of kBytes on Apache's page.
const KB: u64 = 1024;

names! {
    /// The form in which a server says how busy it is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum StatusKind without serde {
        /// The page of nginx' `stub_status`.
        NginxStub = "nginx-stub",
        /// The page of Apache's mod_status, requested with `?auto`.
        ApacheAuto = "apache-auto",
        /// The operation `STATS` of our protocol of application servers.
        AppStats = "app-stats",
        /// The operation `STATS` of our protocol of order entry.
        OrderStats = "order-stats",
    }
}

/// A monitor of what a server says of itself.
#[derive(Debug)]
pub enum ServiceStatus {
    /// A page.
    Page(StatusPageMonitor),
    /// The load of an application server.
    AppServer(AppServerMonitor),
}

/// A monitor of a server's status page.
///
/// The request for the page is not counted as one in progress, but the totals include one for each reading.
#[derive(Debug)]
pub struct StatusPageMonitor {
    url: PageUrl,
    format: PageFormat,
    /// Number of readings to skip.
    pause: usize,
}

#[derive(Debug)]
enum PageFormat {
    NginxStub { connections_max: Option<u64> },
    ApacheAuto,
}

impl ServiceStatus {
    /// Creates a monitor of what a server says; `None` if it says nothing.
    pub fn new(sut: &MonitoredSut) -> Option<ServiceStatus> {
        let page = |url: &PageUrl, format| StatusPageMonitor { url: url.clone(), format, pause: 0 };
        Some(match sut.status.as_ref()? {
            StatusSource::NginxStub { url, connections_max } => {
                ServiceStatus::Page(page(url, PageFormat::NginxStub { connections_max: *connections_max }))
            }
            StatusSource::ApacheAuto { url } => ServiceStatus::Page(page(url, PageFormat::ApacheAuto)),
            StatusSource::AppStats(address) => {
                ServiceStatus::AppServer(AppServerMonitor::new(address.clone()))
            }
            StatusSource::OrderStats(address) => {
                ServiceStatus::AppServer(AppServerMonitor::of_orders(address.clone()))
            }
        })
    }
}

impl ResourceMonitor for ServiceStatus {
    fn read(&mut self, into: &mut Vec<Reading>) -> Result<(), MonitorError> {
        match self {
            ServiceStatus::Page(page) => page.read(into),
            ServiceStatus::AppServer(server) => server.read(into),
        }
    }
}

impl StatusPageMonitor {
    fn error(&self, reason: String) -> MonitorError {
        MonitorError { watched: self.url.as_str().to_owned(), reason }
    }
}

impl ResourceMonitor for StatusPageMonitor {
    /// Reads nothing, without an error, while a page that costs the server much is skipped.
    fn read(&mut self, into: &mut Vec<Reading>) -> Result<(), MonitorError> {
        if let Some(pause) = self.pause.checked_sub(1) {
            self.pause = pause;
            return Ok(());
        }
        let text = self.url.fetch(LIMITS).map_err(|error| self.error(error.to_string()))?;
        self.pause = text.len() / BYTES_PER_READING;
        let before = into.len();
        match self.format {
            PageFormat::NginxStub { connections_max } => parse_nginx(&text, connections_max, into),
            PageFormat::ApacheAuto => parse_apache(&text, into),
        }
        if into.len() == before {
            Err(self.error("the response is not a status page".to_owned()))
        } else {
            Ok(())
        }
    }
}

/// Parses the page of nginx' `stub_status`, without the monitor's own connection, which is active and
/// writing.
fn parse_nginx(text: &str, connections_max: Option<u64>, into: &mut Vec<Reading>) {
    let levels =
        ["Active connections:", "Reading:", "Writing:", "Waiting:"].map(|key| number_after(text, key));
    let [Some(active), Some(reading), Some(writing), Some(waiting)] = levels else { return };
    into.extend(connections_max.map(|most| Reading::new(Counter::ServiceWorkers, most)));
    into.push(Reading::new(Counter::ServiceBusy, reading.saturating_add(writing).saturating_sub(1)));
    into.push(Reading::new(Counter::ServiceIdle, waiting));
    into.push(Reading::new(Counter::ServiceConnections, active.saturating_sub(1)));
    let totals = text.split_once("requests").map_or("", |(_, totals)| totals);
    let mut totals = totals.split_ascii_whitespace().map_while(|field| field.parse().ok());
    if let (Some(accepted), Some(_handled), Some(requests)) = (totals.next(), totals.next(), totals.next()) {
        into.push(Reading::new(Counter::ServiceAccepted, accepted));
        into.push(Reading::new(Counter::ServiceRequests, requests));
    }
}

/// Parses the page of Apache's mod_status, without the monitor's own busy worker and connection; totals exist
/// only with `ExtendedStatus On`, connections only with the event MPM.
fn parse_apache(text: &str, into: &mut Vec<Reading>) {
    let number = |key| number_after(text, key);
    let (Some(busy), Some(idle)) = (number("\nBusyWorkers:"), number("\nIdleWorkers:")) else { return };
    let slots =
        text.lines().find_map(|line| line.strip_prefix("Scoreboard:")).map(|slots| slots.trim().len());
    into.extend(slots.map(|slots| Reading::new(Counter::ServiceWorkers, slots as u64)));
    into.push(Reading::new(Counter::ServiceBusy, busy.saturating_sub(1)));
    into.push(Reading::new(Counter::ServiceIdle, idle));
    let connections = number("\nConnsTotal:").map(|connections| connections.saturating_sub(1));
    let sent = number("\nTotal kBytes:").map(|sent| sent.saturating_mul(KB));
    for (counter, value) in [
        (Counter::ServiceConnections, connections),
        (Counter::ServiceRequests, number("\nTotal Accesses:")),
        (Counter::ServiceSent, sent),
    ] {
        into.extend(value.map(|value| Reading::new(counter, value)));
    }
}

fn number_after(text: &str, key: &str) -> Option<u64> {
    text.split_once(key)?.1.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use proptest::prelude::*;

    use super::super::fetch::PageUrl;
    use super::super::kernel::testing::check;
    use super::*;
    use Counter::*;

    /// From nginx' own documentation.
    const NGINX: &str = "Active connections: 291 \nserver accepts handled requests\n 16630948 16630947 31070465 \n\
                         Reading: 6 Writing: 179 Waiting: 106 \n";

    #[test]
    fn nginx_is_parsed_without_the_monitors_own_request() {
        let read = |text: &str, into: &mut Vec<Reading>| parse_nginx(text, Some(1536), into);
        check(
            read,
            NGINX,
            &[
                (ServiceWorkers, "", 1536),
                (ServiceBusy, "", 184),
                (ServiceIdle, "", 106),
                (ServiceConnections, "", 290),
                (ServiceAccepted, "", 16_630_948),
                (ServiceRequests, "", 31_070_465),
            ],
        );
        check(read, "<html>Active connections: many</html>", &[]);
    }

    /// Recorded with Apache 2.4 and the event MPM, with a shortened scoreboard.
    #[test]
    fn apache_is_parsed_with_and_without_totals() {
        let plain = "127.0.0.1\nServerVersion: Apache/2.4.71 (Debian)\nServerMPM: event\nLoad1: 21.71\n\
                     BusyWorkers: 3\nGracefulWorkers: 0\nIdleWorkers: 5\nProcesses: 4\nStopping: 0\n\
                     ConnsTotal: 12\nConnsAsyncWaitIO: 0\nScoreboard: _W_KW___....\n";
        let levels = [
            (ServiceWorkers, "", 12),
            (ServiceBusy, "", 2),
            (ServiceIdle, "", 5),
            (ServiceConnections, "", 11),
        ];
        check(parse_apache, plain, &levels);
        let extended = plain.replace("Load1:", "Total Accesses: 700\nTotal kBytes: 3\nLoad1:");
        check(
            parse_apache,
            &extended,
            &[&levels[..], &[(ServiceRequests, "", 700), (ServiceSent, "", 3072)]].concat(),
        );
        check(parse_apache, "BusyWorkers: 3\n", &[]);
    }

    proptest! {
        #[test]
        fn any_page_is_parsed_without_panic(text in "(?s)((Active connections:|\nBusyWorkers:|\nIdleWorkers:|Scoreboard:|Writing:|requests| 0 | 18446744073709551615|.){0,3}){0,20}") {
            parse_nginx(&text, None, &mut Vec::new());
            parse_apache(&text, &mut Vec::new());
        }
    }

    /// Serves one page per request, each over a connection of its own.
    fn serve(pages: Vec<String>) -> (MonitoredSut, std::thread::JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = PageUrl::parse(&format!("http://{}/status", listener.local_addr().unwrap())).unwrap();
        let server = std::thread::spawn(move || {
            for page in pages {
                let (mut stream, _) = listener.accept().unwrap();
                let _ = stream.read(&mut [0; 1024]).unwrap();
                write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{page}", page.len()).unwrap();
            }
        });
        let status = StatusSource::ApacheAuto { url };
        (MonitoredSut { status: Some(status), ..MonitoredSut::default() }, server)
    }

    /// Goal: the page of a large Apache, which costs it milliseconds, is not fetched every second. 12,000
    /// characters are more than two and less than three times 4096, so two readings are skipped.
    #[test]
    fn long_pages_are_fetched_less_often() {
        let page = format!("x\nBusyWorkers: 1\nIdleWorkers: 2\nScoreboard: {}\n", "_".repeat(12_000));
        let (sut, server) = serve(vec![page, "x\nBusyWorkers: 1\nIdleWorkers: 2\n".into()]);
        let mut status = ServiceStatus::new(&sut).unwrap();
        let found: Vec<usize> = (0..4)
            .map(|_| {
                let mut readings = Vec::new();
                status.read(&mut readings).unwrap();
                readings.len()
            })
            .collect();
        assert_eq!(found, [3, 0, 0, 2]);
        server.join().unwrap();
    }

    #[test]
    fn another_page_is_an_error_with_its_url() {
        let (sut, server) = serve(vec!["hello".into()]);
        let error = ServiceStatus::new(&sut).unwrap().read(&mut Vec::new()).unwrap_err().to_string();
        assert!(error.starts_with("http://127.0.0.1:") && error.ends_with("not a status page"), "{error}");
        server.join().unwrap();
        assert!(ServiceStatus::new(&MonitoredSut::default()).is_none());
    }
}
