//! Credentials in texts, recognized by the names beside them and removed from stored and printed texts.
//!
//! - [`is_credential_name`]: `Authorization`, `X-Api-Key`, `session_token`
//! - [`without_credentials`]: a text without the values of such names, without passwords in URLs
//! - [`words_without_credentials`]: the same for the words of a command line

use std::ops::Range;

/// The text that replaces a credential.
pub const REDACTED: &str = "[redacted]";

/// Names that are credentials as a whole, in lower case, with hyphens between words.
const NAMES: [&str; 11] = [
    "auth",
    "cookie",
    "cookie2",
    "cookies",
    "jsessionid",
    "phpsessid",
    "session-id",
    "sessionid",
    "set-cookie",
    "sid",
    "x-auth",
];

/// Names that end in one of these words are credentials.
const LAST_WORDS: [&str; 15] = [
    "apikey",
    "authorization",
    "credential",
    "credentials",
    "jwt",
    "passphrase",
    "passwd",
    "password",
    "pwd",
    "requirepass",
    "secret",
    "sig",
    "signature",
    "token",
    "userpwd",
];

/// Names that end in one of these texts are credentials, also when written together: `authtoken`.
const LAST_LETTERS: [&str; 5] = ["apikey", "passwd", "password", "secret", "token"];

/// Words before `key` that make it a credential: `X-Api-Key`.
const KEYS: [&str; 12] = [
    "access",
    "account",
    "admin",
    "api",
    "auth",
    "encryption",
    "functions",
    "master",
    "private",
    "secret",
    "shared",
    "subscription",
];

/// Authentication schemes, which precede the credential (RFC 9110 §11.1).
const SCHEMES: [&str; 7] = ["aws4-hmac-sha256", "basic", "bearer", "digest", "negotiate", "ntlm", "token"];

/// Directives of configurations after which a header's name and value follow.
const HEADER_DIRECTIVES: [&str; 6] =
    ["add-header", "add_header", "header_up", "proxy_set_header", "set", "set-header"];

/// The shortest text after `Bearer` or `Basic` that is taken for a credential without a name beside it.
const BARE_BYTES_MIN: usize = 8;

/// Returns whether the value of a header field, variable, option or key of this name is a credential.
pub fn is_credential_name(name: &str) -> bool {
    let words = words(name);
    let joined = words.join("-");
    if NAMES.contains(&joined.as_str()) {
        return true;
    }
    if joined.starts_with("access-control-") {
        return false;
    }
    // Two versions of a secret are told apart by numbers: `X-Hub-Signature-256`.
    let telling: Vec<&String> =
        words.iter().filter(|word| !word.bytes().all(|byte| byte.is_ascii_digit())).collect();
    match telling.as_slice() {
        [.., of, last] if *last == "key" => KEYS.contains(&of.as_str()),
        [.., last] => {
            LAST_WORDS.contains(&last.as_str()) || LAST_LETTERS.iter().any(|end| last.ends_with(end))
        }
        [] => false,
    }
}

/// Splits a name into words in lower case: at `-` and `_`, and before a capital that follows a small letter.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = '-';
    for c in name.chars() {
        if matches!(c, '-' | '_' | '.') || (before.is_ascii_lowercase() && c.is_ascii_uppercase()) {
            words.push(String::new());
        }
        if !matches!(c, '-' | '_' | '.') {
            words.last_mut().expect("never empty").push(c.to_ascii_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns whether a word is an authentication scheme, which precedes a credential: `Bearer`.
pub fn is_auth_scheme(word: &str) -> bool {
    SCHEMES.contains(&word.to_ascii_lowercase().as_str())
}

/// Returns whether a header field is a credential, by its name or by the form of its value.
pub fn is_credential(name: &str, value: &str) -> bool {
    let is_scheme = value.split_once(' ').is_some_and(|(scheme, rest)| {
        SCHEMES.contains(&scheme.to_ascii_lowercase().as_str()) && !rest.trim().is_empty()
    });
    is_credential_name(name) || is_scheme || !credential_spans(value).is_empty()
}

/// Returns a text with [`REDACTED`] for credentials.
pub fn without_credentials(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for span in credential_spans(text) {
        out += &text[done..span.start];
        out += REDACTED;
        done = span.end;
    }
    out + &text[done..]
}

/// Returns the words of a command line with [`REDACTED`] for credentials. Unlike in a text, the value of an option
/// may be the next word, and ends with it.
pub fn words_without_credentials(words: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut is_value = false;
    let mut shown = Vec::new();
    for word in words {
        shown.push(if is_value && !word.starts_with('-') {
            REDACTED.to_owned()
        } else {
            without_credentials(&word)
        });
        is_value = word.strip_prefix("--").is_some_and(is_credential_name);
    }
    shown
}

/// Returns the spans of credentials in a text, in bytes: disjoint, in order, at character boundaries, none empty.
pub fn credential_spans(text: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    spans.extend(user_infos(text));
    spans.extend(named(text));
    spans.extend(bare(text));
    spans.retain(|span| !span.is_empty() && text[span.clone()] != *REDACTED);
    spans.sort_by_key(|span| (span.start, span.end));
    let mut apart: Vec<Range<usize>> = Vec::new();
    for span in spans {
        match apart.last_mut().filter(|last| span.start < last.end) {
            Some(last) => last.end = last.end.max(span.end),
            None => apart.push(span),
        }
    }
    apart
}

/// Finds `user:password` of `http://user:password@host/` (RFC 3986 §3.2.1).
fn user_infos(text: &str) -> Vec<Range<usize>> {
    let authority = |at: usize| {
        let start = at + "://".len();
        let is_end = |c: char| c.is_whitespace() || "/?#\"'`<>".contains(c);
        let end = text[start..].find(is_end).map_or(text.len(), |length| start + length);
        Some(start..start + text[start..end].rfind('@')?)
    };
    text.match_indices("://").filter_map(|(at, _)| authority(at)).collect()
}

/// Finds values beside their names: `token=…`, `"password": "…"`, `Authorization: …`, `--api-key …`.
fn named(text: &str) -> Vec<Range<usize>> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let mut spans = Vec::new();
    let mut at = 0;
    while let Some(found) = text[at..].find(is_name) {
        let start = at + found;
        let end = text[start..].find(|c| !is_name(c)).map_or(text.len(), |length| start + length);
        at = end;
        let name = &text[start..end];
        if is_credential_name(name) {
            let value = value_after(text, start, end);
            at = value.as_ref().map_or(end, |value| value.end);
            spans.extend(value);
        }
    }
    spans
}

/// Returns the value of the name at `start..end`.
fn value_after(text: &str, start: usize, end: usize) -> Option<Range<usize>> {
    let before = text[..start].chars().next_back();
    let quote = before.filter(|c| matches!(c, '"' | '\''));
    let is_closed = quote.is_some_and(|quote| text[end..].starts_with(quote));
    let after_name = end + usize::from(is_closed);
    let after_blanks = skip_blanks(text, after_name);
    let sign = text[after_blanks..].chars().next()?;
    if matches!(sign, '=' | ':') && !text[after_blanks..].starts_with("://") {
        let value = skip_blanks(text, after_blanks + 1);
        return match text[value..].chars().next()? {
            // A table or a list says where a value comes from, or is taken apart itself.
            '{' | '[' => None,
            c @ ('"' | '\'') => Some(quoted(text, value, c)),
            _ if is_closed || sign == '=' => Some(word(text, value)),
            _ => Some(value..end_of_line(text, value, quote)),
        };
    }
    if after_blanks == after_name {
        return None;
    }
    let is_option = text[start..end].starts_with("--") && sign != '-';
    let line = &text[text[..start].rfind('\n').map_or(0, |at| at + 1)..start];
    let directive = line.split_whitespace().next_back();
    match sign {
        '"' | '\'' => Some(quoted(text, after_blanks, sign)),
        _ if is_option => Some(word(text, after_blanks)),
        _ if directive.is_some_and(|word| HEADER_DIRECTIVES.contains(&word)) => {
            let rest = &text[after_blanks..];
            Some(after_blanks..after_blanks + rest.find([';', '\n']).unwrap_or(rest.len()))
        }
        _ => None,
    }
}

fn skip_blanks(text: &str, at: usize) -> usize {
    at + text[at..].len() - text[at..].trim_start_matches([' ', '\t']).len()
}

/// Returns the text in the quotes that open at `open`; to the end of the line if they do not close.
fn quoted(text: &str, open: usize, quote: char) -> Range<usize> {
    let start = open + 1;
    let mut is_escaped = false;
    for (at, c) in text[start..].char_indices() {
        match c {
            '\n' => return start..start + at,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if c == quote => return start..start + at,
            _ => {}
        }
    }
    start..text.len()
}

/// Returns the word at `start`, with the next one if it is an authentication scheme.
fn word(text: &str, start: usize) -> Range<usize> {
    let is_end = |c: char| c.is_whitespace() || "&;,\"'`)}>".contains(c);
    let end_from = |at: usize| text[at..].find(is_end).map_or(text.len(), |length| at + length);
    let end = end_from(start);
    if SCHEMES.contains(&text[start..end].to_ascii_lowercase().as_str()) {
        let next = skip_blanks(text, end);
        return start..end_from(next);
    }
    start..end
}

fn end_of_line(text: &str, start: usize, quote: Option<char>) -> usize {
    let is_end = |c: char| c == '\n' || c == '\r' || quote == Some(c);
    text[start..].find(is_end).map_or(text.len(), |length| start + length)
}

/// Finds the credentials after `Bearer` and `Basic`, unless they look like words of a sentence.
fn bare(text: &str) -> Vec<Range<usize>> {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "-._~+/=".contains(c);
    let lower = text.to_ascii_lowercase();
    let mut spans = Vec::new();
    for scheme in ["bearer ", "basic "] {
        for (at, _) in lower.match_indices(scheme) {
            let start = at + scheme.len();
            let end = text[start..].find(|c| !is_token(c)).map_or(text.len(), |length| start + length);
            let token = &text[start..end];
            let stands_alone = !text[..at].ends_with(|c: char| c.is_alphanumeric());
            let is_odd = token.trim_end_matches('.').contains(|c: char| !c.is_ascii_alphabetic());
            if stands_alone && BARE_BYTES_MIN <= token.len() && is_odd {
                spans.push(start..end);
            }
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_of_credentials_are_known_in_any_spelling() {
        for name in [
            "Authorization",
            "PROXY-AUTHORIZATION",
            "Cookie",
            "X-Api-Key",
            "x_api_key",
            "apiKey",
            "api_key",
            "X-Auth-Token",
            "access_token",
            "sessionToken",
            "authtoken",
            "X-Amz-Security-Token",
            "X-Amz-Signature",
            "X-Hub-Signature-256",
            "PGPASSWORD",
            "client_secret",
            "Ocp-Apim-Subscription-Key",
            "PHPSESSID",
            "--admin-password",
        ] {
            assert!(is_credential_name(name), "{name}");
        }
        for name in [
            "Accept",
            "Content-Type",
            "Idempotency-Key",
            "Surrogate-Key",
            "Cache-Key",
            "key",
            "max_tokens",
            "server_tokens",
            "Access-Control-Allow-Credentials",
            "auth_basic",
            "proxy_cookie_path",
            "--tls-key",
            "--signed-by",
            "--key",
            "tokenizer",
            "",
            "-",
        ] {
            assert!(!is_credential_name(name), "{name}");
        }
    }

    #[test]
    fn credentials_are_left_out_and_the_rest_stays() {
        for (text, shown) in [
            ("http://me:secret@h:80/x", "http://[redacted]@h:80/x"),
            ("https://ghp_1@h", "https://[redacted]@h"),
            ("http://h/x@y", "http://h/x@y"),
            ("/x?api_key=abc&page=1", "/x?api_key=[redacted]&page=1"),
            ("/x?token=abc#part", "/x?token=[redacted]"),
            ("Authorization: Bearer abc def", "Authorization: [redacted]"),
            ("curl -H 'Authorization: Bearer abc' x", "curl -H 'Authorization: [redacted]' x"),
            ("Authorization=Bearer abc x", "Authorization=[redacted] x"),
            (
                r#"{ "user": "u", "password" : "a\"b", "n": 1 }"#,
                r#"{ "user": "u", "password" : "[redacted]", "n": 1 }"#,
            ),
            (r#"{"token":12345,"n":1}"#, r#"{"token":[redacted],"n":1}"#),
            ("user=u&password=p%20q&x=1", "user=u&password=[redacted]&x=1"),
            ("headers = { Authorization = \"Bearer abc\" }", "headers = { Authorization = \"[redacted]\" }"),
            ("Authorization = { env = \"TOKEN\" }", "Authorization = { env = \"TOKEN\" }"),
            (
                "proxy_set_header Authorization \"Basic abc=\";",
                "proxy_set_header Authorization \"[redacted]\";",
            ),
            ("proxy_set_header X-Api-Key abc;\nroot /x;", "proxy_set_header X-Api-Key [redacted];\nroot /x;"),
            ("varnishd --admin-token abc -p x", "varnishd --admin-token [redacted] -p x"),
            ("varnishd --admin-token=abc -p x", "varnishd --admin-token=[redacted] -p x"),
            ("it said Bearer eyJhbGciOiJ.x.y then ended", "it said Bearer [redacted] then ended"),
            ("TOKEN=abc plimsoll", "TOKEN=[redacted] plimsoll"),
            ("token=[redacted]", "token=[redacted]"),
            (
                "the bearer certificate, basic authentication.",
                "the bearer certificate, basic authentication.",
            ),
            (
                "mitigations=auto server_tokens off; auth_basic off;",
                "mitigations=auto server_tokens off; auth_basic off;",
            ),
            ("a password is needed", "a password is needed"),
            ("token://x", "token://x"),
            ("", ""),
        ] {
            assert_eq!(without_credentials(text), shown, "{text}");
        }
    }

    #[test]
    fn the_value_of_an_option_may_be_the_next_word() {
        let words = ["plimsoll", "--api-token", "abc", "--tls-key", "key.pem", "--password", "--json", "x=1"];
        let shown = words_without_credentials(words.map(str::to_owned));
        assert_eq!(
            shown,
            ["plimsoll", "--api-token", REDACTED, "--tls-key", "key.pem", "--password", "--json", "x=1"]
        );
    }

    #[test]
    fn a_header_is_a_credential_by_name_or_by_value() {
        assert!(is_credential("Cookie", "lang=en"));
        assert!(is_credential("X-Own", "Bearer abc"));
        assert!(is_credential("Referer", "http://me:secret@h/"));
        assert!(!is_credential("Accept", "text/html, token"));
        assert!(!is_credential("Accept-Language", "en"));
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "(?s).{0,60}", name in "(token|Authorization|--api-key|://|Bearer )", rest in "(?s).{0,20}") {
            let whole = format!("{text}{name}{rest}");
            let spans = credential_spans(&whole);
            prop_assert!(spans.is_sorted_by(|one, next| one.end <= next.start));
            let left_out: usize = spans.iter().map(Range::len).sum();
            let shown = without_credentials(&whole);
            prop_assert_eq!(shown.len(), whole.len() - left_out + spans.len() * REDACTED.len());
        }

        #[test]
        fn a_value_beside_its_name_is_left_out(
            name in "(x-api-key|access_token|password|Cookie)", sign in "(=|:|: | = )", value in "[a-z0-9]{4,20}",
        ) {
            let shown = without_credentials(&format!("a {name}{sign}{value}"));
            prop_assert!(shown.ends_with(REDACTED), "{}", shown);
        }
    }
}
