//! An order-entry server on threads of its own.

use std::io;
use std::net::SocketAddr;
use std::ops::ControlFlow;

use super::data::OrderData;
use super::options::{OrderOptions, OrderServerError, READERS_MAX};
use super::service::OrderService;
use crate::framed::{FrameServer, FrameServerOptions};

/// A running order-entry server; dropping it stops it.
#[derive(Debug)]
pub struct OrderServer {
    server: FrameServer<OrderService>,
}

impl OrderServer {
    /// Makes the data, and starts a server; it listens when this returns.
    ///
    /// `progress` gets the number of rows loaded so far, of the sum of [`orders::DataScale::rows`] over all tables, and can
    /// stop the loading; it is not called if there is a golden copy.
    ///
    /// # Errors
    /// The directory cannot be used or has no room, the loading is stopped, the address cannot be listened on, or no further
    /// thread can be created.
    ///
    /// # Panics
    /// The number of readers is not within its bounds.
    pub fn start(
        options: OrderOptions,
        mut progress: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<OrderServer, OrderServerError> {
        assert!((1..=READERS_MAX).contains(&options.readers), "bounded readers");
        let data = OrderData::create(&options, &mut progress)?;
        let common = FrameServerOptions {
            listen: options.listen,
            threads: vec![1, options.readers],
            queue_max: options.queue_max,
            clients_max: options.terminals_max,
            cpu_allowance: options.cpu_allowance,
            faults: options.faults,
        };
        let service = OrderService::new(data, options.terminals_max);
        Ok(OrderServer { server: FrameServer::start(common, service)? })
    }

    /// Returns the address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// Stops it, and removes its data; the golden copy stays. Requests in service are completed.
    ///
    /// # Errors
    /// The reactor had failed before.
    pub fn stop(self) -> io::Result<()> {
        self.server.stop()
    }
}
