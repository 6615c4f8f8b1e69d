//! Words as bash makes them of a text, without what it would expand (bash manual, 3.1.2 Quoting).

use super::{CurlFault, PlacedCurlFault};

/// The words of a command, with the line of the first.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ShellCommand {
    pub line: usize,
    pub words: Vec<String>,
}

/// Splits a text into commands.
///
/// # Errors
/// The first place where quoting is broken, or where a shell would do more than to split words.
pub(super) fn commands(text: &str) -> Result<Vec<ShellCommand>, PlacedCurlFault> {
    let mut lexer =
        Lexer { rest: text, line: 1, word: None, command: ShellCommand::default(), all: Vec::new() };
    match lexer.run() {
        Ok(()) => Ok(lexer.all),
        Err(fault) => Err(PlacedCurlFault { line: lexer.line, fault }),
    }
}

/// The state between two characters. A word that has begun may be empty: `''`.
struct Lexer<'a> {
    rest: &'a str,
    line: usize,
    word: Option<Vec<u8>>,
    command: ShellCommand,
    all: Vec<ShellCommand>,
}

impl Lexer<'_> {
    fn run(&mut self) -> Result<(), CurlFault> {
        while let Some(c) = self.next() {
            match c {
                ' ' | '\t' => self.end_word()?,
                '\r' if self.rest.starts_with('\n') => {}
                '\n' | ';' | '&' => self.end_command()?,
                '#' if self.word.is_none() => self.skip_comment(),
                '\\' => self.escaped(),
                '\'' => self.single_quoted()?,
                '"' => self.double_quoted()?,
                '$' if self.takes('\'') => self.ansi_quoted()?,
                '$' if self.takes('"') => self.double_quoted()?,
                '$' => self.dollar()?,
                '`' => return Err(CurlFault::Substitution("backquotes")),
                '|' | '<' | '>' | '(' | ')' => return Err(CurlFault::Operator(c)),
                '{' if self.expands_braces() => return Err(CurlFault::Braces),
                c => self.push(c),
            }
        }
        self.end_command()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        self.line += usize::from(c == '\n');
        Some(c)
    }

    /// Takes the next character if it is this one.
    fn takes(&mut self, c: char) -> bool {
        let is_next = self.rest.starts_with(c);
        if is_next {
            self.next();
        }
        is_next
    }

    fn push(&mut self, c: char) {
        let mut bytes = [0; 4];
        self.push_bytes(c.encode_utf8(&mut bytes).as_bytes());
    }

    fn push_bytes(&mut self, bytes: &[u8]) {
        if self.word.is_none() && self.command.words.is_empty() {
            self.command.line = self.line;
        }
        self.word.get_or_insert_default().extend_from_slice(bytes);
    }

    fn end_word(&mut self) -> Result<(), CurlFault> {
        let Some(bytes) = self.word.take() else { return Ok(()) };
        if bytes.contains(&0) {
            return Err(CurlFault::Nul);
        }
        self.command.words.push(String::from_utf8(bytes).map_err(|_| CurlFault::NotText)?);
        Ok(())
    }

    fn end_command(&mut self) -> Result<(), CurlFault> {
        self.end_word()?;
        if !self.command.words.is_empty() {
            self.all.push(std::mem::take(&mut self.command));
        }
        Ok(())
    }

    fn skip_comment(&mut self) {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        self.rest = &self.rest[end..];
    }

    /// Reads what stands behind a backslash: a line break continues the line.
    fn escaped(&mut self) {
        if self.rest.starts_with("\r\n") {
            self.next();
        }
        match self.next() {
            Some('\n') | None => {}
            Some(c) => self.push(c),
        }
    }

    fn single_quoted(&mut self) -> Result<(), CurlFault> {
        self.push_bytes(b"");
        loop {
            match self.next().ok_or(CurlFault::OpenQuote("'"))? {
                '\'' => return Ok(()),
                c => self.push(c),
            }
        }
    }

    fn double_quoted(&mut self) -> Result<(), CurlFault> {
        self.push_bytes(b"");
        loop {
            match self.next().ok_or(CurlFault::OpenQuote("\""))? {
                '"' => return Ok(()),
                '$' => self.dollar()?,
                '`' => return Err(CurlFault::Substitution("backquotes")),
                '\\' if self.takes('\n') => {}
                '\\' if self.rest.starts_with(['$', '`', '"', '\\']) => self.escaped(),
                c => self.push(c),
            }
        }
    }

    /// Reads what stands behind a dollar sign that begins no quote: one alone stands for itself.
    fn dollar(&mut self) -> Result<(), CurlFault> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        match self.rest.chars().next() {
            Some('(') => Err(CurlFault::Substitution("`$(…)`")),
            Some('{') => {
                let end = self.rest[1..].find(|c| !is_name(c)).map_or(self.rest.len(), |end| end + 1);
                Err(CurlFault::Variable(self.rest[1..end].to_owned()))
            }
            Some(c) if is_name(c) => {
                let end = self.rest.find(|c| !is_name(c)).unwrap_or(self.rest.len());
                Err(CurlFault::Variable(self.rest[..end].to_owned()))
            }
            Some(c) if "?!@*#$-".contains(c) => Err(CurlFault::Variable(c.to_string())),
            _ => {
                self.push('$');
                Ok(())
            }
        }
    }

    /// Returns whether the brace before the rest begins an expansion.
    fn expands_braces(&self) -> bool {
        let is_end = |c: char| c.is_whitespace() || "'\"\\$`{}".contains(c);
        let (inner, rest) = self.rest.split_at(self.rest.find(is_end).unwrap_or(self.rest.len()));
        rest.starts_with('}') && (inner.contains(',') || inner.contains(".."))
    }

    /// Reads `$'…'` (bash manual, 3.1.2.4 ANSI-C Quoting).
    fn ansi_quoted(&mut self) -> Result<(), CurlFault> {
        self.push_bytes(b"");
        let open = CurlFault::OpenQuote("$'");
        loop {
            match self.next().ok_or_else(|| open.clone())? {
                '\'' => return Ok(()),
                '\\' => {
                    let c = self.next().ok_or_else(|| open.clone())?;
                    self.ansi_escape(c)?;
                }
                c => self.push(c),
            }
        }
    }

    fn ansi_escape(&mut self, c: char) -> Result<(), CurlFault> {
        match c {
            'a' => self.push('\x07'),
            'b' => self.push('\x08'),
            'e' | 'E' => self.push('\x1b'),
            'f' => self.push('\x0c'),
            'n' => self.push('\n'),
            'r' => self.push('\r'),
            't' => self.push('\t'),
            'v' => self.push('\x0b'),
            '\\' | '\'' | '"' | '?' => self.push(c),
            '0'..='7' => {
                let more = self.digits(8, 2);
                let number =
                    more.iter().fold(c.to_digit(8).unwrap_or_default(), |sum, digit| 8 * sum + digit);
                self.push_bytes(&[number.to_le_bytes()[0]]);
            }
            'x' if self.rest.starts_with(|c: char| c.is_ascii_hexdigit()) => {
                let number = self.number(16, 2);
                self.push_bytes(&[number.to_le_bytes()[0]]);
            }
            'u' | 'U' if self.rest.starts_with(|c: char| c.is_ascii_hexdigit()) => {
                let number = self.number(16, if c == 'u' { 4 } else { 8 });
                let number = self.with_low_surrogate(number);
                self.push(char::from_u32(number).ok_or(CurlFault::NotText)?);
            }
            'c' => {
                let c = self.next().filter(char::is_ascii).ok_or(CurlFault::NotText)?;
                self.push_bytes(&[u8::try_from(c).unwrap_or_default() & 0x1f]);
            }
            c => {
                self.push('\\');
                self.push(c);
            }
        }
        Ok(())
    }

    /// Returns the character of two surrogates, as browsers write one beyond `\uffff`; any other number as it is.
    fn with_low_surrogate(&mut self, high: u32) -> u32 {
        let low = self.rest.strip_prefix("\\u").and_then(|rest| rest.get(..4));
        let low = low.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        match low {
            Some(low) if (0xd800..0xdc00).contains(&high) && (0xdc00..0xe000).contains(&low) => {
                self.rest = &self.rest[6..];
                0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)
            }
            _ => high,
        }
    }

    fn number(&mut self, radix: u32, most: usize) -> u32 {
        self.digits(radix, most)
            .iter()
            .fold(0, |sum: u32, digit| sum.wrapping_mul(radix).wrapping_add(*digit))
    }

    /// Takes digits, at most so many.
    fn digits(&mut self, radix: u32, most: usize) -> Vec<u32> {
        let digits: Vec<u32> = self.rest.chars().take(most).map_while(|c| c.to_digit(radix)).collect();
        self.rest = &self.rest[digits.len()..];
        digits
    }
}
