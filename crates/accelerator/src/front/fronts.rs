//! Starting, reloading and stopping all workers.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::JoinHandle;

use socket2::Socket;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use units::Nanos;

use super::admission::Census;
use super::listener::{address_of, listen};
use super::settings::{FrontSettings, Listen};
use super::thread::{Order, Post, run};
use super::tls::Tls;
pub use super::worker::Kit;

/// Makes what the worker of this index works with; called on its own thread, which has a runtime for local tasks.
pub type Maker = Arc<dyn Fn(usize) -> Kit + Send + Sync>;

/// What fronts do until they are told otherwise.
#[derive(Clone)]
pub struct Plan {
    /// Where to listen, and what to put up with.
    pub settings: FrontSettings,
    /// What handshakes are done with, on the listeners that want TLS.
    pub tls: Option<Arc<Tls>>,
    /// What makes the workers' tools.
    pub make: Maker,
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// The workers, each on a thread of its own. Dropping them ends them at once.
#[derive(Debug)]
pub struct Fronts {
    workers: Vec<Hand>,
    /// Where they listen: the address as it was given, and as it turned out to be.
    addresses: Vec<(SocketAddr, SocketAddr)>,
}

#[derive(Debug)]
struct Hand {
    orders: UnboundedSender<Order>,
    thread: JoinHandle<usize>,
}

/// Starts as many workers as that, and returns when all of them accept connections.
///
/// # Errors
/// If an address cannot be listened on, TLS is wanted and not set up, or there can be no thread or no runtime.
pub fn start(plan: Plan, workers: NonZeroUsize) -> io::Result<Fronts> {
    let mut fronts = Fronts { workers: Vec::new(), addresses: Vec::new() };
    let bound = fronts.bind(&plan, workers.get())?;
    fronts.addresses = bound.addresses;
    let census = Arc::<Census>::default();
    for (index, sockets) in bound.sockets.into_iter().enumerate() {
        let (orders, received) = unbounded_channel();
        let (ready, readied) = mpsc::channel();
        let post = Post { index, plan: plan.clone(), census: Arc::clone(&census), sockets, orders: received };
        let thread =
            std::thread::Builder::new().name(format!("worker-{index}")).spawn(move || run(post, &ready))?;
        fronts.workers.push(Hand { orders, thread });
        readied.recv().map_err(io::Error::other)??;
    }
    Ok(fronts)
}

/// Sockets for a plan that are not in use yet.
struct Bound {
    /// For each worker those to be listened on, in the order of the listens; `None` where it has one already.
    sockets: Vec<Vec<Option<Socket>>>,
    addresses: Vec<(SocketAddr, SocketAddr)>,
}

impl Fronts {
    /// Returns where the fronts listen, in the order of the listens.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.addresses.iter().map(|(_, actual)| *actual).collect()
    }

    /// Goes on with another plan: no connection is dropped, and no request in progress.
    ///
    /// Returns once the plan has been handed to all workers. Addresses that are listened on already stay so; new ones are
    /// had before old ones are given up. What is settled when a connection is made, such as whether it speaks TLS, holds
    /// for connections made afterwards.
    ///
    /// # Errors
    /// As [`start`]; then everything stays as it is.
    pub fn reload(&mut self, plan: Plan) -> io::Result<()> {
        let bound = self.bind(&plan, self.workers.len())?;
        self.addresses = bound.addresses;
        for (worker, sockets) in self.workers.iter().zip(bound.sockets) {
            // A worker that has ended has panicked, which stopping tells.
            let _ = worker.orders.send(Order::Reload(Box::new(plan.clone()), sockets));
        }
        Ok(())
    }

    /// Stops gracefully: nobody else is let in, requests in progress are answered, and each reply says that it is the
    /// last. Returns how many requests had to be broken off when the deadline, a time from now, had come.
    ///
    /// # Panics
    /// If a worker panicked.
    pub fn stop(self, deadline: Nanos) -> usize {
        for worker in &self.workers {
            let _ = worker.orders.send(Order::Stop(deadline));
        }
        let broken_off = |worker: Hand| worker.thread.join().expect("a worker does not panic");
        self.workers.into_iter().map(broken_off).sum()
    }

    /// Gets the sockets that a plan needs and that are not there yet.
    fn bind(&self, plan: &Plan, workers: usize) -> io::Result<Bound> {
        let listens = &plan.settings.listens;
        check(listens, plan.tls.is_some())?;
        let mut known = self.addresses.clone();
        let mut bound = Bound { sockets: (0..workers).map(|_| Vec::new()).collect(), addresses: Vec::new() };
        for Listen { address, .. } in listens {
            if let Some(place) = known.iter().position(|(given, _)| given == address) {
                bound.addresses.push(known.remove(place));
                bound.sockets.iter_mut().for_each(|sockets| sockets.push(None));
                continue;
            }
            let sockets = listen(*address, workers)?;
            let first = sockets.first().ok_or(io::ErrorKind::InvalidInput)?;
            bound.addresses.push((*address, address_of(first)?));
            for (own, socket) in bound.sockets.iter_mut().zip(sockets) {
                own.push(Some(socket));
            }
        }
        Ok(bound)
    }
}

/// Checks what no single listen can show.
fn check(listens: &[Listen], has_tls: bool) -> io::Result<()> {
    let refused = |text: String| Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    for (index, listen) in listens.iter().enumerate() {
        let Listen { address, tls, .. } = listen;
        if *tls && !has_tls {
            return refused(format!("{address} is to speak TLS, and there is no certificate"));
        }
        // Port 0 is another port each time.
        if address.port() != 0 && listens[..index].iter().any(|other| other.address == *address) {
            return refused(format!("{address} is given twice"));
        }
    }
    Ok(())
}
