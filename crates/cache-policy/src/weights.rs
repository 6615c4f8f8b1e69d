//! Lists of values with weights: `gzip, br;q=0.5` (RFC 9110 §12.4.2).

use crate::list::{is_token, members};

/// A value in lower case and its weight in thousandths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WeightedValue {
    pub(crate) value: String,
    pub(crate) weight: u16,
}

/// The most different values that are read; each is compared with those before it.
const VALUES_MAX: usize = 64;

/// The weight of a value without one.
pub(crate) const WEIGHT_MAX: u16 = 1000;

/// Reads a list of values without parameters other than their weight; `None` if there is another parameter, a syntax
/// error, or too many values.
///
/// In the order of the list, and of repeated values only the first. Values are case-insensitive in all fields of this
/// form: codings, languages, charsets and media types.
pub(crate) fn weighted(value: &[u8]) -> Option<Vec<WeightedValue>> {
    let mut list: Vec<WeightedValue> = Vec::new();
    for member in members(value) {
        let one = read(member)?;
        if list.iter().any(|known| known.value == one.value) {
            continue;
        }
        if list.len() == VALUES_MAX {
            return None;
        }
        list.push(one);
    }
    Some(list)
}

fn read(member: &[u8]) -> Option<WeightedValue> {
    let mut parts = member.split(|&byte| byte == b';').map(<[u8]>::trim_ascii);
    let value = parts.next().filter(|value| value.split(|&byte| byte == b'/').all(is_token))?;
    let weight = match parts.next() {
        None => WEIGHT_MAX,
        Some([b'q' | b'Q', b'=', digits @ ..]) => read_weight(digits)?,
        Some(_) => return None,
    };
    let value = String::from_utf8_lossy(value).to_ascii_lowercase();
    parts.next().is_none().then_some(WeightedValue { value, weight })
}

/// Reads 0 to 1 with up to three decimals.
fn read_weight(text: &[u8]) -> Option<u16> {
    let (whole, decimals) = match text {
        [whole @ (b'0' | b'1')] => (*whole, &[][..]),
        [whole @ (b'0' | b'1'), b'.', decimals @ ..] => (*whole, decimals),
        _ => return None,
    };
    if 3 < decimals.len() || !decimals.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let digit = |index: usize| decimals.get(index).map_or(0, |digit| u16::from(digit - b'0'));
    let weight = u16::from(whole - b'0') * WEIGHT_MAX + digit(0) * 100 + digit(1) * 10 + digit(2);
    (weight <= WEIGHT_MAX).then_some(weight)
}

/// Writes a list: weights in thousandths, none where it is the greatest.
pub(crate) fn write_weighted(list: &[WeightedValue]) -> String {
    let write = |one: &WeightedValue| match one.weight {
        WEIGHT_MAX => one.value.clone(),
        weight => format!("{};q={weight}", one.value),
    };
    list.iter().map(write).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: &str, expected: Option<&str>) {
        let written = weighted(value.as_bytes()).map(|list| write_weighted(&list));
        assert_eq!(written.as_deref(), expected, "{value}");
    }

    #[test]
    fn weighted_lists_are_parsed() {
        check("", Some(""));
        check("gzip", Some("gzip"));
        check("GZip , br;q=0.5,*;q=0", Some("gzip,br;q=500,*;q=0"));
        check("a;q=1.000, b ; q=0.123, c;Q=0.", Some("a,b;q=123,c;q=0"));
        check("text/html, */*;q=0.1", Some("text/html,*/*;q=100"));
        check("gzip, br, gzip;q=0", Some("gzip,br"));
    }

    #[test]
    fn values_are_limited_in_number() {
        let list = |n: usize| (0..n).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
        check(&list(VALUES_MAX), Some(&list(VALUES_MAX)));
        check(&format!("{0},{0}", list(VALUES_MAX)), Some(&list(VALUES_MAX)));
        check(&list(VALUES_MAX + 1), None);
    }

    #[test]
    fn other_parameters_and_malformed_weights_are_refused() {
        for value in
            ["text/html;level=1", "a;q=2", "a;q=1.1", "a;q=0.1234", "a;q=-1", "a;q", "a;q=1;x", "a b", ";q=1"]
        {
            check(value, None);
        }
    }
}
