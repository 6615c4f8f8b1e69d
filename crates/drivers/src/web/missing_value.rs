//! Reasons why an operation failed that only sessions have, as the numbers that a reply carries.

use model::{BUFFERED_BODY_MAX, EXTRACTED_BYTES_MAX, Outcome, REDIRECTS_MAX};

use crate::net::OperationFailure;

/// The first number of each reason; below it is the index of a value or of data.
const RANGE: u64 = 1 << 16;

/// The names of what users with sessions have, by their numbers.
pub(crate) trait SessionNames {
    /// Returns the name of a value that is taken from a reply.
    fn extracted_name(&self, number: usize) -> Option<&str>;

    /// Returns the name of data.
    fn data_name(&self, number: usize) -> Option<&str>;
}

/// A reason why a value is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MissingValue {
    /// The reply does not have the value, by the value's number.
    NotInReply(usize),
    /// No earlier reply has given the value.
    NotYet(usize),
    /// The data have no row left.
    NoRow(usize),
    /// A value cannot be sent where it belongs: a line break in a header.
    Unusable,
    /// The body is too long to take values from it.
    BodyTooLong,
}

impl MissingValue {
    fn number(self) -> u64 {
        match self {
            MissingValue::NotInReply(index) => index as u64,
            MissingValue::NotYet(index) => RANGE + index as u64,
            MissingValue::NoRow(index) => 2 * RANGE + index as u64,
            MissingValue::Unusable => 3 * RANGE,
            MissingValue::BodyTooLong => 4 * RANGE,
        }
    }

    /// Describes the reason that a reply carries, for people; never with a value.
    pub(crate) fn describe(number: u64, names: Option<&dyn SessionNames>) -> String {
        let index = usize::try_from(number % RANGE).unwrap_or_default();
        let extracted = names.and_then(|names| names.extracted_name(index)).unwrap_or("?");
        let data = names.and_then(|names| names.data_name(index)).unwrap_or("?");
        match number / RANGE {
            0 => format!("no `{{extract.{extracted}}}` in the reply, of at most {EXTRACTED_BYTES_MAX} bytes"),
            1 => format!("no earlier reply has given `{{extract.{extracted}}}`"),
            2 => format!("no row left in the data `{data}`"),
            3 => "a value has characters that cannot be sent where it belongs".to_owned(),
            _ => format!("a body of more than {BUFFERED_BODY_MAX} bytes, from which no values are taken"),
        }
    }
}

impl From<MissingValue> for OperationFailure {
    fn from(missing: MissingValue) -> OperationFailure {
        OperationFailure::new(Outcome::ValueMissing, missing.number())
    }
}

/// A reason why a redirect is not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BadRedirect {
    /// There were too many before it.
    TooMany,
    /// It leads to nothing that is a URL of HTTP.
    NoUrl,
    /// It leads from `https` to `http`.
    LosesEncryption,
    /// It would send a body to another server.
    BodyElsewhere,
    /// It leads to an address that the target policy does not allow.
    Forbidden,
    /// It leads to a host without an address.
    NoAddress,
    /// It leads to more servers than are remembered.
    TooManyServers,
}

impl BadRedirect {
    const ALL: [(BadRedirect, &'static str); 7] = [
        (BadRedirect::TooMany, ""),
        (BadRedirect::NoUrl, "it leads to no `http://` or `https://` URL"),
        (BadRedirect::LosesEncryption, "it leads from `https` to `http`"),
        (BadRedirect::BodyElsewhere, "it would send a body to another server"),
        (BadRedirect::Forbidden, "it leads to an address that the target policy does not allow"),
        (BadRedirect::NoAddress, "it leads to a host without an address"),
        (BadRedirect::TooManyServers, "redirects lead to too many servers"),
    ];

    /// Describes the reason that a reply carries, for people.
    pub(crate) fn describe(number: u64) -> String {
        match usize::try_from(number).ok().and_then(|number| BadRedirect::ALL.get(number)) {
            None | Some((BadRedirect::TooMany, _)) => format!("more than {REDIRECTS_MAX} redirects"),
            Some((_, why)) => format!("a redirect is not followed: {why}"),
        }
    }
}

impl From<BadRedirect> for OperationFailure {
    fn from(reason: BadRedirect) -> OperationFailure {
        let number = BadRedirect::ALL.iter().position(|(known, _)| *known == reason).unwrap_or_default();
        OperationFailure::new(Outcome::WrongRedirect, number as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_a_number_and_a_sentence() {
        let all = [
            MissingValue::NotInReply(3),
            MissingValue::NotYet(3),
            MissingValue::NoRow(0),
            MissingValue::Unusable,
            MissingValue::BodyTooLong,
        ];
        let found = all.map(|missing| MissingValue::describe(OperationFailure::from(missing).detail, None));
        assert_eq!(found[0], "no `{extract.?}` in the reply, of at most 4096 bytes");
        assert!((1..found.len()).all(|index| !found[..index].contains(&found[index])), "{found:?}");
        let redirects =
            BadRedirect::ALL.map(|(reason, _)| BadRedirect::describe(OperationFailure::from(reason).detail));
        assert_eq!(redirects[0], "more than 10 redirects");
        assert!((1..redirects.len()).all(|index| !redirects[..index].contains(&redirects[index])));
    }
}
