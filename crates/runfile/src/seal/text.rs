//! The form of a seal: JSON, one object, every key of which is signed.

use blake3::Hash;
use serde_json::{Value, json};
use thiserror::Error;
use units::WallTime;

use super::hex::{from_hex, to_hex};
use super::{Seal, SealedFile};

/// The version of this format.
const FORMAT: u64 = 1;

/// A reason why a text is not a seal.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SealTextError {
    /// A text that is not JSON.
    #[error("the seal is not JSON: {0}")]
    NotJson(String),
    /// A format that this build does not know.
    #[error("expected a seal of format {FORMAT}, found {0}")]
    Format(String),
    /// A key is missing or has an invalid value.
    #[error("`{0}` of the seal is missing or not valid")]
    Key(&'static str),
    /// There are keys that seals do not have, which are not signed.
    #[error("the seal has keys that are not signed")]
    More,
}

impl Seal {
    /// Returns the seal as JSON. Hashes, key and signature are hexadecimal digits.
    pub fn json(&self) -> Value {
        let file = &self.file;
        json!({
            "format": FORMAT,
            "benchmark": file.benchmark,
            "benchmark_version": file.benchmark_version,
            "file_bytes": file.file_bytes,
            "file_blake3": file.file_blake3.to_string(),
            "plan_blake3": file.plan_blake3.to_string(),
            "records_blake3": file.records_blake3.to_string(),
            "sealed_unix_ms": self.at.0,
            "public_key": self.signer.to_string(),
            "signature": to_hex(&self.signature),
        })
    }

    /// Reads a seal.
    ///
    /// # Errors
    ///
    /// The text is not a seal, or has anything in it that is not signed.
    ///
    /// It does not check the signature; see [`Seal::check`].
    pub fn parse(text: &str) -> Result<Seal, SealTextError> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| SealTextError::NotJson(error.to_string()))?;
        if value["format"] != FORMAT {
            return Err(SealTextError::Format(value["format"].to_string()));
        }
        let keys = Keys(&value);
        let seal = Seal {
            file: SealedFile {
                benchmark: keys.text("benchmark")?.to_owned(),
                benchmark_version: keys.read("benchmark_version", |value| value.as_u64()?.try_into().ok())?,
                file_bytes: keys.read("file_bytes", Value::as_u64)?,
                file_blake3: keys.hash("file_blake3")?,
                plan_blake3: keys.hash("plan_blake3")?,
                records_blake3: keys.hash("records_blake3")?,
            },
            at: WallTime(keys.read("sealed_unix_ms", Value::as_i64)?),
            signer: keys.read("public_key", |value| value.as_str()?.parse().ok())?,
            signature: keys.read("signature", |value| from_hex(value.as_str()?))?,
        };
        if seal.json() == value { Ok(seal) } else { Err(SealTextError::More) }
    }
}

/// The keys of a JSON object.
struct Keys<'a>(&'a Value);

impl<'a> Keys<'a> {
    fn read<T>(
        &self,
        key: &'static str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<T, SealTextError> {
        read(&self.0[key]).ok_or(SealTextError::Key(key))
    }

    fn text(&self, key: &'static str) -> Result<&'a str, SealTextError> {
        self.read(key, Value::as_str)
    }

    fn hash(&self, key: &'static str) -> Result<Hash, SealTextError> {
        self.read(key, |value| Some(Hash::from_bytes(from_hex(value.as_str()?)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SealKey;

    fn seal() -> Seal {
        let file = SealedFile {
            benchmark: "web96".into(),
            benchmark_version: 1,
            file_bytes: 40_960,
            file_blake3: blake3::hash(b"file"),
            plan_blake3: blake3::hash(b"plan"),
            records_blake3: blake3::hash(b"records"),
        };
        Seal::sign(file, &SealKey::new([7; 32]), WallTime(1_800_000_000_000))
    }

    #[test]
    fn a_seal_is_read_back() {
        assert_eq!(Seal::parse(&seal().json().to_string()), Ok(seal()));
    }

    #[test]
    fn unsigned_keys_are_refused() {
        let check = |key: &str, value: Value, expected: &str| {
            let mut changed = seal().json();
            changed[key] = value;
            assert_eq!(Seal::parse(&changed.to_string()).unwrap_err().to_string(), expected);
        };
        check("format", json!(2), "expected a seal of format 1, found 2");
        check("note", json!("audited"), "the seal has keys that are not signed");
        check("file_bytes", json!(-1), "`file_bytes` of the seal is missing or not valid");
        check("file_blake3", json!("AB"), "`file_blake3` of the seal is missing or not valid");
        check("benchmark_version", json!(1.0), "`benchmark_version` of the seal is missing or not valid");
        check("public_key", json!(null), "`public_key` of the seal is missing or not valid");
        assert!(matches!(Seal::parse("{"), Err(SealTextError::NotJson(_))));
        assert_eq!(Seal::parse("[]"), Err(SealTextError::Format("null".into())));
    }
}
