//! The service of the application server: what a service thread does with a request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use frame::app::{
    AppOperation, AppServerStats, AppStatus, DATA_SETTINGS_BYTES, DataSettings, FORMAT, PAYLOAD_MAX, PREPARE,
    ROUNDS_MAX, SEQUENTIAL_BLOCKS, WorkTable, fill_payload, split_sized_content,
};

use super::client_data::{ClientData, TransferBuffer};
use crate::framed::{DataDirectory, FrameProtocol, FrameRequest, FrameService, Requests, ServerLoad};

/// The service of an application server.
pub(super) struct AppService {
    pub(super) limits: ClientLimits,
    pub(super) clients: Mutex<HashMap<u32, Arc<Mutex<ClientData>>>>,
    /// Dropped last, with the files of all clients.
    pub(super) directory: Option<DataDirectory>,
}

/// The bounds of what a client may ask for.
#[derive(Debug)]
pub(super) struct ClientLimits {
    pub(super) clients_max: u32,
    pub(super) file_bytes_max: u64,
    pub(super) append_bytes_max: u64,
}

/// The session that `HELLO` has opened.
#[derive(Debug, Clone)]
pub(super) struct AppSession {
    data: Arc<Mutex<ClientData>>,
    /// The data that the client announced; `None` if it needs none.
    settings: Option<DataSettings>,
    is_prepared: bool,
}

impl FrameService for AppService {
    const PROTOCOL: FrameProtocol = FrameProtocol {
        format: FORMAT,
        name: "app",
        stats: AppOperation::Stats as u8,
        bye: AppOperation::Bye as u8,
        busy: AppStatus::Busy as u16,
        bad_request: AppStatus::BadRequest as u16,
        is_measured,
    };

    type Session = AppSession;

    fn lane(&self, _operation: u8) -> usize {
        0
    }

    fn run(&self, _lane: usize, mut requests: Requests<'_, AppService>) {
        let buffer = TransferBuffer::new();
        let table = WorkTable::default();
        let mut thread = ServiceThread { service: self, buffer, table };
        while let Some(request) = requests.next_request() {
            let result = thread.perform(&request, requests.reply());
            requests.answer(request, result.map_err(|status| status as u16));
        }
    }

    fn write_load(&self, load: &ServerLoad, payload: &mut Vec<u8>) {
        let stats = AppServerStats {
            threads: load.threads,
            busy_threads: load.busy_threads,
            queued: load.queued,
            queue_max: load.queue_max,
            connections: load.connections,
            performed: load.performed,
            refused: load.refused,
        };
        payload.extend(stats.to_bytes());
    }
}

impl AppService {
    /// Returns the data of a client; the same for all of its connections.
    fn client_data(&self, client: u32) -> Arc<Mutex<ClientData>> {
        let mut clients = self.clients.lock().expect("no thread panics with the clients");
        let made = || Arc::new(Mutex::new(ClientData::new(client, self.limits.append_bytes_max)));
        Arc::clone(clients.entry(client).or_insert_with(made))
    }
}

/// A service thread, with the memory that it works in.
struct ServiceThread<'a> {
    service: &'a AppService,
    buffer: TransferBuffer,
    table: WorkTable,
}

impl ServiceThread<'_> {
    /// Performs a request; returns its result. A payload is appended to the reply.
    fn perform(&mut self, request: &FrameRequest<AppSession>, reply: &mut Vec<u8>) -> Result<u64, AppStatus> {
        let operation = AppOperation::from_number(request.header.operation).ok_or(AppStatus::BadRequest)?;
        let argument = request.header.argument;
        let payload = request.payload();
        if request.header.flags != 0 || !takes_payload(operation, payload.len()) {
            return Err(AppStatus::BadRequest);
        }
        if !request.has_right_checksum() {
            return Err(AppStatus::WrongChecksum);
        }
        if operation == AppOperation::Hello {
            return self.hello(request, argument, payload);
        }
        let session = request.connection.session().ok_or(AppStatus::OutOfPhase)?;
        if operation.needs_data() && !session.is_prepared {
            return Err(AppStatus::OutOfPhase);
        }
        match operation {
            // The reactor has answered those that ask for the load.
            AppOperation::Hello | AppOperation::Bye | AppOperation::Stats => Ok(0),
            AppOperation::Phase if argument == PREPARE => self.prepare(request, session),
            AppOperation::Phase => Err(AppStatus::BadRequest),
            AppOperation::ClientServer => Ok(payload.len() as u64),
            AppOperation::ServerClient => fill_reply(argument, reply),
            AppOperation::Process => self.process(argument, payload),
            _ => self.transfer(operation, &session, argument),
        }
    }

    fn hello(
        &self,
        request: &FrameRequest<AppSession>,
        client: u64,
        payload: &[u8],
    ) -> Result<u64, AppStatus> {
        let limits = &self.service.limits;
        let client = u32::try_from(client).ok().filter(|client| *client < limits.clients_max);
        let client = client.ok_or(AppStatus::OverLimit)?;
        let settings = match payload {
            [] => None,
            _ => Some(DataSettings::read(payload).map_err(|_| AppStatus::BadRequest)?),
        };
        let is_too_long = |settings: DataSettings| {
            self.service.directory.is_none() || limits.file_bytes_max < settings.file_bytes
        };
        if settings.is_some_and(is_too_long) {
            return Err(AppStatus::OverLimit);
        }
        let data = self.service.client_data(client);
        request.connection.set_session(AppSession { data, settings, is_prepared: false });
        Ok(0)
    }

    fn prepare(&mut self, request: &FrameRequest<AppSession>, session: AppSession) -> Result<u64, AppStatus> {
        if let Some((settings, directory)) = session.settings.zip(self.service.directory.as_ref()) {
            let mut data = session.data.lock().expect("no thread panics with the data of a client");
            data.prepare(settings, directory, &mut self.buffer)?;
        }
        let is_prepared = session.settings.is_some();
        request.connection.set_session(AppSession { is_prepared, ..session });
        Ok(0)
    }

    fn process(&mut self, seed: u64, payload: &[u8]) -> Result<u64, AppStatus> {
        let rounds = payload.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
        match rounds.ok_or(AppStatus::BadRequest)? {
            rounds if rounds <= ROUNDS_MAX => Ok(self.table.compute(seed, rounds)),
            _ => Err(AppStatus::OverLimit),
        }
    }

    fn transfer(
        &mut self,
        operation: AppOperation,
        session: &AppSession,
        first: u64,
    ) -> Result<u64, AppStatus> {
        let mut data = session.data.lock().expect("no thread panics with the data of a client");
        match operation {
            AppOperation::RandomRead => data.read(first, 1, &mut self.buffer),
            AppOperation::RandomWrite => data.write(first, 1, &mut self.buffer),
            AppOperation::SequentialRead => data.read(first, SEQUENTIAL_BLOCKS, &mut self.buffer),
            AppOperation::SequentialWrite => data.write(first, SEQUENTIAL_BLOCKS, &mut self.buffer),
            _ => data.append(&mut self.buffer),
        }
    }
}

/// Appends the content that an argument asks for; returns its length.
fn fill_reply(argument: u64, reply: &mut Vec<u8>) -> Result<u64, AppStatus> {
    let (bytes, seed) = split_sized_content(argument);
    if PAYLOAD_MAX < bytes {
        return Err(AppStatus::OverLimit);
    }
    let start = reply.len();
    reply.resize(start + bytes as usize, 0);
    fill_payload(seed.into(), &mut reply[start..]);
    Ok(bytes.into())
}

/// Returns whether the operation of a number is one of those that are measured.
fn is_measured(operation: u8) -> bool {
    use AppOperation::{Bye, Hello, Phase, Stats};
    AppOperation::from_number(operation).is_some_and(|one| !matches!(one, Hello | Phase | Bye | Stats))
}

/// Returns whether an operation may have a payload of so many bytes.
fn takes_payload(operation: AppOperation, bytes: usize) -> bool {
    match operation {
        AppOperation::ClientServer => true,
        AppOperation::Hello => bytes == 0 || bytes == DATA_SETTINGS_BYTES,
        AppOperation::Process => bytes == size_of::<u32>(),
        _ => bytes == 0,
    }
}
