//! Limits on the disk traffic of a server: `reads=50,read-bytes=5MiB`.

use std::fmt;
use std::str::FromStr;

use languages::{nearest, parse_bytes};
use serde::{Deserialize, Serialize};
use units::Bytes;

/// Limits per second on the traffic of the server with the disk that holds its files. At least one is set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DiskShare {
    /// Reads.
    pub reads: Option<u64>,
    /// Writes.
    pub writes: Option<u64>,
    /// Bytes read.
    pub read_bytes: Option<u64>,
    /// Bytes written.
    pub write_bytes: Option<u64>,
}

/// A reason why a text is not a share of a disk.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DiskShareError(String);

/// The names in a text.
const NAMES: [&str; 4] = ["reads", "writes", "read-bytes", "write-bytes"];

impl DiskShare {
    fn field_mut(&mut self, name: &str) -> Option<&mut Option<u64>> {
        Some(match name {
            "reads" => &mut self.reads,
            "writes" => &mut self.writes,
            "read-bytes" => &mut self.read_bytes,
            "write-bytes" => &mut self.write_bytes,
            _ => return None,
        })
    }
}

impl FromStr for DiskShare {
    type Err = DiskShareError;

    fn from_str(text: &str) -> Result<DiskShare, DiskShareError> {
        let mut share = DiskShare::default();
        for item in text.split(',') {
            let (name, number) = item.split_once('=').ok_or_else(|| wrong(item))?;
            let field = share.field_mut(name).ok_or_else(|| unknown(name))?;
            let number = if name.ends_with("bytes") { bytes(number, item)? } else { number.parse().ok() };
            let number = number.filter(|number| 0 < *number).ok_or_else(|| wrong(item))?;
            if field.replace(number).is_some() {
                return Err(DiskShareError(format!("`{name}` is given twice")));
            }
        }
        Ok(share)
    }
}

/// Reads a size; `None` if the text is not a size.
fn bytes(text: &str, item: &str) -> Result<Option<u64>, DiskShareError> {
    // The common slip, and the only one for which there is something better to say than what a size is.
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        let error = format!("`{item}` is without a unit: write `{item}B` for bytes, or KiB, MiB, GiB");
        return Err(DiskShareError(error));
    }
    Ok(parse_bytes(text).ok().map(|Bytes(bytes)| bytes))
}

fn wrong(item: &str) -> DiskShareError {
    DiskShareError(format!(
        "expected a number above zero such as `reads=50` or `read-bytes=5MiB`, found `{item}`"
    ))
}

fn unknown(name: &str) -> DiskShareError {
    let meant = nearest(name, NAMES).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    DiskShareError(format!(
        "expected {}, found `{name}`{meant}",
        NAMES.map(|name| format!("`{name}`")).join(", ")
    ))
}

impl fmt::Display for DiskShare {
    /// Writes the limits per second: `50 reads/s, 5.00 MiB/s read`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |number: Option<u64>, what: &str| number.map(|number| format!("{number} {what}/s"));
        let size = |size: Option<u64>, what: &str| size.map(|size| format!("{}/s {what}", Bytes(size)));
        let all = [
            number(self.reads, "reads"),
            number(self.writes, "writes"),
            size(self.read_bytes, "read"),
            size(self.write_bytes, "written"),
        ];
        f.write_str(&all.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_share_is_read_item_by_item() {
        let share = "reads=50,read-bytes=5MiB".parse::<DiskShare>().unwrap();
        assert_eq!(share, DiskShare { reads: Some(50), read_bytes: Some(5 << 20), ..DiskShare::default() });
        assert!(share.to_string().starts_with("50 reads/s, "), "{share}");
    }

    #[test]
    fn invalid_shares_are_refused() {
        for (text, part) in [
            ("", "expected a number above zero"),
            ("reads", "found `reads`"),
            ("reads=0", "found `reads=0`"),
            ("reads=-1", "found `reads=-1`"),
            ("read-bytes=x", "found `read-bytes=x`"),
            ("read-bytes=5000000", "`read-bytes=5000000` is without a unit: write `read-bytes=5000000B` for"),
            ("raeds=5", "did you mean `reads`?"),
            ("reads=5,reads=6", "`reads` is given twice"),
        ] {
            let error = text.parse::<DiskShare>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_share_or_an_error(text in ".{0,40}") {
            let _ = text.parse::<DiskShare>();
        }
    }
}
