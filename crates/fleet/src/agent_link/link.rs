//! The link to a load agent: frames on two streams of bytes, a thread for each direction, so that an agent that stands still
//! never keeps the controller waiting.

use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use languages::foreign_text;
use thiserror::Error;
use units::{Clock, Nanos, RealClock};

use super::message::{FROM_AGENT_BYTES_MAX, FromAgent, GREETING, ToAgent};
use crate::form::FormError;

/// The most bytes of what came in place of a greeting that are shown.
const SHOWN_BYTES_MAX: usize = 200;

/// The longest time for which the controller says nothing: agents take a longer silence for its end.
const HEARTBEAT_PERIOD: Duration = Duration::from_secs(5);

/// A reason why a link has ended, or cannot be used.
#[derive(Debug, Error)]
pub(crate) enum LinkError {
    /// The other side has hung up.
    #[error("the connection has ended")]
    Closed,
    #[error("the connection has failed: {0}")]
    Io(#[from] io::Error),
    #[error("expected a message of at most {most} bytes, found one of {found}")]
    TooLong { found: usize, most: usize },
    #[error(transparent)]
    Form(#[from] FormError),
    /// The first bytes of an answer that is none of an agent.
    #[error("expected the greeting of a load agent, found `{0}`")]
    NoGreeting(String),
}

/// Writes a message.
pub(crate) fn write_frame(output: &mut impl Write, message: &[u8]) -> io::Result<()> {
    let length = u32::try_from(message.len()).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
    output.write_all(&length.to_le_bytes())?;
    output.write_all(message)?;
    output.flush()
}

/// Reads a message of at most so many bytes. Memory is taken as they come, whatever the length says.
pub(crate) fn read_frame(input: &mut impl Read, bytes_max: usize) -> Result<Vec<u8>, LinkError> {
    let mut length = [0; 4];
    read_all(input, &mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if bytes_max < length {
        return Err(LinkError::TooLong { found: length, most: bytes_max });
    }
    let mut message = Vec::new();
    input.take(length as u64).read_to_end(&mut message)?;
    if message.len() < length { Err(LinkError::Closed) } else { Ok(message) }
}

fn read_all(input: &mut impl Read, bytes: &mut [u8]) -> Result<(), LinkError> {
    input.read_exact(bytes).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => LinkError::Closed,
        _ => error.into(),
    })
}

/// Reads the greeting of an agent.
fn read_greeting(input: &mut impl Read) -> Result<(), LinkError> {
    let mut found = Vec::new();
    input.take(GREETING.len() as u64).read_to_end(&mut found)?;
    if found == GREETING {
        return Ok(());
    }
    if found.is_empty() {
        return Err(LinkError::Closed);
    }
    // The bytes that follow at once tell more of who has answered.
    let mut more = [0; SHOWN_BYTES_MAX];
    let n = if found.len() == GREETING.len() { input.read(&mut more).unwrap_or(0) } else { 0 };
    found.extend(&more[..n]);
    found.truncate(SHOWN_BYTES_MAX);
    Err(LinkError::NoGreeting(foreign_text(String::from_utf8_lossy(&found).trim())))
}

/// An event of a link: a message, or its end.
#[derive(Debug)]
pub(crate) struct LinkEvent {
    /// Index of the agent.
    pub(crate) agent: usize,
    /// The time at which it came, on the clock of the controller.
    pub(crate) at: Nanos,
    pub(crate) message: Result<FromAgent, LinkError>,
}

/// The controller's end of a link.
#[derive(Debug)]
pub(crate) struct Link {
    outgoing: Sender<ToAgent>,
    _threads: [JoinHandle<()>; 2],
}

impl Link {
    /// Begins to write to `output` and to read from `input`; `events` takes what comes, at most as much as it has room for.
    pub(crate) fn begin(
        agent: usize,
        clock: RealClock,
        mut input: impl Read + Send + 'static,
        mut output: impl Write + Send + 'static,
        events: SyncSender<LinkEvent>,
    ) -> Link {
        let (outgoing, messages): (Sender<ToAgent>, Receiver<ToAgent>) = channel();
        let writer = std::thread::spawn(move || write_messages(&messages, &mut output, HEARTBEAT_PERIOD));
        let reader = std::thread::spawn(move || {
            let send = |message| events.send(LinkEvent { agent, at: clock.now(), message }).is_ok();
            if let Err(error) = read_greeting(&mut input) {
                send(Err(error));
                return;
            }
            loop {
                let message = read_frame(&mut input, FROM_AGENT_BYTES_MAX)
                    .and_then(|message| Ok(FromAgent::decode(&message)?));
                let is_over = message.is_err();
                if !send(message) || is_over {
                    return;
                }
            }
        });
        Link { outgoing, _threads: [writer, reader] }
    }

    /// Sends a message; one that the agent cannot take is lost, and the reader says why.
    pub(crate) fn send(&self, message: ToAgent) {
        let _ = self.outgoing.send(message);
    }
}

/// Writes messages until nobody sends any more, or they cannot be written. After the first one there is a heartbeat whenever
/// none came for so long: before it, nobody knows whether there is an agent.
fn write_messages(messages: &Receiver<ToAgent>, output: &mut impl Write, heartbeat: Duration) {
    let mut next = messages.recv().ok();
    while let Some(message) = next {
        // The reader says what has become of the link.
        if write_frame(output, &message.encode()).is_err() {
            return;
        }
        next = match messages.recv_timeout(heartbeat) {
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Timeout) => Some(ToAgent::Heartbeat),
            Err(RecvTimeoutError::Disconnected) => None,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: an agent hears of a controller that has nothing to say, and of nobody before its first message.
    #[test]
    fn a_controller_with_nothing_to_say_is_heard() {
        let (mut input, mut output) = std::os::unix::net::UnixStream::pair().unwrap();
        let (sender, messages) = channel();
        let writing = std::thread::spawn(move || {
            write_messages(&messages, &mut output, Duration::from_millis(1));
        });
        input.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        let nothing = read_frame(&mut input, 100).unwrap_err();
        assert!(matches!(nothing, LinkError::Io(why) if why.kind() == io::ErrorKind::WouldBlock));
        input.set_read_timeout(None).unwrap();
        sender.send(ToAgent::Abandon).unwrap();
        let mut next = || ToAgent::decode(&read_frame(&mut input, 100).unwrap()).unwrap();
        assert!(matches!(next(), ToAgent::Abandon));
        assert!(matches!([next(), next()], [ToAgent::Heartbeat, ToAgent::Heartbeat]));
        // Nobody reads any more: heartbeats must not fill the stream and wait.
        drop((sender, input));
        writing.join().unwrap();
    }

    #[test]
    fn frames_come_back_and_have_a_bound() {
        let mut bytes = Vec::new();
        write_frame(&mut bytes, &[1, 2, 3]).unwrap();
        write_frame(&mut bytes, &[]).unwrap();
        let mut input = bytes.as_slice();
        assert_eq!(read_frame(&mut input, 3).unwrap(), [1, 2, 3]);
        assert_eq!(read_frame(&mut input, 3).unwrap(), [0; 0]);
        assert!(matches!(read_frame(&mut input, 3), Err(LinkError::Closed)));
        let error = read_frame(&mut bytes.as_slice(), 2).unwrap_err();
        assert_eq!(error.to_string(), "expected a message of at most 2 bytes, found one of 3");
        assert!(matches!(read_frame(&mut &bytes[..5], 3), Err(LinkError::Closed)));
        let claimed = u32::MAX.to_le_bytes();
        assert!(matches!(read_frame(&mut claimed.as_slice(), usize::MAX), Err(LinkError::Closed)));
    }

    /// A shell that greets, a banner, and nothing at all.
    #[test]
    fn what_is_no_agent_is_shown() {
        let found = |text: &str| read_greeting(&mut text.as_bytes()).unwrap_err().to_string();
        let banner = "Welcome to gen2!\nLast login: today";
        assert_eq!(
            found(banner),
            format!("expected the greeting of a load agent, found `{}`", foreign_text(banner))
        );
        assert_eq!(found("hi\n"), "expected the greeting of a load agent, found `hi`");
        assert_eq!(found(""), "the connection has ended");
        let later = found("plimsoll agent 3 and more");
        assert!(later.contains("plimsoll agent 3"), "{later}");
    }
}
