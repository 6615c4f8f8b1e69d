//! A worker's thread: its runtime, its listeners, and the orders it gets.

use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use socket2::Socket;
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;
use units::Nanos;

use super::acceptor::{Door, accept_all};
use super::admission::Census;
use super::entrance::Gate;
use super::fronts::Plan;
use super::watch::TICK;
use super::worker::Worker;

/// How long a worker that stops goes on accepting who had been let in by the kernel, at most.
const LAST_GUESTS: Duration = Duration::from_secs(1);

/// What a worker begins with.
pub(super) struct Post {
    pub(super) index: usize,
    pub(super) plan: Plan,
    pub(super) census: Arc<Census>,
    /// For each listen of the plan a socket.
    pub(super) sockets: Vec<Option<Socket>>,
    pub(super) orders: UnboundedReceiver<Order>,
}

/// What a worker is told.
#[derive(Debug)]
pub(super) enum Order {
    /// Go on with this plan; for each of its listens a socket, or none if there is one.
    Reload(Box<Plan>, Vec<Option<Socket>>),
    /// Stop gracefully, in this time.
    Stop(Nanos),
}

/// Works on the calling thread until told to stop. Returns how many requests were broken off.
pub(super) fn run(post: Post, ready: &Sender<io::Result<()>>) -> usize {
    // In order of hands: whoever started the workers may have given up already.
    let runtime = match Builder::new_current_thread().enable_all().build_local(LocalOptions::default()) {
        Ok(runtime) => runtime,
        Err(error) => {
            let _ = ready.send(Err(error));
            return 0;
        }
    };
    runtime.block_on(work(post, ready))
}

async fn work(post: Post, ready: &Sender<io::Result<()>>) -> usize {
    let Post { index, plan, census, sockets, mut orders } = post;
    let worker = Rc::new(Worker::new(&plan.settings, (plan.make)(index), census));
    let mut doors = Doors { worker: Rc::clone(&worker), open: Vec::new(), acceptors: JoinSet::new() };
    doors.arrange(&plan, sockets);
    tokio::task::spawn_local(keep_time(Rc::clone(&worker)));
    let _ = ready.send(Ok(()));
    while let Some(order) = orders.recv().await {
        match order {
            Order::Reload(plan, sockets) => {
                worker.change(&plan.settings, (plan.make)(index));
                doors.arrange(&plan, sockets);
            }
            Order::Stop(deadline) => return stop(&worker, doors, deadline).await,
        }
    }
    worker.busy()
}

/// Lets nobody else in, and waits for those who are.
async fn stop(worker: &Worker, mut doors: Doors, deadline: Nanos) -> usize {
    doors.open.iter().for_each(|(_, door)| door.close());
    let all = async { while doors.acceptors.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(LAST_GUESTS, all).await;
    worker.begin_to_drain();
    let _ = tokio::time::timeout(Duration::from_nanos(deadline.0), worker.drained()).await;
    worker.busy()
}

/// Counts ticks for ever, and keeps house at each.
async fn keep_time(worker: Rc<Worker>) {
    loop {
        tokio::time::sleep(Duration::from_nanos(TICK.0)).await;
        worker.clockwork.tick();
        worker.keep_house();
    }
}

/// The listeners of one worker.
struct Doors {
    worker: Rc<Worker>,
    /// By the address as it was given.
    open: Vec<(SocketAddr, Rc<Door>)>,
    acceptors: JoinSet<io::Result<()>>,
}

impl Doors {
    /// Opens doors that a plan has and that are not there yet, changes those that are, and closes all others.
    fn arrange(&mut self, plan: &Plan, sockets: Vec<Option<Socket>>) {
        let mut before = std::mem::take(&mut self.open);
        for (listen, socket) in plan.settings.listens.iter().zip(sockets) {
            let gate = Gate::new(listen.clone(), plan.tls.as_ref());
            let door = match socket {
                Some(socket) => self.accept(socket, gate),
                None => {
                    let known = before.iter().position(|(address, _)| *address == listen.address);
                    let Some(known) = known else { continue };
                    let (_, door) = before.remove(known);
                    door.change(gate);
                    door
                }
            };
            self.open.push((listen.address, door));
        }
        before.iter().for_each(|(_, door)| door.close());
    }

    fn accept(&mut self, socket: Socket, gate: Gate) -> Rc<Door> {
        let door = Rc::new(Door::new(gate));
        self.acceptors.spawn_local(accept_all(socket, Rc::clone(&door), Rc::clone(&self.worker)));
        door
    }
}
