//! A kind of request and its expected reply.

use serde::{Deserialize, Serialize};

use super::session::is_default;
use super::{BodyEncoding, Extraction, Parameter, PathPattern, PathValue, Redirects, ValueCount};
use crate::{Limit, Secret};

/// One kind of request. Its objects are numbered: the number follows from the values of its parameters, the last
/// parameter running fastest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The name of the kind in reports.
    pub name: String,
    /// The method: `GET`.
    pub method: String,
    /// The path, with its parameters.
    pub path: PathPattern,
    /// The parameters: those of the path, in the order of [`PathPattern::names`], then those of headers and body only.
    pub parameters: Vec<Parameter>,
    /// Header fields besides those that the protocol itself needs and those that are secret. Values may have
    /// placeholders ([`template_pieces`](crate::template_pieces)).
    pub headers: Vec<(String, String)>,
    /// The body that is sent; empty for none. It may have placeholders.
    pub body: String,
    /// The encoding of values in the body.
    #[serde(default, skip_serializing_if = "is_default")]
    pub body_encoding: BodyEncoding,
    /// The status of the expected reply.
    pub status: u16,
    /// Further statuses that are as right.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_statuses: Vec<u16>,
    /// The body of the expected reply.
    pub reply: ReplyBody,
    /// The treatment of redirects.
    #[serde(default, skip_serializing_if = "is_default")]
    pub redirects: Redirects,
    /// The values that are taken from the reply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extracts: Vec<Extraction>,
    /// Relative deviation of this kind's share of all requests above which a load point is not valid.
    pub share_gap_max: Option<f64>,
    /// The limits on its response times and errors that a valid load point keeps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Limit>,
    /// The secret parts; their values are never stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<Secret>,
    /// Parts that look like credentials and are shown on purpose: names of header fields, `body`, `path`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disclosed: Vec<String>,
}

/// The expected body of a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplyBody {
    /// A file of the file set, with generated content. Sizes in bytes: one for all, or one per value of the last
    /// parameter.
    File(Vec<u64>),
    /// Generated text ([`crate::GeneratedText`]); its seed is the value of the parameter `seed`, or 0 without one.
    Letters {
        /// Length of the whole body in bytes.
        bytes: u64,
        /// Whether the body begins with [`crate::GENERATED_MARKUP`].
        markup: bool,
    },
    /// No body.
    Empty,
    /// The body of the first response for this object, by length and hash, until the page changes; then the type of the
    /// first, and a length that is not cut (`drivers::web`, module `seen`, has the rule).
    Seen,
    /// The body of the first response for this object, by length and hash, always.
    Same,
    /// Anything.
    Any,
    /// Anything that contains this text.
    Contains(String),
    /// Anything of this content type: type and subtype, in lower case and without parameters.
    ContentType(String),
    /// Anything of a length within limits, in bytes.
    Length {
        /// The least length.
        least: u64,
        /// The greatest length.
        most: u64,
    },
    /// JSON with these values, and anything else.
    Json(Vec<JsonCheck>),
}

/// A value that a JSON body must have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JsonCheck {
    /// The place of the value: a JSON pointer (RFC 6901).
    pub pointer: String,
    /// The value; `None` for any.
    pub value: Option<serde_json::Value>,
}

impl ReplyBody {
    /// The largest generated page, 10 MiB, so that a request cannot exhaust the memory of a server.
    pub const LETTERS_BYTES_MAX: u64 = 10 << 20;
}

impl Request {
    /// Makes a request for one file of the file set, called by its path.
    ///
    /// # Panics
    /// If `path` is no path pattern.
    pub fn file(path: &str, bytes: u64) -> Request {
        Request {
            name: path.to_owned(),
            method: "GET".to_owned(),
            path: path.parse().expect("a plain path"),
            parameters: Vec::new(),
            headers: Vec::new(),
            body: String::new(),
            body_encoding: BodyEncoding::Text,
            status: 200,
            other_statuses: Vec::new(),
            reply: ReplyBody::File(vec![bytes]),
            redirects: Redirects::Count,
            extracts: Vec::new(),
            share_gap_max: None,
            limits: Vec::new(),
            secrets: Vec::new(),
            disclosed: Vec::new(),
        }
    }

    /// Returns whether the request has more objects at higher load.
    pub(crate) fn grows_with_load(&self) -> bool {
        self.parameters.iter().any(|parameter| matches!(parameter.count, ValueCount::SquareRoot(_)))
    }

    /// Returns the number of its objects at a level of load (users, or operations per second).
    pub fn objects(&self, level: f64) -> u64 {
        self.parameters
            .iter()
            .fold(1, |product: u64, parameter| product.saturating_mul(parameter.count.at(level)))
    }

    /// Returns the value of a parameter, by its index, for an object: its number, or the index of its text.
    pub fn value(&self, position: usize, number: u64) -> u64 {
        let following = self.parameters[position + 1..].iter();
        // Only the first count can depend on the load, and nothing is divided by that.
        let rest = following.fold(number, |rest, parameter| rest / parameter.count.at(1.0));
        let index = match self.parameters[position].count {
            ValueCount::Fixed(count) if position != 0 => rest % count,
            _ => rest,
        };
        self.parameters[position].first + index
    }

    /// Returns a parameter's value for an object as it is written, by the parameter's index.
    pub fn written_value(&self, position: usize, number: u64) -> PathValue<'_> {
        let value = self.value(position, number);
        match self.parameters[position].texts.get(value as usize) {
            Some(text) => PathValue::Text(text),
            None => PathValue::Number(value),
        }
    }

    /// Appends the path of an object.
    pub fn write_path(&self, number: u64, out: &mut Vec<u8>) {
        self.path.write(|position| self.written_value(position, number), out);
    }

    /// Returns the path of an object.
    pub fn path_of(&self, number: u64) -> String {
        let mut path = Vec::new();
        self.write_path(number, &mut path);
        String::from_utf8(path).expect("a pattern is text")
    }

    /// Returns whether the expected reply can have a body at all (RFC 9112 §6.3).
    pub fn allows_body(&self) -> bool {
        self.method != "HEAD" && !matches!(self.status, 204 | 304)
    }

    /// Returns the length of the expected body of an object; `None` if it is not known.
    #[inline]
    pub fn body_bytes(&self, number: u64) -> Option<u64> {
        match &self.reply {
            ReplyBody::File(sizes) => Some(sizes[(number % sizes.len() as u64) as usize]),
            ReplyBody::Letters { bytes, .. } => Some(*bytes),
            ReplyBody::Empty => Some(0),
            ReplyBody::Seen
            | ReplyBody::Same
            | ReplyBody::Any
            | ReplyBody::Contains(_)
            | ReplyBody::ContentType(_)
            | ReplyBody::Length { .. }
            | ReplyBody::Json(_) => None,
        }
    }

    /// Returns the least and the greatest length of the expected body; `None` if it is not known.
    pub fn body_limits(&self) -> Option<(u64, u64)> {
        match &self.reply {
            ReplyBody::File(sizes) => Some((*sizes.iter().min()?, *sizes.iter().max()?)),
            _ => self.body_bytes(0).map(|bytes| (bytes, bytes)),
        }
    }

    /// Returns the seed of the letters of an object.
    pub fn letters_seed(&self, number: u64) -> u64 {
        let position = self.parameters.iter().position(|parameter| parameter.name == "seed");
        position.map_or(0, |position| self.value(position, number))
    }

    /// Returns E\[b\] and E\[b²\] of the length of the expected body, in bytes.
    pub fn body_moments(&self) -> Option<(f64, f64)> {
        let moments = |sizes: &[u64], p: &[f64]| {
            let sum = |power| sizes.iter().zip(p).map(|(size, p)| (*size as f64).powi(power) * p).sum();
            (sum(1), sum(2))
        };
        match (&self.reply, self.parameters.last()) {
            (ReplyBody::File(sizes), Some(last)) if 1 < sizes.len() => {
                Some(moments(sizes, &last.pick.probabilities(sizes.len() as u64)))
            }
            _ => Some(moments(&[self.body_bytes(0)?], &[1.0])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ValueDistribution;

    fn class(sizes: Vec<u64>) -> Request {
        let parameter = |name: &str, count, pick| Parameter { pick, ..Parameter::numbers(name, 0, count) };
        Request {
            path: "/dir{directory:5}/class_{file}".parse().unwrap(),
            parameters: vec![
                parameter("directory", ValueCount::SquareRoot(20.0), ValueDistribution::Zipf(1.0)),
                parameter("file", ValueCount::Fixed(9), ValueDistribution::Poisson(5.0)),
            ],
            reply: ReplyBody::File(sizes),
            ..Request::file("/", 0)
        }
    }

    #[test]
    fn objects_are_numbered_the_same_at_every_load() {
        let class = class(vec![1]);
        assert_eq!((class.objects(5.0), class.objects(1650.0)), (90, 182 * 9));
        assert_eq!(class.path_of(0), "/dir00000/class_0");
        assert_eq!(class.path_of(8), "/dir00000/class_8");
        assert_eq!(class.path_of(9 * 181 + 4), "/dir00181/class_4");
    }

    #[test]
    fn values_can_be_texts_or_numbers_from_any_start() {
        let request = Request {
            path: "/{directory}f{n:2}".parse().unwrap(),
            parameters: vec![
                Parameter::texts("directory", vec![String::new(), "a/b/".into()]),
                Parameter::numbers("n", 7, ValueCount::Fixed(3)),
            ],
            ..Request::file("/", 0)
        };
        let paths: Vec<String> = (0..request.objects(1.0)).map(|number| request.path_of(number)).collect();
        assert_eq!(paths, ["/f07", "/f08", "/f09", "/a/b/f07", "/a/b/f08", "/a/b/f09"]);
    }

    #[test]
    fn sizes_follow_the_last_parameter() {
        let class = class((1..=9).map(|i| i * 1024).collect());
        assert_eq!((class.body_bytes(0), class.body_bytes(17)), (Some(1024), Some(9216)));
        assert_eq!(class.body_limits(), Some((1024, 9216)));
        let mean: f64 = ValueDistribution::Poisson(5.0)
            .probabilities(9)
            .iter()
            .zip(1..)
            .map(|(p, i)| p * 1024.0 * f64::from(i))
            .sum();
        assert!((class.body_moments().unwrap().0 - mean).abs() < 1e-9);
    }
}
