//! Authentication by name and password (RFC 4616).

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;

/// Reads the answer of PLAIN in base64: name and password. `None` if it is none, or asks to act for another user.
pub(super) fn plain_credentials(answer: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let answer = BASE64.decode(answer).ok()?;
    let mut parts = answer.split(|byte| *byte == 0);
    let [acts_for, name, password] = [parts.next()?, parts.next()?, parts.next()?];
    let is_answer = parts.next().is_none() && !name.is_empty() && (acts_for.is_empty() || acts_for == name);
    is_answer.then(|| (name.to_vec(), password.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_have_a_name_and_a_password() {
        let read = |text: &str| plain_credentials(BASE64.encode(text).as_bytes());
        let anna = Some((b"anna".to_vec(), b"secret".to_vec()));
        assert_eq!([read("\0anna\0secret"), read("anna\0anna\0secret")], [anna.clone(), anna]);
        for other in ["", "anna\0secret", "bo\0anna\0secret", "\0\0secret", "\0anna\0secret\0"] {
            assert_eq!(read(other), None, "{other:?}");
        }
        assert_eq!([&b"*"[..], b"AGE", b"=", b"\xff"].map(plain_credentials), [None, None, None, None]);
    }
}
