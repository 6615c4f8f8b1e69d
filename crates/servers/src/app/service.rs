//! Service threads: each performs one request at a time, from the queue to the reply.

use std::sync::Arc;
use std::thread;

use frame::app::{
    AppOperation, AppStatus, DATA_SETTINGS_BYTES, DataSettings, FORMAT, PAYLOAD_MAX, PREPARE, ROUNDS_MAX,
    SEQUENTIAL_BLOCKS, WorkTable, fill_payload, split_sized_content,
};
use frame::{Crc32c, REPLY_BYTES, REQUEST_BYTES, RequestHeader, ServerStamps};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{SendFlags, Shutdown, send, shutdown};
use units::{Clock, Nanos};

use super::client_data::TransferBuffer;
use super::fault::{AppFaultAction, Delivery, SLOW};
use super::server::Shared;
use super::session::{ClientConnection, Session};

/// Longest time without progress of a reply; a client that does not read loses its connection.
const SEND_SECONDS_MAX: i64 = 5;

/// A request on its way through the server.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) connection: Arc<ClientConnection>,
    pub(super) header: RequestHeader,
    /// Header and payload.
    pub(super) frame: Vec<u8>,
    /// The moment at which it was complete.
    pub(super) received: Nanos,
}

/// A service thread, with the memory that it works in.
pub(super) struct ServiceThread<'a> {
    shared: &'a Shared,
    buffer: TransferBuffer,
    table: WorkTable,
    /// The reply: room for its header, and the payload.
    reply: Vec<u8>,
}

impl ServiceThread<'_> {
    /// Creates a thread's part.
    pub(super) fn new(shared: &Shared) -> ServiceThread<'_> {
        let (buffer, table) = (TransferBuffer::new(), WorkTable::default());
        ServiceThread { shared, buffer, table, reply: Vec::new() }
    }

    /// Performs jobs until the queue is closed.
    pub(super) fn run(&mut self) {
        let shared = self.shared;
        let mut throttle = shared.throttle.as_ref().map(|throttle| throttle.thread());
        shared.queue.work(|job| {
            // A pause before the start is a part of the wait.
            throttle.iter_mut().for_each(|throttle| throttle.settle());
            self.serve(&job);
            shared.go_on(&job.connection);
            throttle.iter_mut().for_each(|throttle| throttle.settle());
        });
    }

    fn serve(&mut self, job: &Job) {
        let started = self.shared.clock.now();
        self.reply.clear();
        self.reply.resize(REPLY_BYTES, 0);
        let operation = AppOperation::from_number(job.header.operation);
        let is_counted = operation.is_some_and(is_transaction);
        let fault = is_counted.then(|| self.shared.faults.next()).flatten();
        let result = match operation {
            Some(operation) => self.perform(operation, job),
            None => Err(AppStatus::BadRequest),
        };
        if fault == Some(AppFaultAction::Slow) {
            thread::sleep(SLOW);
        }
        let ended = self.shared.clock.now();
        let (status, result) = match result {
            Ok(result) => (AppStatus::Ok, result),
            Err(status) => (status, 0),
        };
        let mut header = job.header.reply(status as u16, result).with_payload(&self.reply[REPLY_BYTES..]);
        header.stamps = ServerStamps { received: job.received.0, started: started.0, ended: ended.0 };
        let delivery = fault.map_or(Delivery::Whole, |fault| fault.change(&mut header, &mut self.reply));
        self.reply[..REPLY_BYTES].copy_from_slice(&header.to_bytes(FORMAT));
        self.deliver(&job.connection, delivery);
        if operation == Some(AppOperation::Bye) {
            close(&job.connection);
        }
    }

    fn deliver(&mut self, connection: &ClientConnection, delivery: Delivery) {
        match delivery {
            Delivery::Whole => send_reply(connection, &self.reply),
            Delivery::Garbage => {
                self.reply.fill(b'?');
                send_reply(connection, &self.reply);
            }
            Delivery::Start(bytes) => {
                send_reply(connection, &self.reply[..bytes]);
                close(connection);
            }
            Delivery::Nothing => {}
        }
    }

    /// Performs an operation; returns its result. A payload is appended to the reply.
    fn perform(&mut self, operation: AppOperation, job: &Job) -> Result<u64, AppStatus> {
        let (argument, payload) = (job.header.argument, &job.frame[REQUEST_BYTES..]);
        if job.header.flags != 0 || !takes_payload(operation, payload.len()) {
            return Err(AppStatus::BadRequest);
        }
        if Crc32c::of(payload) != job.header.checksum {
            return Err(AppStatus::WrongChecksum);
        }
        if operation == AppOperation::Hello {
            return self.hello(job, argument, payload);
        }
        let session = job.connection.session().ok_or(AppStatus::OutOfPhase)?;
        if operation.needs_data() && !session.is_prepared {
            return Err(AppStatus::OutOfPhase);
        }
        match operation {
            // The reactor has answered those that ask for the load.
            AppOperation::Hello | AppOperation::Bye | AppOperation::Stats => Ok(0),
            AppOperation::Phase if argument == PREPARE => self.prepare(job, session),
            AppOperation::Phase => Err(AppStatus::BadRequest),
            AppOperation::ClientServer => Ok(payload.len() as u64),
            AppOperation::ServerClient => self.fill_reply(argument),
            AppOperation::Process => self.process(argument, payload),
            _ => self.transfer(operation, &session, argument),
        }
    }

    fn hello(&self, job: &Job, client: u64, payload: &[u8]) -> Result<u64, AppStatus> {
        let limits = &self.shared.limits;
        let client = u32::try_from(client).ok().filter(|client| *client < limits.clients_max);
        let client = client.ok_or(AppStatus::OverLimit)?;
        let settings = match payload {
            [] => None,
            _ => Some(DataSettings::read(payload).map_err(|_| AppStatus::BadRequest)?),
        };
        let is_too_long = |settings: DataSettings| {
            self.shared.directory.is_none() || limits.file_bytes_max < settings.file_bytes
        };
        if settings.is_some_and(is_too_long) {
            return Err(AppStatus::OverLimit);
        }
        let data = self.shared.client_data(client);
        job.connection.set_session(Session { data, settings, is_prepared: false });
        Ok(0)
    }

    fn prepare(&mut self, job: &Job, session: Session) -> Result<u64, AppStatus> {
        if let Some((settings, directory)) = session.settings.zip(self.shared.directory.as_ref()) {
            let mut data = session.data.lock().expect("no thread panics with the data of a client");
            data.prepare(settings, directory, &mut self.buffer)?;
        }
        let is_prepared = session.settings.is_some();
        job.connection.set_session(Session { is_prepared, ..session });
        Ok(0)
    }

    fn fill_reply(&mut self, argument: u64) -> Result<u64, AppStatus> {
        let (bytes, seed) = split_sized_content(argument);
        if PAYLOAD_MAX < bytes {
            return Err(AppStatus::OverLimit);
        }
        self.reply.resize(REPLY_BYTES + bytes as usize, 0);
        fill_payload(seed.into(), &mut self.reply[REPLY_BYTES..]);
        Ok(bytes.into())
    }

    fn process(&mut self, seed: u64, payload: &[u8]) -> Result<u64, AppStatus> {
        let rounds = payload.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
        match rounds.ok_or(AppStatus::BadRequest)? {
            rounds if rounds <= ROUNDS_MAX => Ok(self.table.compute(seed, rounds)),
            _ => Err(AppStatus::OverLimit),
        }
    }

    fn transfer(&mut self, operation: AppOperation, session: &Session, first: u64) -> Result<u64, AppStatus> {
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

/// Returns whether an operation is one of those that are measured.
fn is_transaction(operation: AppOperation) -> bool {
    !matches!(operation, AppOperation::Hello | AppOperation::Phase | AppOperation::Bye | AppOperation::Stats)
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

/// Sends a reply; closes the connection if the client does not take it.
pub(super) fn send_reply(connection: &ClientConnection, mut reply: &[u8]) {
    while !reply.is_empty() {
        match send(&connection.socket, reply, SendFlags::NOSIGNAL) {
            Ok(sent) => reply = &reply[sent..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) if is_writable(connection) => {}
            Err(_) => return close(connection),
        }
    }
}

/// Sends a short reply; closes the connection if there is no room for it at once.
pub(super) fn send_without_waiting(connection: &ClientConnection, reply: &[u8]) {
    if send(&connection.socket, reply, SendFlags::NOSIGNAL) != Ok(reply.len()) {
        close(connection);
    }
}

/// Waits until the socket takes bytes; returns whether it does.
fn is_writable(connection: &ClientConnection) -> bool {
    let limit = Timespec { tv_sec: SEND_SECONDS_MAX, tv_nsec: 0 };
    let mut sockets = [PollFd::new(&connection.socket, PollFlags::OUT)];
    matches!(poll(&mut sockets, Some(&limit)), Ok(1) | Err(Errno::INTR))
}

/// Ends the connection; the reactor hears of it as of an end by the client.
fn close(connection: &ClientConnection) {
    // It may have ended already.
    let _ = shutdown(&connection.socket, Shutdown::Both);
}
