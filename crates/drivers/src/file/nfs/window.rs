//! A driver of one client with several requests in flight on its one connection: those of a stream.
//!
//! Each read and each write of a stream is one call, at a place that engine and driver know it by. A block is not split: one
//! that is larger than the server takes at a time has been refused before load. All other operations, those at the ends of a
//! file, are performed with nothing else in flight, as a client without a window does them.
//!
//! | state of a place | event | then |
//! |---|---|---|
//! | free | `begin` | waiting, behind those that wait already |
//! | waiting | the session is open, and a slot is free | the call is composed: sent |
//! | sent | the reply to the call by its number, in any order | verified, and its reply waits to be told: free |
//! | waiting, sent | the session ends | its reply says so: free |
//! | waiting, sent | `give_up_place` | free; the session ends with it |
//!
//! Version 4.1 has a slot for each call in flight. Waiting for one is part of the response time: a server that grants few slots
//! has fewer requests in flight. Version 3 has none, and tells calls apart by their numbers alone.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use engine::{Driver, SessionError};
use files::{FileAction, FileOperation, FilePath, FileRange, Handle};
use model::Reply;
use units::Nanos;

use super::actions::{ActionContext, WorkingClient};
use super::error::NfsSessionError;
use super::failure::{NfsFailure, Violation};
use super::procedure::{Answer, NfsFile, Procedure, data_answer_bytes};
use super::{NfsContext, describe, rpc};
use crate::file::Durability;
use crate::file::content::ClientContent;
use crate::file::first_data::FirstDataTimer;
use crate::file::frame_buffer::FrameBuffer;
use crate::file::window::Window;

/// A driver of one client, with its session and its requests in flight.
#[derive(Debug)]
pub struct NfsWindowDriver {
    context: Rc<NfsContext>,
    /// The number of the client.
    client: u32,
    /// The most bytes of what a server answers, without the head of the reply.
    answer_bytes_max: usize,
    content: ClientContent,
    session: Option<WindowSession>,
    window: Window<SentCall>,
}

/// A call whose reply is awaited.
#[derive(Debug, Clone, Copy)]
struct SentCall {
    number: u32,
    slot: usize,
    handle: Handle,
    path: FilePath,
    file: NfsFile,
    range: FileRange,
    /// The generation of the bytes that it writes; `None` of a read.
    generation: Option<u32>,
}

/// An open session, with the call that is being sent, of which so many bytes have gone.
#[derive(Debug)]
struct WindowSession {
    working: Box<WorkingClient>,
    unsent: Option<FrameBuffer>,
    n_sent: usize,
}

/// Returns the procedure of a read or write.
fn procedure(file: &NfsFile, range: FileRange, is_write: bool, is_durable: bool) -> Procedure<'_> {
    let length = u32::try_from(range.length).unwrap_or(u32::MAX);
    if is_write {
        Procedure::Write(file, range.offset, length, is_durable)
    } else {
        Procedure::Read(file, range.offset, length)
    }
}

/// Returns whether an operation is a call that can be in flight with others.
fn is_shared(operation: &FileOperation) -> bool {
    matches!(operation.action, FileAction::Read(..) | FileAction::Write(..))
}

impl NfsWindowDriver {
    /// Creates the driver of the client of this number, without a session, for so many requests in flight of at most so many
    /// bytes each.
    pub fn new(context: Rc<NfsContext>, client: u32, n_places: usize, request_bytes: u32) -> NfsWindowDriver {
        let content = ClientContent::new(&context.clients);
        let first_data = FirstDataTimer::new(context.clients.times_first_data);
        let window = Window::new(context.clock, first_data, n_places);
        let answer_bytes_max = data_answer_bytes(request_bytes);
        NfsWindowDriver { context, client, answer_bytes_max, content, session: None, window }
    }

    async fn open_session(&mut self) -> Result<(), NfsSessionError> {
        let context = Rc::clone(&self.context);
        let n_slots = u32::try_from(self.window.n_places()).unwrap_or(u32::MAX);
        let working = Box::pin(context.open(n_slots)).await?;
        self.session = Some(WindowSession { working, unsent: None, n_sent: 0 });
        Ok(())
    }

    fn is_durable(&self) -> bool {
        self.context.clients.durability == Durability::Write
    }

    /// Returns the operation that waits longest with its place, if it has to be performed alone, and can be.
    fn next_alone(&self) -> Option<(usize, FileOperation)> {
        let (place, operation) = self.window.first_waiting()?;
        let is_anything_sent = self.window.calls().next().is_some();
        let is_next = !is_shared(&operation) && !is_anything_sent && !self.window.has_ended();
        is_next.then_some((place, operation))
    }

    /// Performs an operation with nothing else in flight.
    async fn perform_alone(&mut self, place: usize, operation: &FileOperation) {
        self.window.take_first_waiting();
        let Some(WindowSession { working, .. }) = &mut self.session else { return };
        let before = working.client.connection.n_exchanges;
        let mut context = ActionContext { shared: &self.context, content: &mut self.content };
        let result = Box::pin(working.act(operation, &mut context)).await;
        let n_exchanges = working.client.connection.n_exchanges - before;
        let is_lost = result.is_err_and(|failure| failure.ends_session);
        self.window.end(place, n_exchanges, result);
        if is_lost {
            self.lose_session(NfsFailure::ended(0));
        }
    }

    /// Composes the calls that wait, sends what can be sent, and takes the replies that have arrived, until an operation has
    /// ended. What ends the session ends all operations.
    fn poll_ended(&mut self, context: &mut Context<'_>) -> Poll<(usize, Reply)> {
        loop {
            // Operations that have begun since then go first: those that have ended are told one by one.
            if let Err(failure) = self.send(context) {
                self.lose_session(failure);
            }
            if let Some(ended) = self.window.take_ended() {
                return Poll::Ready(ended);
            }
            if let Err(failure) = ready!(self.poll_reply(context)) {
                self.lose_session(failure);
            }
        }
    }

    /// Composes and sends the calls that wait, each when the one before has gone: what is written is not held in memory for all
    /// of them. With a rest, the task is woken when there is room.
    fn send(&mut self, context: &mut Context<'_>) -> Result<(), NfsFailure> {
        while let Some(session) = &mut self.session {
            if let Some(frame) = &session.unsent {
                session.n_sent =
                    session.working.client.connection.poll_send(frame, session.n_sent, context)?;
                if session.n_sent < frame.len() {
                    return Ok(());
                }
                session.n_sent = 0;
                session.unsent.take().into_iter().for_each(|frame| self.context.pool.give(frame));
            }
            if !self.compose_next()? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Composes the call that waits longest. Returns whether there was one that can be sent now.
    fn compose_next(&mut self) -> Result<bool, NfsFailure> {
        let Some((place, operation)) = self.window.first_waiting() else { return Ok(false) };
        let Some(slot) = self.free_slot().filter(|_| is_shared(&operation)) else { return Ok(false) };
        self.window.take_first_waiting();
        match self.compose(&operation, slot) {
            Ok(call) => call.into_iter().for_each(|call| self.window.composed(place, call)),
            Err(failure) if failure.ends_session => return Err(failure),
            Err(failure) => self.window.end(place, 0, Err(failure)),
        }
        Ok(true)
    }

    /// Returns the lowest slot in which no call is in flight.
    fn free_slot(&self) -> Option<usize> {
        let n_slots = self.session.as_ref()?.working.client.n_slots().unwrap_or(self.window.n_places());
        let is_free = |slot: &usize| self.window.calls().all(|(_, call)| call.slot != *slot);
        (0..n_slots).find(is_free)
    }

    /// Composes the call of a read or write.
    fn compose(&mut self, operation: &FileOperation, slot: usize) -> Result<Option<SentCall>, NfsFailure> {
        let is_durable = self.is_durable();
        let (FileAction::Read(handle, range) | FileAction::Write(handle, range)) = operation.action else {
            return Ok(None);
        };
        let Some(WindowSession { working, unsent, .. }) = &mut self.session else { return Ok(None) };
        let (path, file) = working.opened_file(handle)?;
        let is_write = matches!(operation.action, FileAction::Write(..));
        let mut frame = self.context.pool.take();
        let procedure = procedure(&file, range, is_write, is_durable);
        let number = working.client.compose_in(slot, &procedure, &mut frame);
        let generation = is_write.then(|| {
            let n_bytes = range.length as usize;
            let generation = self.content.fill(path, range.offset, frame.claim(n_bytes));
            frame.pad(n_bytes);
            generation
        });
        rpc::seal(&mut frame)?;
        working.client.connection.n_exchanges += 1;
        *unsent = Some(frame);
        Ok(Some(SentCall { number, slot, handle, path, file, range, generation }))
    }

    /// Receives the next reply, and takes it as that to the call that it names.
    fn poll_reply(&mut self, context: &mut Context<'_>) -> Poll<Result<(), NfsFailure>> {
        let Some(session) = &mut self.session else { return Poll::Pending };
        let connection = &mut session.working.client.connection;
        let record = ready!(connection.poll_next(&self.context.pool, self.answer_bytes_max, context))?;
        let taken = self.take_reply(record.bytes());
        self.context.pool.give(record.buffer);
        Poll::Ready(taken)
    }

    fn take_reply(&mut self, bytes: &[u8]) -> Result<(), NfsFailure> {
        let number = rpc::answered_call(bytes)?;
        let awaited = self.window.calls().find(|(_, call)| call.number == number);
        let (place, call) =
            awaited.ok_or_else(|| NfsFailure::violation(Violation::OtherReply, number.into()))?;
        let result = self.take_answer(&call, bytes);
        let is_lost = result.is_err_and(|failure| failure.ends_session);
        self.window.end(place, 1, result);
        if is_lost { Err(NfsFailure::ended(0)) } else { Ok(()) }
    }

    /// Takes the answer to a call: verifies what was read, and notes what was written.
    fn take_answer(&mut self, call: &SentCall, bytes: &[u8]) -> Result<(), NfsFailure> {
        let is_durable = self.is_durable();
        let Some(WindowSession { working, .. }) = &mut self.session else {
            return Err(NfsFailure::ended(0));
        };
        let SentCall { slot, number, handle, path, ref file, range, generation } = *call;
        let procedure = procedure(file, range, generation.is_some(), is_durable);
        match (working.client.answer_in(slot, number, &procedure, bytes)?, generation) {
            (Answer::Data(data, _), None) => {
                let piece = FileRange { length: data.len() as u64, ..range };
                self.content.verify(path, piece, data).map_err(NfsFailure::of_content)?;
                check_whole(piece.length, range)
            }
            (Answer::Written(written), Some(generation)) => {
                let piece = FileRange { length: written.n_bytes.into(), ..range };
                self.content.written(path, piece, generation);
                working.note_written(handle, &written);
                check_whole(piece.length, range)?;
                if is_durable && !written.is_durable {
                    return Err(NfsFailure::violation(Violation::NotDurable, 0));
                }
                Ok(())
            }
            _ => Err(NfsFailure::violation(Violation::OtherReply, number.into())),
        }
    }

    /// Ends the session and all operations in flight.
    fn lose_session(&mut self, failure: NfsFailure) {
        self.session = None;
        self.window.lose_session(failure);
    }
}

/// Checks that a block was read or written as a whole.
fn check_whole(n_bytes: u64, range: FileRange) -> Result<(), NfsFailure> {
    if n_bytes < range.length { Err(NfsFailure::violation(Violation::Short, n_bytes)) } else { Ok(()) }
}

impl Driver for NfsWindowDriver {
    type Operation = FileOperation;

    const OPENS_WHEN_NEEDED: bool = true;
    const HAS_WINDOW: bool = true;

    /// Opens the session, so that no operation waits for it.
    async fn open(&mut self) -> Result<(), SessionError> {
        self.open_session().await.map_err(|error| SessionError::Exchange(error.to_string()))
    }

    /// Performs an operation with no other in flight.
    async fn perform(&mut self, operation: &FileOperation, sent: Nanos) -> Reply {
        self.begin(0, operation, sent);
        self.end().await.1
    }

    fn begin(&mut self, place: usize, operation: &FileOperation, sent: Nanos) {
        self.window.begin(place, operation, sent);
    }

    async fn end(&mut self) -> (usize, Reply) {
        if self.session.is_none()
            && !self.window.has_ended()
            && let Err(error) = self.open_session().await
        {
            self.lose_session(error.into_failure());
        }
        if let Some((place, operation)) = self.next_alone() {
            self.perform_alone(place, &operation).await;
        }
        poll_fn(|context| self.poll_ended(context)).await
    }

    fn give_up(&mut self) {
        self.session = None;
        self.window.forget_all();
    }

    /// Gives up the session, too: nobody reads the reply any more.
    fn give_up_place(&mut self, place: usize) {
        self.window.forget(place);
        self.lose_session(NfsFailure::ended(0));
    }

    fn describe(&self, operation: &FileOperation, reply: &Reply) -> String {
        describe(self.context.target.version, self.client, operation, reply)
    }
}
