//! A driver of one client with several requests in flight in its one session: those of a stream.
//!
//! Each operation of a stream is one request of its own frame, at a place that engine and driver know it by. A block is not
//! split: one that is larger than the server takes at a time has been refused before load.
//!
//! | state of a place | event | then |
//! |---|---|---|
//! | free | `begin` | waiting, behind those that wait already |
//! | waiting | the session is open, and has the credits | the request is composed: sent |
//! | sent | its reply, in any order | verified, and its reply waits to be told: free |
//! | waiting, sent | the session ends | its reply says so: free |
//! | waiting, sent | `give_up_place` | free; the session ends with it |
//!
//! Waiting for credits is part of the response time: a server that grants few of them has fewer requests in flight. Where
//! nothing is in flight that could bring more, a request that cannot be paid for fails.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use engine::{Driver, SessionError};
use files::{ExistingFile, FileAction, FileOperation, FilePath, FileRange};
use model::Reply;
use smb2::types::FileId;
use tokio::io::{AsyncRead, ReadBuf};
use units::Nanos;

use super::client::SmbClient;
use super::connection::{ArrivedFrames, READ_BYTES_LEAST, missing_bytes, of_io};
use super::failure::{SmbFailure, Violation};
use super::frame::{BufferPool, FRAME_HEAD_BYTES, FrameBuffer, frame_length};
use super::status::NtStatus;
use super::wire::{OpenMode, Request, SmbReply};
use super::{SmbContext, describe};
use crate::file::Durability;
use crate::file::content::ClientContent;
use crate::file::first_data::FirstDataTimer;
use crate::file::handle_table::OpenFile;
use crate::file::window::{InFlight, Window};

/// A driver of one client, with its session and its requests in flight.
#[derive(Debug)]
pub struct SmbWindowDriver {
    context: Rc<SmbContext>,
    /// The number of the client.
    client: u32,
    /// The most bytes of a request.
    request_bytes: u32,
    content: ClientContent,
    session: Option<WindowSession>,
    window: Window<SentRequest>,
    /// The places and results of the operations that the frame at hand has answered.
    taken: Vec<(usize, Result<(), SmbFailure>)>,
}

/// A request whose reply is awaited.
#[derive(Debug, Clone, Copy)]
struct SentRequest {
    /// The path of the file that is read or written.
    path: Option<FilePath>,
    /// The generation of the bytes that it writes.
    generation: u32,
}

/// An open session, with the frames on their way.
#[derive(Debug)]
struct WindowSession {
    client: Box<SmbClient>,
    /// The frame that is being sent, of which so many bytes have gone.
    unsent: Option<FrameBuffer>,
    n_sent: usize,
    arrived: Option<ArrivedFrames>,
}

impl SmbWindowDriver {
    /// Creates the driver of the client of this number, without a session, for so many requests in flight of at most so many
    /// bytes each.
    pub fn new(context: Rc<SmbContext>, client: u32, n_places: usize, request_bytes: u32) -> SmbWindowDriver {
        let content = ClientContent::new(&context.clients);
        let first_data = FirstDataTimer::new(context.clients.times_first_data);
        let window = Window::new(context.clock, first_data, n_places);
        SmbWindowDriver { context, client, request_bytes, content, session: None, window, taken: Vec::new() }
    }

    /// Opens the session.
    async fn open_session(&mut self) -> Result<(), super::SmbSessionError> {
        let context = Rc::clone(&self.context);
        let mut client = Box::pin(context.open()).await?;
        client.connection.session.widen(self.window.n_places(), self.request_bytes);
        self.session = Some(WindowSession { client, unsent: None, n_sent: 0, arrived: None });
        Ok(())
    }

    /// Composes the requests that wait, sends what can be sent, and takes the replies that have arrived, until an operation
    /// has ended. What ends the session ends all operations.
    fn poll_ended(&mut self, context: &mut Context<'_>) -> Poll<(usize, Reply)> {
        loop {
            // Operations that have begun since then go first: those that have ended are told one by one.
            if let Err(failure) = self.send(context) {
                self.lose_session(failure);
            }
            if let Some(ended) = self.window.take_ended() {
                return Poll::Ready(ended);
            }
            if let Err(failure) = ready!(self.poll_replies(context)) {
                self.lose_session(failure);
            }
        }
    }

    /// Composes and sends the requests that wait, each when the one before has gone: what is written is not held in memory for
    /// all of them. With a rest, the task is woken when there is room.
    fn send(&mut self, context: &mut Context<'_>) -> Result<(), SmbFailure> {
        while let Some(session) = &mut self.session {
            session.poll_send(&self.context.pool, context)?;
            if session.unsent.is_some() || !self.compose_next()? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Reads, and takes the replies that have arrived as a whole.
    fn poll_replies(&mut self, context: &mut Context<'_>) -> Poll<Result<(), SmbFailure>> {
        let Some(session) = &mut self.session else { return Poll::Pending };
        ready!(session.poll_read(&self.context.pool, context))?;
        Poll::Ready(self.take_replies())
    }

    /// Composes the request that waits longest. Returns whether there was one, and the session has credits for it, or none of
    /// the others will bring any.
    fn compose_next(&mut self) -> Result<bool, SmbFailure> {
        let Some((place, operation)) = self.window.first_waiting() else { return Ok(false) };
        if !self.can_compose(&operation) && !self.window.all_wait() {
            return Ok(false);
        }
        self.window.take_first_waiting();
        match self.compose(place, &operation) {
            Ok(Some(request)) => self.window.composed(place, request),
            Ok(None) => self.window.end(place, 0, Ok::<(), SmbFailure>(())),
            Err(failure) if failure.ends_session => return Err(failure),
            Err(failure) => self.window.end(place, 0, Err(failure)),
        }
        Ok(true)
    }

    /// Returns whether there are credits for an operation; all others than of data cost one.
    fn can_compose(&self, operation: &FileOperation) -> bool {
        let Some(session) = &self.session else { return true };
        let nothing = FileId { persistent: 0, volatile: 0 };
        let request = match operation.action {
            FileAction::Read(_, range) => Request::Read(nothing, 0, length_of(range)),
            FileAction::Write(_, range) => Request::Write(nothing, 0, length_of(range)),
            _ => Request::Close(nothing),
        };
        session.client.connection.session.can_pay(&request)
    }

    /// Composes the request of an operation at a place; `None` if it needs none.
    fn compose(
        &mut self,
        place: usize,
        operation: &FileOperation,
    ) -> Result<Option<SentRequest>, SmbFailure> {
        let Some(session) = &mut self.session else { return Err(SmbFailure::ended(0)) };
        let WindowSession { client, unsent, .. } = session;
        let SmbClient { connection, handles, .. } = &mut **client;
        let not_open = || SmbFailure::violation(Violation::NotOpen, 0);
        let mut frame = self.context.pool.take();
        connection.session.begin_at(place, &mut frame);
        let SmbContext { clients, paths, .. } = &*self.context;
        let opening =
            |mode: OpenMode| if clients.durability == Durability::Write { mode.durable() } else { mode };
        let mut sent = SentRequest { path: None, generation: 0 };
        match operation.action {
            FileAction::Open(_, path) => {
                let mut paths = paths.borrow_mut();
                let request = Request::Create(paths.of_server(path), opening(OpenMode::EXISTING));
                connection.session.add(&request, &mut frame)?;
            }
            FileAction::Create(_, path, existing) => {
                let mode = match existing {
                    ExistingFile::Refuse => OpenMode::NEW,
                    ExistingFile::Keep => OpenMode::NEW_OR_EXISTING,
                    ExistingFile::Truncate => OpenMode::NEW_OR_EMPTY,
                };
                let mut paths = paths.borrow_mut();
                let request = Request::Create(paths.of_server(path), opening(mode));
                connection.session.add(&request, &mut frame)?;
            }
            FileAction::Close(handle) => {
                let open = handles.remove(handle).ok_or_else(not_open)?;
                connection.session.add(&Request::Close(open.file), &mut frame)?;
            }
            FileAction::Flush(handle) => {
                let open = handles.get(handle).ok_or_else(not_open)?;
                if clients.durability == Durability::Relaxed {
                    return Ok(None);
                }
                connection.session.add(&Request::Flush(open.file), &mut frame)?;
            }
            FileAction::Read(handle, range) => {
                let open = handles.get(handle).ok_or_else(not_open)?;
                sent.path = Some(open.path);
                let request = Request::Read(open.file, range.offset, length_of(range));
                connection.session.add(&request, &mut frame)?;
            }
            FileAction::Write(handle, range) => {
                let open = handles.get(handle).ok_or_else(not_open)?;
                sent.path = Some(open.path);
                let request = Request::Write(open.file, range.offset, length_of(range));
                connection.session.add(&request, &mut frame)?;
                let bytes = frame.claim(length_of(range) as usize);
                sent.generation = self.content.fill(open.path, range.offset, bytes);
            }
            // Streams have no others.
            _ => return Err(SmbFailure::status(NtStatus::NOT_SUPPORTED)),
        }
        connection.session.seal(&mut frame)?;
        connection.n_exchanges += 1;
        *unsent = Some(frame);
        Ok(Some(sent))
    }

    /// Takes the frames that have arrived as a whole.
    fn take_replies(&mut self) -> Result<(), SmbFailure> {
        let Some(WindowSession { arrived: Some(arrived), .. }) = &mut self.session else { return Ok(()) };
        let ArrivedFrames { mut buffer, mut n_taken } =
            std::mem::replace(arrived, ArrivedFrames { buffer: FrameBuffer::default(), n_taken: 0 });
        let taken = self.take_frames(&mut buffer, &mut n_taken);
        let Some(session) = &mut self.session else { return taken };
        session.arrived = if n_taken == buffer.len() {
            self.context.pool.give(buffer);
            None
        } else {
            buffer.discard(n_taken);
            Some(ArrivedFrames { buffer, n_taken: 0 })
        };
        taken
    }

    fn take_frames(&mut self, buffer: &mut FrameBuffer, n_taken: &mut usize) -> Result<(), SmbFailure> {
        loop {
            let Some(session) = &mut self.session else { return Ok(()) };
            let SmbClient { connection, handles, .. } = &mut *session.client;
            let bytes = &mut buffer.filled_mut()[*n_taken..];
            let Some(length) = frame_length(bytes, connection.session.reply_bytes_max())? else {
                return Ok(());
            };
            let end = FRAME_HEAD_BYTES + length;
            let Some(frame) = bytes.get_mut(FRAME_HEAD_BYTES..end) else { return Ok(()) };
            *n_taken += end;
            let (window, content, taken) = (&self.window, &mut self.content, &mut self.taken);
            connection.session.take_any(frame, &mut |place, _, reply| {
                let Some(InFlight { operation, call: Some(request), .. }) = window.in_flight(place) else {
                    return Ok(());
                };
                let result = take_reply(&operation, &request, &reply, content);
                let opened = result.as_ref().ok().copied().flatten();
                if let (FileAction::Open(handle, path) | FileAction::Create(handle, path, _), Some(file)) =
                    (operation.action, opened)
                {
                    handles.insert(handle, OpenFile { path, file });
                }
                taken.push((place, result.map(drop)));
                Ok(())
            })?;
            let mut is_lost = false;
            while let Some((place, result)) = self.taken.pop() {
                is_lost |= result.is_err_and(|failure| failure.ends_session);
                self.window.end(place, 1, result);
            }
            if is_lost {
                return Err(SmbFailure::ended(0));
            }
        }
    }

    /// Ends the session and all operations in flight.
    fn lose_session(&mut self, failure: SmbFailure) {
        self.session = None;
        self.taken.clear();
        self.window.lose_session(failure);
    }
}

/// Takes the reply to an operation: verifies what was read, and notes what was written. Returns the file that it opened.
fn take_reply(
    operation: &FileOperation,
    request: &SentRequest,
    reply: &SmbReply<'_>,
    content: &mut ClientContent,
) -> Result<Option<FileId>, SmbFailure> {
    if !reply.status.is_success() {
        return Err(SmbFailure::status(reply.status));
    }
    match (operation.action, request.path) {
        (FileAction::Open(..), _) => Ok(Some(reply.opened()?.id)),
        (FileAction::Create(_, path, _), _) => {
            let opened = reply.opened()?;
            if opened.is_new {
                content.created(path);
            }
            Ok(Some(opened.id))
        }
        (FileAction::Read(_, range), Some(path)) => {
            let data = reply.data(length_of(range))?;
            content.verify(path, range, data).map_err(SmbFailure::of_content)?;
            Ok(None)
        }
        (FileAction::Write(_, range), Some(path)) => {
            let n_written = reply.n_written(length_of(range))?;
            if u64::from(n_written) < range.length {
                return Err(SmbFailure::violation(Violation::Short, n_written.into()));
            }
            content.written(path, range, request.generation);
            Ok(None)
        }
        _ => Ok(None),
    }
}

/// Returns the length of a block, of at most 8 MiB.
fn length_of(range: FileRange) -> u32 {
    u32::try_from(range.length).unwrap_or(u32::MAX)
}

impl WindowSession {
    /// Sends what can be sent of the frames; with a rest, the task is woken when there is room.
    fn poll_send(&mut self, pool: &BufferPool, context: &mut Context<'_>) -> Result<(), SmbFailure> {
        while let Some(frame) = &self.unsent {
            let stream = &self.client.connection.stream;
            match stream.try_write(&frame.filled()[self.n_sent..]) {
                Ok(n) => self.n_sent += n,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    match stream.poll_write_ready(context) {
                        Poll::Ready(ready) => ready.map_err(|error| of_io(&error))?,
                        Poll::Pending => return Ok(()),
                    }
                }
                Err(error) => return Err(of_io(&error)),
            }
            if self.n_sent == frame.len() {
                self.n_sent = 0;
                self.unsent.take().into_iter().for_each(|frame| pool.give(frame));
            }
        }
        Ok(())
    }

    /// Reads what has arrived into a buffer, which is taken out of the pool no earlier.
    fn poll_read(&mut self, pool: &BufferPool, context: &mut Context<'_>) -> Poll<Result<(), SmbFailure>> {
        let connection = &mut self.client.connection;
        if self.arrived.is_none() {
            ready!(connection.stream.poll_read_ready(context)).map_err(|error| of_io(&error))?;
        }
        let held = self.arrived.get_or_insert_with(|| ArrivedFrames { buffer: pool.take(), n_taken: 0 });
        let missing = missing_bytes(held, connection.session.reply_bytes_max())?;
        let mut room = ReadBuf::new(held.buffer.room(missing.max(READ_BYTES_LEAST)));
        match Pin::new(&mut connection.stream).poll_read(context, &mut room) {
            Poll::Ready(read) => read.map_err(|error| of_io(&error))?,
            Poll::Pending => {
                if held.buffer.len() == 0
                    && let Some(unused) = self.arrived.take()
                {
                    pool.give(unused.buffer);
                }
                return Poll::Pending;
            }
        }
        let n_read = room.filled().len();
        if n_read == 0 {
            return Poll::Ready(Err(SmbFailure::ended(held.buffer.len())));
        }
        held.buffer.advance(n_read);
        Poll::Ready(Ok(()))
    }
}

impl Driver for SmbWindowDriver {
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
        poll_fn(|context| self.poll_ended(context)).await
    }

    fn give_up(&mut self) {
        self.session = None;
        self.window.forget_all();
    }

    /// Gives up the session, too: nobody reads the reply any more.
    fn give_up_place(&mut self, place: usize) {
        self.window.forget(place);
        self.lose_session(SmbFailure::ended(0));
    }

    fn describe(&self, operation: &FileOperation, reply: &Reply) -> String {
        describe(self.client, operation, reply)
    }
}
