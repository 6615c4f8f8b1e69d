//! The state of a session: the numbers of its messages, its credits, how its messages are protected, and the replies that
//! are awaited. Bytes in, bytes out: no socket, no clock.
//!
//! A chain of requests is sent at a time, and each gets one reply. A session with several chains in flight has each of them in
//! a place, with these states of its own; replies come in any order, and credits are those of all.
//!
//! | state | event | next state | note |
//! |---|---|---|---|
//! | ready | [`SmbSession::begin`], [`SmbSession::add`] | composing | each request costs its credits; without them the session ends |
//! | composing | [`SmbSession::seal`] | awaiting | each message is signed, or all are encrypted together |
//! | awaiting | an interim reply | awaiting | at most [`INTERIM_MAX`]; may be unsigned, as it says nothing |
//! | awaiting | a reply to one of them | awaiting, or ready after the last | its signature is verified before anything is read |
//! | awaiting | anything else | the session ends | [`Violation`] says what it was |

use super::failure::{SmbFailure, Violation};
use super::frame::{FRAME_HEAD_BYTES, FrameBuffer};
use super::protection::{Protection, Signer, TRANSFORM_BYTES};
use super::share::SmbServerFacts;
use super::target::SmbDialect;
use super::wire::{HEADER_BYTES, Header, ReplyHead, Request, SmbReply, set_next};

/// The most requests of a chain.
pub(super) const CHAIN_MAX: usize = 4;

/// The most interim replies to a chain: a server that says more often that it takes longer will not end.
pub(super) const INTERIM_MAX: u32 = 32;

/// The credits that a session tries to have: those of a read of 8 MiB, and of a chain.
pub(super) const CREDITS_WANTED: u32 = 136;

/// The most credits that are counted.
const CREDITS_MAX: u32 = 1 << 16;

/// The most bytes of a read or write that is not split.
pub(super) const IO_BYTES_MAX: u32 = 8 << 20;

/// The bytes that a credit pays for.
const CREDIT_BYTES: u32 = 64 * 1024;

/// The limits that a server has stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ServerLimits {
    /// Whether requests of more than 64 KiB are allowed, and cost more credits.
    pub(super) has_large_requests: bool,
    /// The most bytes of a read.
    pub(super) read_max: u32,
    /// The most bytes of a write.
    pub(super) write_max: u32,
}

/// A request whose reply is awaited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Awaited {
    number: u64,
    command: u16,
    /// The offset of the message in its frame.
    start: usize,
    is_answered: bool,
}

/// A function that takes a reply, with the place of its chain and the index of its request there.
pub(super) type TakeReply<'a> = &'a mut dyn FnMut(usize, usize, SmbReply<'_>) -> Result<(), SmbFailure>;

/// The requests of a frame.
#[derive(Debug, Default)]
struct Chain {
    requests: [Awaited; CHAIN_MAX],
    n: usize,
    n_interim: u32,
    /// The most bytes of a frame with replies.
    reply_bytes_max: usize,
}

impl Chain {
    fn is_answered(&self) -> bool {
        self.requests[..self.n].iter().all(|request| request.is_answered)
    }

    /// Returns the index of the request that a reply belongs to.
    fn index_of(&self, head: &ReplyHead) -> Option<usize> {
        self.requests[..self.n].iter().position(|request| {
            request.number == head.number && request.command == head.command && !request.is_answered
        })
    }
}

/// A session with a share.
#[derive(Debug)]
pub(super) struct SmbSession {
    pub(super) session_id: u64,
    pub(super) tree_id: u32,
    next_number: u64,
    credits: u32,
    limits: ServerLimits,
    protection: Protection,
    /// The credits that it tries to have.
    credits_wanted: u32,
    /// The chains in flight, by their places.
    chains: Vec<Chain>,
    /// The place of the chain that is composed.
    current: usize,
}

/// The parts of a session that its opening has found.
#[derive(Debug)]
pub(super) struct SessionStart {
    pub(super) session_id: u64,
    pub(super) tree_id: u32,
    pub(super) next_number: u64,
    pub(super) credits: u32,
    pub(super) limits: ServerLimits,
    pub(super) protection: Protection,
}

impl SmbSession {
    /// Makes the session that was opened.
    pub(super) fn new(start: SessionStart) -> SmbSession {
        let SessionStart { session_id, tree_id, next_number, credits, limits, protection } = start;
        SmbSession {
            session_id,
            tree_id,
            next_number,
            credits,
            limits,
            protection,
            credits_wanted: CREDITS_WANTED,
            chains: vec![Chain::default()],
            current: 0,
        }
    }

    /// Makes places for so many chains in flight, each with a request of at most so many bytes, for which the session tries to
    /// have the credits.
    pub(super) fn widen(&mut self, n_places: usize, request_bytes: u32) {
        self.chains.resize_with(n_places.max(1), Chain::default);
        let n_places = u32::try_from(self.chains.len()).unwrap_or(u32::MAX);
        let each = request_bytes.div_ceil(CREDIT_BYTES).max(1);
        self.credits_wanted = n_places.saturating_mul(each).clamp(CREDITS_WANTED, u16::MAX.into());
    }

    /// Returns whether the server has granted the credits that a request costs.
    pub(super) fn can_pay(&self, request: &Request<'_>) -> bool {
        self.cost(request) <= self.credits
    }

    /// Returns the credits that a request costs.
    fn cost(&self, request: &Request<'_>) -> u32 {
        u32::from(self.charge(request).max(1))
    }

    /// Returns the credits that a request states; none where they are not counted by bytes.
    fn charge(&self, request: &Request<'_>) -> u16 {
        if self.limits.has_large_requests { request.charge() } else { 0 }
    }

    /// Returns how many of so many bytes are read at a time.
    pub(super) fn read_piece(&self, length: u64) -> u32 {
        self.piece(length, self.limits.read_max)
    }

    /// Returns how many of so many bytes are written at a time.
    pub(super) fn write_piece(&self, length: u64) -> u32 {
        self.piece(length, self.limits.write_max)
    }

    fn piece(&self, length: u64, server_max: u32) -> u32 {
        let most = if self.limits.has_large_requests {
            self.credits.max(1).saturating_mul(CREDIT_BYTES)
        } else {
            CREDIT_BYTES
        };
        let most = most.min(server_max).min(IO_BYTES_MAX);
        u32::try_from(length).map_or(most, |length| length.min(most))
    }

    /// Begins a frame of requests.
    pub(super) fn begin(&mut self, frame: &mut FrameBuffer) {
        self.begin_at(0, frame);
    }

    /// Begins a frame of requests in a place.
    pub(super) fn begin_at(&mut self, place: usize, frame: &mut FrameBuffer) {
        self.current = place;
        self.chains[place] = Chain::default();
        frame.clear();
        frame.put_zeros(FRAME_HEAD_BYTES);
        if let Protection::Encrypted(_) = self.protection {
            // Filled when the messages behind it are encrypted.
            frame.claim(TRANSFORM_BYTES);
            self.chains[place].reply_bytes_max = TRANSFORM_BYTES;
        }
    }

    /// Adds a request; one after another is about the same file as the one before. The bytes of a write follow.
    ///
    /// # Errors
    /// The server has not granted the credits that it costs.
    pub(super) fn add(&mut self, request: &Request<'_>, frame: &mut FrameBuffer) -> Result<(), SmbFailure> {
        let is_related = 0 < self.chain().n;
        let (charge, cost) = (self.charge(request), self.cost(request));
        if self.credits < cost {
            return Err(SmbFailure::violation(Violation::NoCredits, self.credits.into()));
        }
        self.credits -= cost;
        let start = self.pad_last(frame);
        let command = request.command();
        let header = Header {
            command,
            charge,
            credits: (self.credits_wanted.saturating_sub(self.credits)).max(1) as u16,
            is_related,
            is_signed: matches!(self.protection, Protection::Signed(_)),
            number: self.next_number,
            tree_id: self.tree_id,
            session_id: self.session_id,
        };
        header.write(frame);
        request.write(frame);
        let awaited =
            Awaited { number: self.next_number, command: command.into(), start, is_answered: false };
        let chain = &mut self.chains[self.current];
        chain.requests[chain.n] = awaited;
        chain.n += 1;
        chain.reply_bytes_max += HEADER_BYTES + request.reply_bytes_max();
        self.next_number += u64::from(cost);
        Ok(())
    }

    /// Lets the last message of the frame end where the next one may begin; returns that offset.
    fn pad_last(&self, frame: &mut FrameBuffer) -> usize {
        let chain = self.chain();
        let Some(last) = chain.requests[..chain.n].last() else { return frame.len() };
        let length = frame.len() - last.start;
        frame.put_zeros(length.next_multiple_of(8) - length);
        let next = frame.len() - last.start;
        set_next(&mut frame.filled_mut()[last.start..], next);
        frame.len()
    }

    /// Signs or encrypts the requests, and completes the frame.
    ///
    /// # Errors
    /// It is longer than a frame can be.
    pub(super) fn seal(&mut self, frame: &mut FrameBuffer) -> Result<(), SmbFailure> {
        match &mut self.protection {
            Protection::None => {}
            Protection::Signed(key) => {
                let mut end = frame.len();
                let chain = &self.chains[self.current];
                for request in chain.requests[..chain.n].iter().rev() {
                    let message = &mut frame.filled_mut()[request.start..end];
                    key.sign(message, request.number, Signer::Client);
                    end = request.start;
                }
            }
            Protection::Encrypted(ciphers) => ciphers.encrypt(&mut frame.filled_mut()[FRAME_HEAD_BYTES..]),
        }
        frame.set_frame_length()
    }

    /// Returns what was found of the server.
    pub(super) fn facts(&self, dialect: SmbDialect) -> SmbServerFacts {
        let (signing, encryption) = match &self.protection {
            Protection::None => (None, None),
            Protection::Signed(key) => (Some(key.algorithm()), None),
            Protection::Encrypted(_) => (None, Some("AES-128-GCM")),
        };
        SmbServerFacts {
            dialect,
            signing,
            encryption,
            read_bytes_max: self.limits.read_max,
            write_bytes_max: self.limits.write_max,
        }
    }

    /// Returns the number of requests of the frame.
    pub(super) fn n_requests(&self) -> usize {
        self.chain().n
    }

    /// Returns the most bytes of a frame that answers the requests of a chain.
    pub(super) fn reply_bytes_max(&self) -> usize {
        self.chains.iter().map(|chain| chain.reply_bytes_max).max().unwrap_or(0)
    }

    /// Returns the chain that is composed.
    fn chain(&self) -> &Chain {
        &self.chains[self.current]
    }

    /// Takes a frame, and passes each reply in it with the index of its request. Returns whether all requests are answered.
    ///
    /// # Errors
    /// The frame is not what the session awaits, or `each` fails.
    pub(super) fn take(
        &mut self,
        frame: &mut [u8],
        each: &mut dyn FnMut(usize, SmbReply<'_>) -> Result<(), SmbFailure>,
    ) -> Result<bool, SmbFailure> {
        self.take_any(frame, &mut |_, index, reply| each(index, reply))?;
        Ok(self.chain().is_answered())
    }

    /// Takes a frame, and passes each reply in it with the place of its chain and the index of its request.
    ///
    /// # Errors
    /// The frame is not what the session awaits, or `each` fails.
    pub(super) fn take_any(&mut self, frame: &mut [u8], each: TakeReply<'_>) -> Result<(), SmbFailure> {
        let mut rest = match &self.protection {
            Protection::Encrypted(ciphers) => ciphers.decrypt(frame)?,
            Protection::None | Protection::Signed(_) => frame,
        };
        loop {
            let head = ReplyHead::read(rest)?;
            let length = message_length(&head, rest.len())?;
            let (message, behind) = std::mem::take(&mut rest).split_at_mut(length);
            self.take_message(&head, message, each)?;
            if head.next == 0 {
                return Ok(());
            }
            rest = behind;
        }
    }

    fn take_message(
        &mut self,
        head: &ReplyHead,
        message: &mut [u8],
        each: TakeReply<'_>,
    ) -> Result<(), SmbFailure> {
        let other = SmbFailure::violation(Violation::OtherMessage, head.number);
        let mut chains = self.chains.iter().enumerate();
        let found = chains.find_map(|(place, chain)| Some((place, chain.index_of(head)?)));
        let (place, index) = found.ok_or(other)?;
        if head.session_id != self.session_id {
            return Err(other);
        }
        if head.is_interim() {
            let n_interim = &mut self.chains[place].n_interim;
            *n_interim += 1;
            if INTERIM_MAX < *n_interim {
                let n = (*n_interim).into();
                return Err(SmbFailure::violation(Violation::EndlessPending, n));
            }
            self.grant(head.credits);
            return Ok(());
        }
        if let Protection::Signed(key) = &self.protection {
            if !head.is_signed {
                return Err(SmbFailure::violation(Violation::Unsigned, head.number));
            }
            if !key.has_signed(message, head.number) {
                return Err(SmbFailure::violation(Violation::WrongSignature, head.number));
            }
        }
        self.grant(head.credits);
        self.chains[place].requests[index].is_answered = true;
        each(place, index, SmbReply { status: head.status, message })
    }

    fn grant(&mut self, credits: u16) {
        self.credits = self.credits.saturating_add(credits.into()).min(CREDITS_MAX);
    }

    /// Writes the frame of a chain of requests, none of which writes data.
    ///
    /// # Errors
    /// The server has not granted the credits that they cost.
    pub(super) fn compose(
        &mut self,
        requests: &[Request<'_>],
        frame: &mut FrameBuffer,
    ) -> Result<(), SmbFailure> {
        self.begin(frame);
        for request in requests {
            self.add(request, frame)?;
        }
        self.seal(frame)
    }
}

/// Returns the length of a message by the offset of the next one.
fn message_length(head: &ReplyHead, rest: usize) -> Result<usize, SmbFailure> {
    let is_right = head.next == 0 || HEADER_BYTES <= head.next && head.next < rest;
    if !is_right {
        return Err(SmbFailure::violation(Violation::LyingLength, head.next as u64));
    }
    Ok(if head.next == 0 { rest } else { head.next })
}
