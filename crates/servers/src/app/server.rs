//! An application server on threads of its own.

use std::io;
use std::net::SocketAddr;
use std::sync::Mutex;

use super::options::{AppOptions, AppServerError, SERVICE_THREADS_MAX};
use super::service::{AppService, ClientLimits};
use crate::framed::{DataDirectory, FrameServer, FrameServerOptions};

/// Start of the names of directories with files of clients.
const DIRECTORY_PREFIX: &str = "app-server-";

/// A running application server; dropping it stops it.
#[derive(Debug)]
pub struct AppServer {
    server: FrameServer<AppService>,
}

impl AppServer {
    /// Starts a server; it listens when this returns.
    ///
    /// # Errors
    /// The directory cannot be used, the address cannot be listened on, or no further thread can be created.
    ///
    /// # Panics
    /// The number of service threads is not within its bounds.
    pub fn start(options: AppOptions) -> Result<AppServer, AppServerError> {
        assert!((1..=SERVICE_THREADS_MAX).contains(&options.service_threads), "bounded service threads");
        let parent = options.directory.as_deref();
        let directory = parent.map(|parent| DataDirectory::create(parent, DIRECTORY_PREFIX)).transpose()?;
        let AppOptions { clients_max, file_bytes_max, append_bytes_max, .. } = options;
        let limits = ClientLimits { clients_max, file_bytes_max, append_bytes_max };
        let service = AppService { limits, clients: Mutex::default(), directory };
        let common = FrameServerOptions {
            listen: options.listen,
            threads: vec![options.service_threads],
            queue_max: options.queue_max,
            clients_max,
            cpu_allowance: options.cpu_allowance,
            faults: options.faults,
        };
        Ok(AppServer { server: FrameServer::start(common, service)? })
    }

    /// Returns the address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// Stops it, and removes the files of its clients. Requests in service are completed.
    ///
    /// # Errors
    /// The reactor had failed before.
    pub fn stop(self) -> io::Result<()> {
        self.server.stop()
    }
}
