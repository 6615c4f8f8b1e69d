//! Internationalized host names, in the form that is looked up: `müller.example` is `xn--mller-kva.example`.
//!
//! Labels are put into lower case and encoded by Punycode (RFC 3492). They have to be in the composed form that keyboards
//! write (NFC, RFC 5891 section 4.1): this machine's resolver would be asked for another name otherwise.

const BASE: u32 = 36;
const T_MIN: u32 = 1;
const T_MAX: u32 = 26;
const SKEW: u32 = 38;
const DAMP: u32 = 700;
const BIAS: u32 = 72;
const FIRST: u32 = 0x80;

/// The longest label, in bytes (RFC 1035 section 2.3.4).
const LABEL_BYTES_MAX: usize = 63;

/// Returns a host in ASCII; `None` if it has characters that no label has, or a label is too long.
pub fn ascii_host(host: &str) -> Option<String> {
    if host.is_ascii() {
        return Some(host.to_owned());
    }
    // Other full stops are meant as one (RFC 3490 section 3.1).
    let labels = host.split(['.', '\u{3002}', '\u{ff0e}', '\u{ff61}']);
    labels.map(ascii_label).collect::<Option<Vec<String>>>().map(|labels| labels.join("."))
}

fn ascii_label(label: &str) -> Option<String> {
    let lower = label.to_lowercase();
    if lower.is_ascii() {
        return Some(lower);
    }
    let is_letter = |c: char| c.is_alphanumeric() || c == '-';
    let encoded = lower.chars().all(is_letter).then(|| format!("xn--{}", punycode(&lower)))?;
    (encoded.len() <= LABEL_BYTES_MAX).then_some(encoded)
}

/// Encodes a label (RFC 3492 section 6.3).
fn punycode(label: &str) -> String {
    let points: Vec<u32> = label.chars().map(u32::from).collect();
    let mut out: String = label.chars().filter(char::is_ascii).collect();
    let n_basic = out.len() as u32;
    if 0 < n_basic {
        out.push('-');
    }
    let mut next = FIRST;
    let mut delta = 0_u32;
    let mut bias = BIAS;
    let mut handled = n_basic;
    while (handled as usize) < points.len() {
        let Some(least) = points.iter().copied().filter(|point| next <= *point).min() else { break };
        delta = delta.saturating_add((least - next).saturating_mul(handled + 1));
        next = least;
        for point in &points {
            match point.cmp(&next) {
                std::cmp::Ordering::Less => delta = delta.saturating_add(1),
                std::cmp::Ordering::Equal => {
                    write_number(delta, bias, &mut out);
                    bias = adapted(delta, handled + 1, handled == n_basic);
                    (delta, handled) = (0, handled + 1);
                }
                std::cmp::Ordering::Greater => {}
            }
        }
        (delta, next) = (delta.saturating_add(1), next + 1);
    }
    out
}

/// Writes a variable-length integer (RFC 3492 section 3.3).
fn write_number(mut number: u32, bias: u32, out: &mut String) {
    let mut k = BASE;
    loop {
        let threshold = k.saturating_sub(bias).clamp(T_MIN, T_MAX);
        if number < threshold {
            break out.push(digit(number));
        }
        out.push(digit(threshold + (number - threshold) % (BASE - threshold)));
        number = (number - threshold) / (BASE - threshold);
        k += BASE;
    }
}

fn digit(value: u32) -> char {
    char::from_digit(if value < 26 { value + 10 } else { value - 26 }, BASE).unwrap_or('0')
}

/// Returns the bias after a number (RFC 3492 section 3.4).
fn adapted(delta: u32, n_points: u32, is_first: bool) -> u32 {
    let mut delta = if is_first { delta / DAMP } else { delta / 2 };
    delta += delta / n_points;
    let mut k = 0;
    while (BASE - T_MIN) * T_MAX / 2 < delta {
        delta /= BASE - T_MIN;
        k += BASE;
    }
    k + (BASE - T_MIN + 1) * delta / (delta + SKEW)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The first names are of RFC 3492, section 7.1, the others of registries.
    #[test]
    fn host_names_are_encoded_as_resolvers_ask_for_them() {
        for (host, ascii) in [
            ("他们为什么不说中文", "xn--ihqwcrb4cv8a8dqg056pqjye"),
            ("почемужеонинеговорятпорусски", "xn--b1abfaaepdrnnbgefbadotcwatmq2g4l"),
            ("MÜLLER.Example", "xn--mller-kva.example"),
            ("bücher.例え。test", "xn--bcher-kva.xn--r8jz45g.test"),
            ("straße.de", "xn--strae-oqa.de"),
            ("plain.example", "plain.example"),
        ] {
            assert_eq!(ascii_host(host).as_deref(), Some(ascii), "{host}");
        }
        for wrong in ["ä b", "ä/", "ü@x", "\u{202e}a", &"ä".repeat(200)] {
            assert_eq!(ascii_host(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_host_in_ascii_or_none(text in "\\PC{0,80}") {
            prop_assert!(ascii_host(&text).is_none_or(|host| host.is_ascii()));
        }
    }
}
