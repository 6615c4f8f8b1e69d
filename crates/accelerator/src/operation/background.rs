//! The thread beside the workers: probes the servers behind, and answers at the operator's page.

use std::io;
use std::net;
use std::rc::Rc;
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{LocalSet, spawn_local};

use super::admin;
use super::parts::{Current, Parts};
use crate::origin;

/// A handle to the thread.
#[derive(Debug)]
pub(super) struct Background {
    orders: UnboundedSender<Order>,
    thread: JoinHandle<()>,
}

/// What the thread does until it is told otherwise.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) current: Arc<Current>,
    /// Where the page is from now on; `None` where it was, if it is to be anywhere.
    pub(super) listener: Option<net::TcpListener>,
}

impl Background {
    /// Starts the thread with its first order.
    ///
    /// # Errors
    /// If the system has no thread, or no descriptor to wait for several things with.
    pub(super) fn start(parts: Arc<Parts>, first: Order) -> io::Result<Background> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (orders, received) = unbounded_channel();
        // The receiver is still here.
        let _ = orders.send(first);
        let work = move || LocalSet::new().block_on(&runtime, perform(parts, received));
        let thread = std::thread::Builder::new().name("operator".to_owned()).spawn(work)?;
        Ok(Background { orders, thread })
    }

    /// Gives another order.
    pub(super) fn order(&self, order: Order) {
        let _ = self.orders.send(order);
    }

    /// Ends the thread, and whatever it does.
    pub(super) fn stop(self) {
        drop(self.orders);
        // It is our own mistake if it panicked; the panic has told itself.
        let _ = self.thread.join();
    }
}

/// Follows orders until there are no more.
async fn perform(parts: Arc<Parts>, mut orders: UnboundedReceiver<Order>) {
    let mut listener = None;
    let mut tasks = Vec::new();
    while let Some(order) = orders.recv().await {
        // Requests that are being answered go on.
        tasks.drain(..).for_each(|task: tokio::task::JoinHandle<()>| task.abort());
        let current = order.current;
        match order.listener.map(TcpListener::from_std) {
            Some(Ok(new)) => listener = Some(Rc::new(new)),
            Some(Err(why)) => parts.notices.warn(format!("the operator's page cannot be reached: {why}")),
            None if current.settings.admin.is_none() => listener = None,
            None => {}
        }
        let servers = Arc::clone(&current.servers);
        tasks.push(spawn_local(async move {
            origin::watch(servers).await;
        }));
        if let Some(listener) = &listener {
            tasks.push(spawn_local(admin::serve(Rc::clone(listener), Arc::clone(&parts), current)));
        }
    }
}
