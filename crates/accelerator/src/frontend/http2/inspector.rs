//! An inspector of a client's frames, before `h2` gets them.
//!
//! `h2` cuts a fragment off `:path` and drops the pseudo-header fields of trailers before anybody can see them. Both
//! make a request malformed (RFC 9113 §8.1.1, §8.3): a proxy that forwards the rest forwards another request than the
//! client sent.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use super::hpack::Decoder;

/// The length of the connection preface (RFC 9113 §3.4).
const PREFACE_BYTES: usize = 24;

/// The length of a frame header (RFC 9113 §4.1).
const FRAME_HEADER_BYTES: usize = 9;

const HEADERS: u8 = 1;
const CONTINUATION: u8 = 9;

const END_HEADERS: u8 = 0x4;
const PADDED: u8 = 0x8;
const PRIORITY: u8 = 0x20;

/// The most bytes that a header block may have; `h2` takes no more than some 100 KiB of the heads that it accepts.
const BLOCK_BYTES_MAX: usize = 256 * 1024;

/// The most streams with errors that have not been looked up yet; one more ends the connection.
const STREAM_ERRORS_MAX: usize = 100;

/// The errors found in the streams of a connection and not looked up yet.
#[derive(Debug, Default)]
pub(super) struct StreamErrors(RefCell<Vec<(u32, StreamError)>>);

/// An error of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamError {
    /// Its `:path` has a fragment.
    Fragment,
    /// Its trailers have pseudo-header fields.
    PseudoTrailers,
}

impl StreamErrors {
    /// Returns whether a stream has this error.
    pub(super) fn has(&self, stream: u32, error: StreamError) -> bool {
        self.0.borrow().contains(&(stream, error))
    }

    /// Forgets a stream.
    pub(super) fn forget(&self, stream: u32) {
        self.0.borrow_mut().retain(|(one, _)| *one != stream);
    }

    fn note(&self, stream: u32, error: StreamError) -> io::Result<()> {
        let mut stream_errors = self.0.borrow_mut();
        if STREAM_ERRORS_MAX <= stream_errors.len() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        stream_errors.push((stream, error));
        Ok(())
    }
}

/// An inspector of the bytes that a client sends.
#[derive(Debug)]
pub(super) struct FrameInspector {
    preface_left: usize,
    /// The frame header, until it is complete.
    head: Vec<u8>,
    /// The frame whose payload is being read.
    frame: Frame,
    /// The bytes of its payload that are still to come.
    payload_left: usize,
    /// Its payload, if it is inspected.
    payload: Vec<u8>,
    /// The header block that is being read.
    block: Vec<u8>,
    /// The newest stream: header blocks on it or an older one after its head are trailers.
    newest: u32,
    decoder: Decoder,
    /// Whether a block could not be read: `h2` ends the connection then, or this inspector does.
    is_lost: bool,
    stream_errors: Rc<StreamErrors>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Frame {
    kind: u8,
    flags: u8,
    stream: u32,
}

impl Frame {
    fn is_inspected(self) -> bool {
        matches!(self.kind, HEADERS | CONTINUATION)
    }
}

impl FrameInspector {
    pub(super) fn new(stream_errors: Rc<StreamErrors>) -> FrameInspector {
        FrameInspector {
            preface_left: PREFACE_BYTES,
            head: Vec::with_capacity(FRAME_HEADER_BYTES),
            frame: Frame::default(),
            payload_left: 0,
            payload: Vec::new(),
            block: Vec::new(),
            newest: 0,
            decoder: Decoder::new(),
            is_lost: false,
            stream_errors,
        }
    }

    /// Inspects the next bytes, however frames are cut into them.
    ///
    /// # Errors
    /// A header block that is too long, and any header block after one that could not be read.
    pub(super) fn inspect(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        let preface = self.preface_left.min(bytes.len());
        self.preface_left -= preface;
        bytes = &bytes[preface..];
        while !bytes.is_empty() {
            if self.payload_left == 0 {
                let taken = (FRAME_HEADER_BYTES - self.head.len()).min(bytes.len());
                self.head.extend_from_slice(&bytes[..taken]);
                bytes = &bytes[taken..];
                self.begin()?;
                continue;
            }
            let taken = self.payload_left.min(bytes.len());
            if self.frame.is_inspected() {
                self.payload.extend_from_slice(&bytes[..taken]);
            }
            self.payload_left -= taken;
            bytes = &bytes[taken..];
            if self.payload_left == 0 {
                self.end()?;
            }
        }
        Ok(())
    }

    /// Begins a frame if its header is complete.
    fn begin(&mut self) -> io::Result<()> {
        let [l1, l2, l3, kind, flags, s1, s2, s3, s4] = self.head[..] else { return Ok(()) };
        self.head.clear();
        let stream = u32::from_be_bytes([s1 & 0x7f, s2, s3, s4]);
        self.frame = Frame { kind, flags, stream };
        self.payload_left = u32::from_be_bytes([0, l1, l2, l3]) as usize;
        if self.frame.is_inspected()
            && (self.is_lost || BLOCK_BYTES_MAX < self.block.len() + self.payload_left)
        {
            return Err(io::ErrorKind::InvalidData.into());
        }
        if self.payload_left == 0 { self.end() } else { Ok(()) }
    }

    /// Ends a frame whose payload is complete.
    fn end(&mut self) -> io::Result<()> {
        if !self.frame.is_inspected() {
            return Ok(());
        }
        let payload = std::mem::take(&mut self.payload);
        match fragment(self.frame, &payload) {
            Some(fragment) => self.block.extend_from_slice(fragment),
            None => self.is_lost = true,
        }
        if self.frame.flags & END_HEADERS != 0 { self.end_block() } else { Ok(()) }
    }

    fn end_block(&mut self) -> io::Result<()> {
        let block = std::mem::take(&mut self.block);
        let stream = self.frame.stream;
        let is_trailers = stream <= self.newest;
        self.newest = self.newest.max(stream);
        let Some(found) = self.decoder.read(&block).filter(|_| !self.is_lost) else {
            self.is_lost = true;
            return Ok(());
        };
        if is_trailers && found.has_pseudo {
            return self.stream_errors.note(stream, StreamError::PseudoTrailers);
        }
        if found.has_fragment {
            return self.stream_errors.note(stream, StreamError::Fragment);
        }
        Ok(())
    }
}

/// Returns the part of a header block that a frame carries; `None` if it is cut (RFC 9113 §6.2).
fn fragment(frame: Frame, payload: &[u8]) -> Option<&[u8]> {
    let has = |flag| frame.kind == HEADERS && frame.flags & flag != 0;
    let (padding, rest) = if has(PADDED) {
        payload.split_first().map(|(padding, rest)| (usize::from(*padding), rest))?
    } else {
        (0, payload)
    };
    let rest = if has(PRIORITY) { rest.get(5..)? } else { rest };
    rest.get(..rest.len().checked_sub(padding)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
        let length = (payload.len() as u32).to_be_bytes();
        [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
    }

    /// Returns what is found in these frames after a preface, if they come in pieces of so many bytes.
    fn found(frames: &[Vec<u8>], piece: usize) -> Vec<(u32, StreamError)> {
        let stream_errors = Rc::<StreamErrors>::default();
        let mut inspector = FrameInspector::new(Rc::clone(&stream_errors));
        let bytes = [&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &frames.concat()].concat();
        bytes.chunks(piece).for_each(|piece| inspector.inspect(piece).unwrap());
        stream_errors.0.take()
    }

    #[test]
    fn stream_errors_are_found_however_frames_are_cut() {
        let path: &[u8] = b"\x82\x04\x04/a#b";
        let padded = [&[3, 0, 0, 0, 0, 9][..], path, &[0; 3]].concat();
        let frames = [
            frame(4, 0, 0, b"123456"),
            frame(HEADERS, END_HEADERS, 1, b"\x82\x84"),
            frame(0, 0, 1, b"some # body"),
            frame(HEADERS, END_HEADERS, 1, b"\x00\x01x\x01#"),
            frame(HEADERS, END_HEADERS | PADDED | PRIORITY, 3, &padded),
            frame(HEADERS, 0, 5, &path[..4]),
            frame(CONTINUATION, 0, 5, b""),
            frame(CONTINUATION, END_HEADERS, 5, &path[4..]),
            frame(HEADERS, END_HEADERS, 7, b"\x82\x84"),
            frame(HEADERS, END_HEADERS, 7, b"\x00\x01x\x01y\x82"),
        ];
        let expected =
            [(3, StreamError::Fragment), (5, StreamError::Fragment), (7, StreamError::PseudoTrailers)];
        for piece in 1..=60 {
            assert_eq!(found(&frames, piece), expected, "{piece}");
        }
    }

    #[test]
    fn no_block_is_accepted_after_a_malformed_one() {
        let good = frame(HEADERS, END_HEADERS, 3, b"\x82");
        for bad in [
            frame(HEADERS, END_HEADERS, 1, b"\x80"),
            frame(HEADERS, END_HEADERS | PADDED, 1, b"\x05\x82"),
            frame(HEADERS, END_HEADERS | PRIORITY, 1, b"\x82"),
        ] {
            let mut inspector = FrameInspector::new(Rc::default());
            let preface = [0; PREFACE_BYTES];
            assert!(inspector.inspect(&[&preface[..], &bad].concat()).is_ok(), "`h2` says what is wrong");
            assert!(inspector.inspect(&frame(6, 0, 0, &[0; 8])).is_ok());
            assert!(inspector.inspect(&good).is_err());
        }
    }

    #[test]
    fn inspector_memory_is_bounded() {
        let mut inspector = FrameInspector::new(Rc::default());
        inspector.inspect(&[0; PREFACE_BYTES]).unwrap();
        let part = frame(HEADERS, 0, 1, &[0x82; 16_384]);
        assert!((0..17).any(|_| inspector.inspect(&part).is_err()), "a block without an end");
        let stream_errors = StreamErrors::default();
        assert!(
            (0..STREAM_ERRORS_MAX as u32)
                .all(|stream| stream_errors.note(stream, StreamError::Fragment).is_ok())
        );
        assert!(stream_errors.note(1000, StreamError::Fragment).is_err());
        stream_errors.forget(7);
        assert!(!stream_errors.has(7, StreamError::Fragment) && stream_errors.has(8, StreamError::Fragment));
        assert!(stream_errors.note(1000, StreamError::Fragment).is_ok());
    }
}
