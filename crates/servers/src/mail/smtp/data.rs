//! The text of a message (RFC 5321, 4.5.2): it ends with a dot alone, and lines that begin with one have another before it.
//!
//! Lines end with carriage return and line feed; a line feed alone ends none, so that nobody can smuggle a second message.
//!
//! | state | byte | next |
//! |---|---|---|
//! | line begins | dot | dot, which is left out |
//! | | another | within a line |
//! | dot | carriage return | dot and return |
//! | | another | within a line |
//! | dot and return | line feed | the end |
//! | | another | within a line, and the return belongs to it |
//! | within a line | line feed behind a carriage return | line begins |

/// A decoder of the text of a message.
#[derive(Debug, Default)]
pub(super) struct TextDecoder {
    state: DecoderState,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum DecoderState {
    #[default]
    LineBegins,
    Dot,
    DotAndReturn,
    /// Within a line, whose last byte was a carriage return or not.
    Line {
        ends_with_return: bool,
    },
}

impl TextDecoder {
    /// Decodes bytes and passes them on. Returns how many belong to the message, and whether it has ended with them.
    pub(super) fn decode(&mut self, input: &[u8], mut take: impl FnMut(&[u8])) -> (usize, bool) {
        let mut at = 0;
        while let Some(byte) = input.get(at) {
            self.state = match (self.state, byte) {
                (DecoderState::LineBegins, b'.') => DecoderState::Dot,
                (DecoderState::Dot, b'\r') => DecoderState::DotAndReturn,
                (DecoderState::DotAndReturn, b'\n') => {
                    self.state = DecoderState::LineBegins;
                    return (at + 1, true);
                }
                (DecoderState::DotAndReturn, _) => {
                    take(b"\r");
                    self.state = DecoderState::Line { ends_with_return: true };
                    continue;
                }
                (state, _) => {
                    let n = self.take_line(&input[at..], state, &mut take);
                    at += n;
                    continue;
                }
            };
            at += 1;
        }
        (at, false)
    }

    /// Passes on the rest of a line, or of the input; returns its length, which is above 0.
    fn take_line(&mut self, rest: &[u8], state: DecoderState, take: &mut impl FnMut(&[u8])) -> usize {
        let feed = rest.iter().position(|byte| *byte == b'\n');
        let line = &rest[..feed.map_or(rest.len(), |feed| feed + 1)];
        take(line);
        let before_feed = line.len().checked_sub(2).map(|index| line[index] == b'\r');
        let had_return = state == DecoderState::Line { ends_with_return: true };
        self.state = match feed {
            Some(_) if before_feed.unwrap_or(had_return) => DecoderState::LineBegins,
            Some(_) => DecoderState::Line { ends_with_return: false },
            None => DecoderState::Line { ends_with_return: line.last() == Some(&b'\r') },
        };
        line.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decodes in pieces; returns the message and the rest behind it, if it ends.
    fn decode(input: &[u8], piece: usize) -> Option<(Vec<u8>, Vec<u8>)> {
        let mut decoder = TextDecoder::default();
        let mut message = Vec::new();
        let mut consumed = 0;
        for piece in input.chunks(piece) {
            let (n, has_ended) = decoder.decode(piece, |bytes| message.extend_from_slice(bytes));
            consumed += n;
            if has_ended {
                return Some((message, input[consumed..].to_vec()));
            }
            assert_eq!(n, piece.len());
        }
        None
    }

    #[test]
    fn a_message_ends_with_a_dot_alone() {
        for (input, message, rest) in [
            (&b"hello\r\n.\r\nQUIT\r\n"[..], &b"hello\r\n"[..], &b"QUIT\r\n"[..]),
            (b".\r\n", b"", b""),
            (b"..\r\n...a\r\n.\r\n", b".\r\n..a\r\n", b""),
            (b".a\r\n.\r\n", b"a\r\n", b""),
            (b"a\r\n.\rb\r\n.\r\n", b"a\r\n\rb\r\n", b""),
            (b"a\r\n.\r\r\n.\r\n", b"a\r\n\r\r\n", b""),
            (b"\r\n\r\n.\r\n", b"\r\n\r\n", b""),
        ] {
            for piece in 1..=input.len() {
                assert_eq!(
                    decode(input, piece),
                    Some((message.to_vec(), rest.to_vec())),
                    "{input:?} by {piece}"
                );
            }
        }
    }

    /// What other servers take for the end of a message, and could be made to take for commands behind it.
    #[test]
    fn a_line_feed_alone_ends_nothing() {
        for input in [&b"a\n.\n"[..], b"a\n.\r\n", b"a\r\n.\n", b"a\r.\r\n", b"a\r\n.", b"a\r\n.\r", b".\n\r"]
        {
            for piece in 1..=input.len() {
                assert_eq!(decode(input, piece), None, "{input:?} by {piece}");
            }
        }
    }
}
