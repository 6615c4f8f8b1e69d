//! A name server that knows one name, for programs that have to ask.
//!
//! Source: RFC 1035, 4.1: the form of a message.

use std::io::ErrorKind;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::Result;

use crate::namespace::NetworkNamespace;

/// The name that it knows, with the address 127.0.0.1.
pub(super) const KNOWN_NAME: &str = "server.plimsoll.test";

/// How long it waits before it looks whether it is to end.
const READ_TIMEOUT: Duration = Duration::from_millis(100);

/// The largest question, as over UDP.
const MESSAGE_BYTES_MAX: usize = 512;

const HEADER_BYTES: usize = 12;
const TYPE_A: [u8; 2] = [0, 1];
const CLASS_INTERNET: [u8; 2] = [0, 1];

/// A name server at 127.0.0.1:53 of a namespace. Dropping it ends it.
pub(super) struct NameServer {
    is_ending: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl NameServer {
    /// Starts it.
    ///
    /// # Errors
    /// The address is taken, or this user may not enter the namespace.
    pub(super) fn start(network: &NetworkNamespace) -> Result<NameServer> {
        let socket = network.enter(|| UdpSocket::bind("127.0.0.1:53"))?;
        socket.set_read_timeout(Some(READ_TIMEOUT))?;
        let is_ending = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&is_ending);
        let thread = thread::spawn(move || serve(&socket, &ends));
        Ok(NameServer { is_ending, thread: Some(thread) })
    }
}

impl Drop for NameServer {
    fn drop(&mut self) {
        self.is_ending.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(socket: &UdpSocket, is_ending: &AtomicBool) {
    let mut message = [0; MESSAGE_BYTES_MAX];
    while !is_ending.load(Ordering::Relaxed) {
        match socket.recv_from(&mut message) {
            Ok((length, client)) => {
                if let Some(reply) = reply(&message[..length]) {
                    // A client that has gone needs no reply.
                    let _ = socket.send_to(&reply, client);
                }
            }
            Err(error) if [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()) => {}
            Err(_) => return,
        }
    }
}

/// Returns the reply to a message with one question: the address; nothing, for another kind of record; or that there is no
/// such name. `None` for what is no question.
fn reply(message: &[u8]) -> Option<Vec<u8>> {
    let header = message.get(..HEADER_BYTES)?;
    let mut end = HEADER_BYTES;
    let mut labels = Vec::new();
    loop {
        let length = usize::from(*message.get(end)?);
        let label = message.get(end + 1..end + 1 + length)?;
        end += 1 + length;
        if label.is_empty() {
            break;
        }
        labels.push(String::from_utf8_lossy(label).to_lowercase());
    }
    let question = message.get(HEADER_BYTES..end + 4)?;
    let is_known = labels.join(".") == KNOWN_NAME;
    let has_address = is_known && question.ends_with(&[TYPE_A, CLASS_INTERNET].concat());
    let mut reply = header[..2].to_vec();
    // A response to a standard query with recursion; code 3: the name does not exist.
    reply.extend([0x81, if is_known { 0x80 } else { 0x83 }]);
    reply.extend([0, 1, 0, u8::from(has_address), 0, 0, 0, 0]);
    reply.extend(question);
    if has_address {
        // The name is that of the question, at offset 12; type, class, 60 s, 4 bytes of address.
        reply.extend([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1]);
    }
    Some(reply)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(name: &str, kind: u8) -> Vec<u8> {
        let mut message = vec![0xab, 0xcd, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        for label in name.split('.') {
            message.push(u8::try_from(label.len()).unwrap());
            message.extend(label.as_bytes());
        }
        message.extend([0, 0, kind, 0, 1]);
        message
    }

    #[test]
    fn the_known_name_has_an_address_and_no_other_records() {
        let found = reply(&question("Server.Plimsoll.Test", 1)).unwrap();
        assert_eq!(found[..8], [0xab, 0xcd, 0x81, 0x80, 0, 1, 0, 1]);
        assert_eq!(found[found.len() - 4..], [127, 0, 0, 1]);
        let found = reply(&question(KNOWN_NAME, 28)).unwrap();
        assert_eq!(found[2..8], [0x81, 0x80, 0, 1, 0, 0]);
    }

    #[test]
    fn other_names_do_not_exist_and_half_questions_have_no_reply() {
        assert_eq!(reply(&question("other.test", 1)).unwrap()[2..8], [0x81, 0x83, 0, 1, 0, 0]);
        let whole = question(KNOWN_NAME, 1);
        for length in 0..whole.len() {
            assert!(reply(&whole[..length]).is_none(), "{length}");
        }
    }
}
