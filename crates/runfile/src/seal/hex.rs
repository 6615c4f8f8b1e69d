//! Bytes as hexadecimal digits.

/// Writes bytes as lower-case digits.
pub(super) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads exactly N bytes from lower-case digits.
pub(super) fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if pairs.len() != N || !rest.is_empty() {
        return None;
    }
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back() {
        assert_eq!(to_hex(&[0, 9, 0xaf, 0xff]), "0009afff");
        assert_eq!(from_hex("0009afff"), Some([0, 9, 0xaf, 0xff]));
        for wrong in ["", "0009aff", "0009afff0", "0009afff00", "0009AFFF", "0009afég", "+009afff"] {
            assert_eq!(from_hex::<4>(wrong), None, "{wrong}");
        }
    }
}
