//! An exchange with a scripted origin, and what clients get of it.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use accelerator::exchange::{Exchange, ExchangeSettings, Flights, Memo, Shared};
use accelerator::message::{
    BodyError, ClientVersion, HeaderLines, HitPath, Inbound, Interim, NoBody, Reply, ReplyBody, RequestBody,
};
use accelerator::origin::{OriginServer, OriginSettings, Origins, Servers};
use accelerator::policy::Scheme;
use accelerator::store::Store;
use bytes::Bytes;
use tokio::task::LocalSet;

use crate::origin::{Heard, Origin, Step};

/// Runs a test on one thread, as workers run.
pub fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(LocalSet::new().run_until(test));
}

pub struct House {
    pub origin: Origin,
    pub exchange: Rc<Exchange>,
}

impl House {
    pub async fn new(script: impl Fn(&Heard) -> Vec<Step> + 'static) -> House {
        House::with(ExchangeSettings::default(), script).await
    }

    pub async fn with(settings: ExchangeSettings, script: impl Fn(&Heard) -> Vec<Step> + 'static) -> House {
        House::small(settings, 16 << 20, script).await
    }

    /// A house whose store has so many bytes.
    pub async fn small(
        settings: ExchangeSettings,
        store_bytes: u64,
        script: impl Fn(&Heard) -> Vec<Step> + 'static,
    ) -> House {
        let origin = Origin::start(script).await;
        let shared = Shared {
            store: Arc::new(Store::in_memory(store_bytes)),
            flights: Arc::new(Flights::new(64 << 20)),
        };
        let exchange = exchange(shared, settings, &origin.address.to_string());
        House { origin, exchange }
    }

    /// Asks by GET.
    pub async fn get(&self, target: &str, lines: &[(&str, &str)]) -> Answer {
        self.ask("GET", target, lines).await
    }

    pub async fn ask(&self, method: &str, target: &str, lines: &[(&str, &str)]) -> Answer {
        Answer::read(self.exchange.handle(inbound(method, target, lines), NoBody).await).await
    }

    pub async fn send(&self, inbound: Inbound, body: &'static str) -> Answer {
        let length = body.len() as u64;
        let inbound = Inbound { has_body: true, content_length: Some(length), ..inbound };
        Answer::read(self.exchange.handle(inbound, Whole(Some(Bytes::from_static(body.as_bytes())))).await)
            .await
    }

    /// Asks so often at once.
    pub async fn crowd(&self, n: usize, target: &str, lines: &[(&str, &str)]) -> Vec<Answer> {
        let tasks: Vec<_> = (0..n)
            .map(|_| {
                let (exchange, inbound) = (Rc::clone(&self.exchange), inbound("GET", target, lines));
                tokio::task::spawn_local(
                    async move { Answer::read(exchange.handle(inbound, NoBody).await).await },
                )
            })
            .collect();
        let mut answers = Vec::new();
        for task in tasks {
            answers.push(task.await.unwrap());
        }
        answers
    }

    /// Waits until nothing is on its way to the store.
    pub async fn settled(&self) {
        while self.exchange.shared().flights.in_progress() != 0 {
            tokio::task::yield_now().await;
        }
    }
}

/// Makes an exchange in front of an origin.
pub fn exchange(shared: Shared, settings: ExchangeSettings, origin: &str) -> Rc<Exchange> {
    let servers = vec![origin.parse::<OriginServer>().unwrap()];
    let settings_of_origin = OriginSettings { servers, ..OriginSettings::default() };
    let servers = Servers::new(settings_of_origin, Box::new(|_| {})).unwrap();
    Exchange::new(shared, Arc::new(settings), Origins::new(servers))
}

pub fn inbound(method: &str, target: &str, lines: &[(&str, &str)]) -> Inbound {
    let mut all = HeaderLines::new();
    lines.iter().for_each(|(name, value)| all.push(name.as_bytes(), value.as_bytes()));
    Inbound {
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

/// A client without a body that keeps the interim responses it gets: status and lines.
#[derive(Debug, Clone, Default)]
pub struct Listening(pub Rc<RefCell<Vec<(u16, String)>>>);

impl RequestBody for Listening {
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
pub struct Whole(pub Option<Bytes>);

impl RequestBody for Whole {
    async fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
        Ok(self.0.take().filter(|body| !body.is_empty()))
    }
}

/// What a client has got.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub lines: HeaderLines,
    pub body: Result<String, BodyError>,
    pub path: HitPath,
    pub reason: &'static str,
    pub memo: Option<Memo>,
}

impl Answer {
    pub async fn read(reply: Reply) -> Answer {
        let body = read(reply.body).await.map(|body| String::from_utf8_lossy(&body).into_owned());
        if let (Ok(body), Some(length), false) =
            (&body, reply.lines.get("content-length"), body.as_ref().is_ok_and(String::is_empty))
        {
            assert_eq!(length, body.len().to_string().as_bytes(), "as long as announced");
        }
        let (path, reason) = (reply.handling.path, reply.handling.reason);
        Answer { status: reply.status, lines: reply.lines, body, path, reason, memo: reply.memo }
    }

    pub fn value(&self, name: &str) -> Option<&str> {
        self.lines.get(name).map(|value| std::str::from_utf8(value).unwrap())
    }

    pub fn text(&self) -> &str {
        self.body.as_deref().unwrap()
    }

    /// Returns `Cache-Status` without the time to live, which depends on how fast the test is.
    pub fn told(&self) -> String {
        let status = self.value("cache-status").unwrap();
        let parts = status.split("; ").filter(|part| !part.starts_with("ttl="));
        parts.collect::<Vec<_>>().join("; ")
    }

    /// Returns the time to live in seconds.
    pub fn ttl(&self) -> i64 {
        let (_, rest) = self.value("cache-status").unwrap().split_once("ttl=").unwrap();
        rest.split(';').next().unwrap().parse().unwrap()
    }

    /// Returns status, body and way.
    pub fn gist(&self) -> (u16, &str, HitPath) {
        (self.status, self.text(), self.path)
    }
}

async fn read(body: ReplyBody) -> Result<Vec<u8>, BodyError> {
    match body {
        ReplyBody::Empty => Ok(Vec::new()),
        ReplyBody::Pieces(pieces) => Ok(pieces.concat()),
        ReplyBody::Stream(mut stream) => {
            let mut all = Vec::new();
            while let Some(piece) = stream.next().await? {
                assert!(!piece.is_empty());
                all.extend_from_slice(&piece);
            }
            Ok(all)
        }
        ReplyBody::Tunnel(_) => panic!("a tunnel"),
    }
}
