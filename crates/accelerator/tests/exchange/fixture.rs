//! The fixture: an exchange with a scripted origin, and its responses to clients.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use accelerator::exchange::{Exchange, ExchangeSettings, Flights, Memo, Response, ResponseBody, SharedCache};
use accelerator::message::{
    BodyError, ClientRequest, ClientVersion, Interim, NoBody, RequestBody, ResponsePath,
};
use accelerator::origin::{OriginClient, OriginServer, OriginSettings, Servers};
use bytes::Bytes;
use cache_policy::Scheme;
use cache_store::Store;
use http1::HeaderLines;
use tokio::task::LocalSet;

use super::origin::{Origin, ReceivedRequest, Step};

/// Runs a test on one thread, as workers run.
pub(crate) fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(LocalSet::new().run_until(test));
}

pub(crate) struct Fixture {
    pub origin: Origin,
    pub exchange: Rc<Exchange>,
}

impl Fixture {
    pub(crate) async fn new(script: impl Fn(&ReceivedRequest) -> Vec<Step> + 'static) -> Fixture {
        Fixture::with(ExchangeSettings::default(), script).await
    }

    pub(crate) async fn with(
        settings: ExchangeSettings,
        script: impl Fn(&ReceivedRequest) -> Vec<Step> + 'static,
    ) -> Fixture {
        Fixture::small(settings, 16 << 20, script).await
    }

    /// Makes a fixture whose store has so many bytes.
    pub(crate) async fn small(
        settings: ExchangeSettings,
        store_bytes: u64,
        script: impl Fn(&ReceivedRequest) -> Vec<Step> + 'static,
    ) -> Fixture {
        let origin = Origin::start(script).await;
        let shared = SharedCache {
            store: Arc::new(Store::in_memory(store_bytes)),
            flights: Arc::new(Flights::new(64 << 20)),
        };
        let exchange = exchange(shared, settings, &origin.address.to_string());
        Fixture { origin, exchange }
    }

    /// Sends a GET request.
    pub(crate) async fn get(&self, target: &str, lines: &[(&str, &str)]) -> ClientResponse {
        self.ask("GET", target, lines).await
    }

    pub(crate) async fn ask(&self, method: &str, target: &str, lines: &[(&str, &str)]) -> ClientResponse {
        ClientResponse::read(self.exchange.handle(request(method, target, lines), NoBody).await).await
    }

    pub(crate) async fn send(&self, request: ClientRequest, body: &'static str) -> ClientResponse {
        let length = body.len() as u64;
        let request = ClientRequest { has_body: true, content_length: Some(length), ..request };
        ClientResponse::read(
            self.exchange.handle(request, WholeBody(Some(Bytes::from_static(body.as_bytes())))).await,
        )
        .await
    }

    /// Sends so many requests at once.
    pub(crate) async fn get_concurrently(
        &self,
        n: usize,
        target: &str,
        lines: &[(&str, &str)],
    ) -> Vec<ClientResponse> {
        let tasks: Vec<_> = (0..n)
            .map(|_| {
                let exchange = Rc::clone(&self.exchange);
                let request = request("GET", target, lines);
                tokio::task::spawn_local(async move {
                    ClientResponse::read(exchange.handle(request, NoBody).await).await
                })
            })
            .collect();
        let mut answers = Vec::new();
        for task in tasks {
            answers.push(task.await.unwrap());
        }
        answers
    }

    /// Waits until no response is on its way into the store.
    pub(crate) async fn settled(&self) {
        while self.exchange.shared().flights.in_progress() != 0 {
            tokio::task::yield_now().await;
        }
    }
}

/// Makes an exchange in front of an origin.
pub(crate) fn exchange(shared: SharedCache, settings: ExchangeSettings, origin: &str) -> Rc<Exchange> {
    let servers = vec![origin.parse::<OriginServer>().unwrap()];
    let settings_of_origin = OriginSettings { servers, ..OriginSettings::default() };
    let servers = Servers::new(settings_of_origin, Box::new(|_| {})).unwrap();
    Exchange::new(shared, Arc::new(settings), OriginClient::new(servers))
}

pub(crate) fn request(method: &str, target: &str, lines: &[(&str, &str)]) -> ClientRequest {
    let mut all = HeaderLines::new();
    lines.iter().for_each(|(name, value)| all.push(name.as_bytes(), value.as_bytes()));
    ClientRequest {
        method_name: method.as_bytes().to_vec(),
        scheme: Scheme::Http,
        authority: b"example.org".to_vec(),
        target: target.as_bytes().to_vec(),
        lines: all,
        version: ClientVersion::Http11,
        client: ([192, 0, 2, 1], 50_000).into(),
        has_body: false,
        content_length: None,
    }
}

/// A request body without content that records the interim responses: status and lines.
#[derive(Debug, Clone, Default)]
pub(crate) struct InterimRecorder(pub Rc<RefCell<Vec<(u16, String)>>>);

impl RequestBody for InterimRecorder {
    async fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
        Ok(None)
    }

    async fn send_interim(&mut self, interim: Interim) -> Result<(), BodyError> {
        let lines = String::from_utf8(interim.lines.as_bytes().to_vec()).unwrap();
        self.0.borrow_mut().push((interim.status, lines));
        Ok(())
    }
}

/// A body in one piece.
pub(crate) struct WholeBody(pub Option<Bytes>);

impl RequestBody for WholeBody {
    async fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
        Ok(self.0.take().filter(|body| !body.is_empty()))
    }
}

/// A response to a client.
#[derive(Debug)]
pub(crate) struct ClientResponse {
    pub status: u16,
    pub lines: HeaderLines,
    pub body: Result<String, BodyError>,
    pub path: ResponsePath,
    pub reason: &'static str,
    pub memo: Option<Memo>,
}

impl ClientResponse {
    pub(crate) async fn read(reply: Response) -> ClientResponse {
        let body = read(reply.body).await.map(|body| String::from_utf8_lossy(&body).into_owned());
        if let (Ok(body), Some(length), false) =
            (&body, reply.lines.get("content-length"), body.as_ref().is_ok_and(String::is_empty))
        {
            assert_eq!(length, body.len().to_string().as_bytes(), "as long as announced");
        }
        let path = reply.handling.path;
        let reason = reply.handling.reason.name();
        ClientResponse { status: reply.status, lines: reply.lines, body, path, reason, memo: reply.memo }
    }

    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.lines.get(name).map(|value| std::str::from_utf8(value).unwrap())
    }

    pub(crate) fn text(&self) -> &str {
        self.body.as_deref().unwrap()
    }

    /// Returns `Cache-Status` without the time to live, which depends on the duration of the test.
    pub(crate) fn told(&self) -> String {
        let status = self.value("cache-status").unwrap();
        let parts = status.split("; ").filter(|part| !part.starts_with("ttl="));
        parts.collect::<Vec<_>>().join("; ")
    }

    /// Returns the time to live in seconds.
    pub(crate) fn ttl(&self) -> i64 {
        let (_, rest) = self.value("cache-status").unwrap().split_once("ttl=").unwrap();
        rest.split(';').next().unwrap().parse().unwrap()
    }

    /// Returns status, body and path.
    pub(crate) fn gist(&self) -> (u16, &str, ResponsePath) {
        (self.status, self.text(), self.path)
    }
}

async fn read(body: ResponseBody) -> Result<Vec<u8>, BodyError> {
    match body {
        ResponseBody::Empty => Ok(Vec::new()),
        ResponseBody::Pieces(pieces) => Ok(pieces.concat()),
        ResponseBody::Stream(mut stream) => {
            let mut all = Vec::new();
            while let Some(piece) = stream.next().await? {
                assert!(!piece.is_empty());
                all.extend_from_slice(&piece);
            }
            Ok(all)
        }
        ResponseBody::Tunnel(_) => panic!("a tunnel"),
    }
}
