//! A response in progress: read by any number of requests, on any thread, while it arrives.
//!
//! While it is to be stored, all of it stays in memory, so that readers may begin at any time and none holds up the
//! others. Once it turns out that it cannot be stored, the pieces that all readers have passed are discarded, no
//! reader is added, and the origin is read no faster than the slowest reader takes it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use cache_policy::StoredMeta;
use http1::HeaderLines;
use tokio::sync::Notify;
use units::Nanos;

use super::fill_memory::FillReservation;
use crate::message::BodyError;

/// The buffer for the slowest reader of a response that is not stored: 256 KiB.
const WINDOW_BYTES: u64 = 256 * 1024;

/// A response in progress that may be stored.
#[derive(Debug)]
pub(super) struct StreamingResponse {
    /// The lines to store.
    pub lines: HeaderLines,
    /// The metadata to store; the length of the body is the announced one, or zero.
    pub stored: StoredMeta,
    /// The announced length of its body.
    pub content_length: Option<u64>,
    /// The time that the origin took to answer.
    pub origin_time: Nanos,
    /// Whether the response is in the store.
    is_stored: AtomicBool,
    state: Mutex<StreamingState>,
    /// Wakes readers.
    arrived: Notify,
    /// Wakes the writer.
    passed: Notify,
}

#[derive(Debug)]
struct StreamingState {
    /// The memory of the pieces, until they are in the store.
    reservation: FillReservation,
    pieces: VecDeque<Bytes>,
    /// The number of pieces that were discarded before the first of these.
    n_discarded: usize,
    /// The bytes of `pieces`.
    held_bytes: u64,
    is_discarded: bool,
    /// The index of each reader's next piece, counted from the very first; `None` where there is no reader.
    readers: Vec<Option<usize>>,
    end: Option<Result<(), BodyError>>,
}

/// A reader of a response in progress, for one request.
#[derive(Debug)]
pub(super) struct StreamingReader {
    streaming: Arc<StreamingResponse>,
    reader_index: usize,
    /// The bytes to skip.
    skipped: u64,
    /// The bytes to read after those.
    left: u64,
}

impl StreamingResponse {
    /// Begins a response whose head has arrived, with its first reader.
    pub(super) fn begin(
        lines: HeaderLines,
        stored: StoredMeta,
        content_length: Option<u64>,
        origin_time: Nanos,
        reservation: FillReservation,
    ) -> (Arc<StreamingResponse>, StreamingReader) {
        let streaming = Arc::new(StreamingResponse {
            lines,
            stored,
            content_length,
            origin_time,
            is_stored: AtomicBool::new(false),
            state: Mutex::new(StreamingState::new(reservation)),
            arrived: Notify::new(),
            passed: Notify::new(),
        });
        let reader = StreamingReader::new(&streaming, 0);
        (streaming, reader)
    }

    /// Makes a reader of the whole body; `None` if its beginning was discarded, or if it has failed.
    pub(super) fn reader(self: &Arc<Self>) -> Option<StreamingReader> {
        let mut state = self.state();
        if 0 < state.n_discarded || matches!(state.end, Some(Err(_))) {
            return None;
        }
        let free = state.readers.iter().position(Option::is_none);
        let reader_index = free.unwrap_or(state.readers.len());
        match free {
            Some(index) => state.readers[index] = Some(0),
            None => state.readers.push(Some(0)),
        }
        drop(state);
        Some(StreamingReader::new(self, reader_index))
    }

    /// Appends a piece. Returns whether there is memory for it until the response is stored.
    pub(super) fn push(&self, piece: Bytes) -> bool {
        let mut state = self.state();
        // The buffer of a response that is not stored does not count: its size is limited.
        let has_memory = state.is_discarded || state.reservation.reserve(piece.len() as u64);
        state.held_bytes += piece.len() as u64;
        state.pieces.push_back(piece);
        drop(state);
        self.arrived.notify_waiters();
        has_memory
    }

    /// Discards the pieces that all readers have passed, now and from now on: the response is not stored.
    pub(super) fn discard(&self) {
        let mut state = self.state();
        state.is_discarded = true;
        state.trim();
    }

    /// Waits until there is room for another piece; at once for a response that is stored. `false` if no reader is
    /// left.
    pub(super) async fn room(&self) -> bool {
        loop {
            let passed = self.passed.notified();
            {
                let state = self.state();
                if !state.is_discarded {
                    return true;
                }
                if state.readers.iter().all(Option::is_none) {
                    return false;
                }
                if state.held_bytes < WINDOW_BYTES {
                    return true;
                }
            }
            passed.await;
        }
    }

    /// Returns the pieces in memory: the whole body if none was discarded.
    pub(super) fn pieces(&self) -> Vec<Bytes> {
        self.state().pieces.iter().cloned().collect()
    }

    /// Replaces the pieces by slices of the stored body, so that readers need no second copy, and hold the memory that
    /// the store counts.
    pub(super) fn share(&self, body: &Bytes) {
        let mut state = self.state();
        state.reservation.shrink_to(0);
        let mut start = 0;
        for piece in &mut state.pieces {
            let end = (start + piece.len()).min(body.len());
            *piece = body.slice(start.min(end)..end);
            start = end;
        }
    }

    /// Notes that the response is in the store.
    pub(super) fn note_stored(&self) {
        self.is_stored.store(true, Ordering::Relaxed);
    }

    /// Returns whether the response is in the store: not before all of it has arrived.
    pub(super) fn is_stored(&self) -> bool {
        self.is_stored.load(Ordering::Relaxed)
    }

    /// Ends the body.
    pub(super) fn end(&self, how: Result<(), BodyError>) {
        self.state().end = Some(how);
        self.arrived.notify_waiters();
    }

    /// Ends the body with an error unless it has ended.
    pub(super) fn end_if_open(&self, error: BodyError) {
        self.state().end.get_or_insert(Err(error));
        self.arrived.notify_waiters();
    }

    fn state(&self) -> MutexGuard<'_, StreamingState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StreamingState {
    /// Makes the state before the first piece, with one reader.
    fn new(reservation: FillReservation) -> StreamingState {
        StreamingState {
            reservation,
            pieces: VecDeque::new(),
            n_discarded: 0,
            held_bytes: 0,
            is_discarded: false,
            readers: vec![Some(0)],
            end: None,
        }
    }

    /// Discards the pieces that all readers have passed.
    fn trim(&mut self) {
        let Some(slowest) = self.readers.iter().flatten().min().copied() else {
            return;
        };
        while self.n_discarded < slowest
            && let Some(piece) = self.pieces.pop_front()
        {
            self.n_discarded += 1;
            self.held_bytes -= piece.len() as u64;
        }
        self.reservation.shrink_to(self.held_bytes);
    }

    /// Returns the next piece for a reader; `None` if it has not arrived yet.
    fn take(&mut self, reader_index: usize) -> Option<Result<Option<Bytes>, BodyError>> {
        let position = self.readers.get(reader_index).copied().flatten()?;
        if let Some(piece) = self.pieces.get(position - self.n_discarded).cloned() {
            self.readers[reader_index] = Some(position + 1);
            return Some(Ok(Some(piece)));
        }
        self.end.clone().map(|end| end.map(|()| None))
    }
}

impl StreamingReader {
    fn new(streaming: &Arc<StreamingResponse>, reader_index: usize) -> StreamingReader {
        StreamingReader { streaming: Arc::clone(streaming), reader_index, skipped: 0, left: u64::MAX }
    }

    /// Limits the reader to this many bytes, after skipping some.
    pub(super) fn limited(mut self, skipped: u64, length: u64) -> StreamingReader {
        (self.skipped, self.left) = (skipped, length);
        self
    }

    /// Returns the response that is read.
    pub(super) fn streaming(&self) -> &Arc<StreamingResponse> {
        &self.streaming
    }

    /// Returns the next piece; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
        while 0 < self.left {
            let piece = match self.piece().await? {
                None => return Ok(None),
                Some(piece) => self.cut(piece),
            };
            if !piece.is_empty() {
                return Ok(Some(piece));
            }
        }
        Ok(None)
    }

    /// Returns all the rest if the whole body has arrived already, and is not discarded piece by piece as it is read.
    pub(super) fn rest(&mut self) -> Option<Vec<Bytes>> {
        let state = self.streaming.state();
        if state.is_discarded || state.end != Some(Ok(())) {
            return None;
        }
        drop(state);
        let mut pieces = Vec::new();
        while 0 < self.left
            && let Some(Ok(Some(piece))) = self.try_piece()
        {
            pieces.push(self.cut(piece));
        }
        pieces.retain(|piece| !piece.is_empty());
        Some(pieces)
    }

    async fn piece(&self) -> Result<Option<Bytes>, BodyError> {
        loop {
            let arrived = self.streaming.arrived.notified();
            if let Some(piece) = self.try_piece() {
                return piece;
            }
            arrived.await;
        }
    }

    fn try_piece(&self) -> Option<Result<Option<Bytes>, BodyError>> {
        let mut state = self.streaming.state();
        let piece = state.take(self.reader_index);
        if state.is_discarded {
            state.trim();
            drop(state);
            self.streaming.passed.notify_one();
        }
        piece
    }

    /// Cuts a piece to the part that this reader wants.
    fn cut(&mut self, mut piece: Bytes) -> Bytes {
        let skipped = self.skipped.min(piece.len() as u64);
        let piece_wanted = piece.split_off(skipped as usize);
        self.skipped -= skipped;
        let taken = self.left.min(piece_wanted.len() as u64);
        self.left -= taken;
        piece_wanted.slice(..taken as usize)
    }
}

impl Drop for StreamingReader {
    fn drop(&mut self) {
        let mut state = self.streaming.state();
        if let Some(position) = state.readers.get_mut(self.reader_index) {
            *position = None;
        }
        if state.is_discarded {
            state.trim();
            drop(state);
            self.streaming.passed.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use cache_policy::{ExchangeTimes, ResponseMeta, Settings, Variant};
    use units::WallTime;

    use super::*;
    use crate::exchange::fill_memory::FillMemory;

    /// A response on its way; the first reader is gone.
    fn streaming() -> Arc<StreamingResponse> {
        streaming_in(&Arc::new(FillMemory::new(1 << 20)))
    }

    fn streaming_in(memory: &Arc<FillMemory>) -> Arc<StreamingResponse> {
        let times = ExchangeTimes { requested: WallTime(0), received: WallTime(0) };
        let settings = Settings::default();
        let meta = ResponseMeta::read(200, [].iter().copied(), times, &settings);
        let stored = StoredMeta::new(meta, Variant::default(), 0, &settings);
        let reservation = FillReservation::new(memory);
        StreamingResponse::begin(HeaderLines::new(), stored, None, Nanos::ZERO, reservation).0
    }

    async fn read_all(mut reader: StreamingReader) -> Result<Vec<u8>, BodyError> {
        let mut all = Vec::new();
        while let Some(piece) = reader.next().await? {
            assert!(!piece.is_empty());
            all.extend_from_slice(&piece);
        }
        Ok(all)
    }

    #[tokio::test]
    async fn readers_get_the_whole_body_whenever_they_begin() {
        let flow = streaming();
        let early = flow.reader().unwrap();
        let write = async {
            flow.push(Bytes::from_static(b"abc"));
            tokio::task::yield_now().await;
            flow.push(Bytes::from_static(b"def"));
            flow.end(Ok(()));
        };
        let (read, ()) = tokio::join!(read_all(early), write);
        assert_eq!(read.unwrap(), b"abcdef");
        assert_eq!(read_all(flow.reader().unwrap()).await.unwrap(), b"abcdef");
        assert_eq!(flow.reader().unwrap().rest().unwrap().concat(), b"abcdef");
    }

    #[tokio::test]
    async fn a_range_is_cut_out_of_the_pieces() {
        let flow = streaming();
        for piece in ["abc", "def", "ghi"] {
            flow.push(Bytes::from_static(piece.as_bytes()));
        }
        for (skipped, length, expected) in [(0, 9, "abcdefghi"), (2, 3, "cde"), (3, 3, "def"), (8, 1, "i")] {
            // A part ends where it ends: the reader does not wait for what comes after.
            let part = read_all(flow.reader().unwrap().limited(skipped, length)).await.unwrap();
            assert_eq!(String::from_utf8(part).unwrap(), expected);
        }
        flow.end(Ok(()));
        assert_eq!(flow.reader().unwrap().limited(7, 5).rest().unwrap().concat(), b"hi");
    }

    #[tokio::test]
    async fn a_truncated_body_is_truncated_for_all_readers() {
        let flow = streaming();
        let mut one = flow.reader().unwrap();
        let other = flow.reader().unwrap();
        flow.push(Bytes::from_static(b"abc"));
        flow.end(Err(BodyError::Truncated));
        assert_eq!(one.rest(), None);
        assert_eq!(read_all(one).await, Err(BodyError::Truncated));
        assert_eq!(read_all(other).await, Err(BodyError::Truncated));
        assert!(flow.reader().is_none(), "who comes later asks for itself");
    }

    #[tokio::test]
    async fn a_discarded_response_waits_for_the_slowest_reader() {
        let flow = streaming();
        let mut fast = flow.reader().unwrap();
        let mut slow = flow.reader().unwrap();
        let piece = Bytes::from(vec![0; WINDOW_BYTES as usize]);
        flow.push(piece.clone());
        assert!(flow.room().await, "kept: no end of room");
        flow.discard();
        fast.next().await.unwrap();
        let room = flow.room();
        tokio::pin!(room);
        tokio::select! {
            biased;
            _ = &mut room => panic!("the slow one has read nothing"),
            () = tokio::task::yield_now() => {}
        }
        slow.next().await.unwrap();
        assert!(room.await);
        assert!(flow.reader().is_none(), "the beginning is gone");
        flow.push(piece);
        drop(fast);
        drop(slow);
        assert!(!flow.room().await, "nobody reads on");
    }

    #[test]
    fn readers_share_the_memory_of_the_stored_body() {
        let flow = streaming();
        flow.push(Bytes::from_static(b"abc"));
        flow.push(Bytes::from_static(b"de"));
        let body = Bytes::from(flow.pieces().concat());
        flow.share(&body);
        let pieces = flow.pieces();
        assert_eq!(pieces.concat(), b"abcde");
        assert_eq!(pieces[1].as_ptr(), body[3..].as_ptr());
    }

    /// Goal: a response that is not stored after all counts until its readers have passed it.
    #[tokio::test]
    async fn memory_of_a_response_in_progress_counts_until_it_is_stored_or_read() {
        let memory = Arc::new(FillMemory::new(5));
        let flow = streaming_in(&memory);
        let mut reader = flow.reader().unwrap();
        assert!(flow.push(Bytes::from_static(b"abc")) && !flow.push(Bytes::from_static(b"def")));
        assert_eq!(memory.bytes(), 6);
        flow.discard();
        flow.end(Ok(()));
        assert!(reader.rest().is_none(), "what is taken at once would count no longer");
        assert_eq!(memory.bytes(), 6);
        reader.next().await.unwrap();
        assert_eq!(memory.bytes(), 3);
        drop((reader, flow));
        assert_eq!(memory.bytes(), 0);
        let flow = streaming_in(&memory);
        flow.push(Bytes::from_static(b"abc"));
        flow.share(&Bytes::from_static(b"abc"));
        assert_eq!(memory.bytes(), 0, "the store counts it");
    }
}
