//! Reading expressions, character by character.

use super::expression::{
    COMPARATORS, Comparator, Expression, ExpressionError, FUNCTIONS, Operator, Reference,
};
use super::number::{HEXADECIMAL, PrintedNumber, digits_length};

/// The deepest nesting of brackets and functions.
const DEPTH_MAX: usize = 32;

/// A position in a text that is being read.
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, at: 0, depth: 0 }
    }

    /// Reads terms that are added and subtracted.
    pub(super) fn sum(&mut self) -> Result<Expression, ExpressionError> {
        let mut left = self.product()?;
        loop {
            let operator = match self.peek() {
                Some('+') => Operator::Plus,
                Some('-') => Operator::Minus,
                _ => return Ok(left),
            };
            self.skip();
            left = Expression::Binary(operator, Box::new(left), Box::new(self.product()?));
        }
    }

    /// Reads factors that are multiplied and divided.
    fn product(&mut self) -> Result<Expression, ExpressionError> {
        let mut left = self.single()?;
        loop {
            let operator = match self.peek() {
                Some('*') => Operator::Times,
                Some('/') => Operator::Over,
                _ => return Ok(left),
            };
            self.skip();
            left = Expression::Binary(operator, Box::new(left), Box::new(self.single()?));
        }
    }

    fn single(&mut self) -> Result<Expression, ExpressionError> {
        match self.peek() {
            Some('(') => self.nested(|cursor| cursor.sum()),
            Some(c) if c.is_ascii_digit() || c == '~' => self.number(),
            Some(quote @ ('\'' | '"')) => self.quoted(quote),
            Some(c) if c.is_ascii_alphabetic() => self.named(),
            _ => Err(self.error("a number, a figure or a function")),
        }
    }

    /// Reads an expression in parentheses.
    fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, ExpressionError>,
    ) -> Result<T, ExpressionError> {
        self.depth += 1;
        if DEPTH_MAX < self.depth {
            return Err(self.error("fewer brackets"));
        }
        self.sign('(')?;
        let inner = read(self)?;
        self.sign(')')?;
        self.depth -= 1;
        Ok(inner)
    }

    /// Reads a text in quotes.
    fn quoted(&mut self, quote: char) -> Result<Expression, ExpressionError> {
        self.skip();
        let rest = &self.text[self.at..];
        let Some(end) = rest.find(quote) else {
            self.at = self.text.len();
            return Err(self.error(&format!("`{quote}`")));
        };
        self.at += end + quote.len_utf8();
        Ok(Expression::Text(rest[..end].trim().to_owned()))
    }

    /// Reads a number and, if one follows, its unit.
    fn number(&mut self) -> Result<Expression, ExpressionError> {
        let start = self.at;
        let rest = &self.text[start..];
        let sign = usize::from(rest.starts_with('~'));
        let is_hexadecimal = HEXADECIMAL.iter().any(|prefix| rest[sign..].starts_with(prefix));
        let digits = if is_hexadecimal {
            let after = &rest[sign + digits_length(&rest[sign..])..];
            rest.len() - after.trim_start_matches(' ').len()
        } else {
            let digits = rest[sign..].find(|c: char| !c.is_ascii_digit() && c != '.' && c != ' ');
            sign + digits.unwrap_or(rest.len() - sign)
        };
        let number = rest[..digits].trim_end();
        let unit = unit_at(&rest[digits..]);
        let candidates = [(digits + unit.len(), unit), (number.len(), "")];
        for (length, unit) in candidates {
            if let Ok(printed) = PrintedNumber::parse(number, unit, true) {
                self.at = start + length;
                let text = rest[..length].trim_end().to_owned();
                let half = if sign == 0 { 0.0 } else { printed.half };
                return Ok(Expression::Number(PrintedNumber { text, half, ..printed }));
            }
        }
        Err(self.error("a number"))
    }

    /// Reads a function, `column`, `table.column` or `table[key].column`.
    fn named(&mut self) -> Result<Expression, ExpressionError> {
        let name = self.name()?;
        if let Some((_, function)) = FUNCTIONS.iter().find(|(word, _)| *word == name)
            && self.peek() == Some('(')
        {
            let arguments = self.nested(|cursor| cursor.arguments())?;
            return Ok(Expression::Call(*function, arguments));
        }
        let key = if self.text[self.at..].starts_with('[') { Some(self.key()?) } else { None };
        if key.is_none() && !self.text[self.at..].starts_with('.') {
            let column = name.to_owned();
            return Ok(Expression::Figure(Reference { table: None, key, column }));
        }
        self.sign('.')?;
        let column = self.name()?.to_owned();
        Ok(Expression::Figure(Reference { table: Some(name.to_owned()), key, column }))
    }

    fn arguments(&mut self) -> Result<Vec<Expression>, ExpressionError> {
        let mut arguments = vec![self.sum()?];
        while self.peek() == Some(',') {
            self.skip();
            arguments.push(self.sum()?);
        }
        Ok(arguments)
    }

    /// Reads `[700/200, 16]`.
    fn key(&mut self) -> Result<Vec<String>, ExpressionError> {
        self.sign('[')?;
        let rest = &self.text[self.at..];
        let end = rest.find(']').ok_or_else(|| self.error("`]`"))?;
        self.at += end + 1;
        Ok(rest[..end].split(',').map(|part| part.trim().to_owned()).collect())
    }

    fn name(&mut self) -> Result<&'a str, ExpressionError> {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(rest.len());
        if !rest.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            return Err(self.error("a name"));
        }
        self.at += end;
        Ok(&rest[..end])
    }

    pub(super) fn comparator(&mut self) -> Result<Comparator, ExpressionError> {
        self.peek();
        let rest = &self.text[self.at..];
        let found = COMPARATORS.iter().find(|(sign, _)| rest.starts_with(sign));
        let (sign, comparator) = found.ok_or_else(|| self.error("`=`, `<`, `<=`, `>`, `>=` or `in`"))?;
        self.at += sign.len();
        Ok(*comparator)
    }

    fn sign(&mut self, sign: char) -> Result<(), ExpressionError> {
        match self.peek() {
            Some(found) if found == sign => {
                self.at += sign.len_utf8();
                Ok(())
            }
            _ => Err(self.error(&format!("`{sign}`"))),
        }
    }

    pub(super) fn expect_end(&mut self, expected: &str) -> Result<(), ExpressionError> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.error(&format!("{expected} or the end"))),
        }
    }

    /// Skips white space; returns the rest.
    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    /// Skips one character.
    fn skip(&mut self) {
        self.at += self.text[self.at..].chars().next().map_or(0, char::len_utf8);
    }

    fn error(&self, expected: &str) -> ExpressionError {
        let rest = &self.text[self.at..];
        let found = rest.split_whitespace().next().map_or("the end".to_owned(), |word| format!("`{word}`"));
        ExpressionError { message: format!("expected {expected}, found {found}"), at: self.at }
    }
}

/// Returns the part at the start of a text that may be a unit: `%`, `/min`, `Mbit/s`, `T1`.
fn unit_at(rest: &str) -> &str {
    let letters = |text: &str| text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
    if rest.starts_with('%') {
        return &rest[..1];
    }
    let head = letters(rest);
    let after = &rest[head..];
    let per = after.strip_prefix('/').map_or(0, letters);
    if per == 0 { &rest[..head] } else { &rest[..head + 1 + per] }
}
