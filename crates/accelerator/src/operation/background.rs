//! The background thread: probes the origin servers, and serves the admin page.

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
use super::components::{ActiveConfig, Components};
use crate::origin;

/// A handle of the thread.
#[derive(Debug)]
pub(super) struct BackgroundThread {
    updates: UnboundedSender<BackgroundUpdate>,
    thread: JoinHandle<()>,
}

/// The state that the thread works with, until the next update.
#[derive(Debug)]
pub(super) struct BackgroundUpdate {
    pub(super) current: Arc<ActiveConfig>,
    /// The new listener of the admin page; `None` to keep the current one, if there is one.
    pub(super) listener: Option<net::TcpListener>,
}

impl BackgroundThread {
    /// Starts the thread with its first state.
    ///
    /// # Errors
    /// If the system has no thread, or no descriptor for an event loop.
    pub(super) fn start(
        components: Arc<Components>,
        first: BackgroundUpdate,
    ) -> io::Result<BackgroundThread> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (updates, received) = unbounded_channel();
        // The receiver is still here.
        let _ = updates.send(first);
        let work = move || LocalSet::new().block_on(&runtime, run_updates(components, received));
        let thread = std::thread::Builder::new().name("operator".to_owned()).spawn(work)?;
        Ok(BackgroundThread { updates, thread })
    }

    /// Sends an update.
    pub(super) fn update(&self, update: BackgroundUpdate) {
        let _ = self.updates.send(update);
    }

    /// Ends the thread and its tasks.
    pub(super) fn stop(self) {
        drop(self.updates);
        // A panic of the thread is a bug here, and has been reported by the panic itself.
        let _ = self.thread.join();
    }
}

/// Applies updates until there are no more.
async fn run_updates(components: Arc<Components>, mut updates: UnboundedReceiver<BackgroundUpdate>) {
    let mut listener = None;
    let mut tasks = Vec::new();
    while let Some(update) = updates.recv().await {
        // Requests in progress go on.
        tasks.drain(..).for_each(|task: tokio::task::JoinHandle<()>| task.abort());
        let current = update.current;
        match update.listener.map(TcpListener::from_std) {
            Some(Ok(new)) => listener = Some(Rc::new(new)),
            Some(Err(why)) => components.notices.warn(format!("the admin page cannot be served: {why}")),
            None if current.settings.admin.is_none() => listener = None,
            None => {}
        }
        let servers = Arc::clone(&current.servers);
        tasks.push(spawn_local(async move {
            origin::run_probes(servers).await;
        }));
        if let Some(listener) = &listener {
            tasks.push(spawn_local(admin::serve(Rc::clone(listener), Arc::clone(&components), current)));
        }
    }
}
