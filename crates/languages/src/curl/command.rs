//! The requests of a command: its options, one after the other, and what follows from all of them.

use std::collections::HashSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::body::{Data, FormPart, multipart, url_encoded};
use super::options::{CurlReason, Effect, find};
use super::shell::ShellCommand;
use super::url::{self, UrlReading};
use super::{
    COMMAND_BYTES_MAX, CurlConnection, CurlFault, CurlNote, CurlRequest, CurlRequests, FAULTS_MAX,
    PlacedCurlFault, REQUESTS_MAX,
};
use crate::{foreign_text, without_credentials};

/// The encodings that `--compressed` asks for.
const ENCODINGS: &str = "deflate, gzip, br, zstd";

/// The type of data that say none.
const FORM: &str = "application/x-www-form-urlencoded";

/// The most characters of a word that is shown.
const SHOWN_CHARS_MAX: usize = 40;

/// Reads the requests of a command, and adds them, what is not taken of it, and its faults.
pub(super) fn read(command: ShellCommand, read: &mut CurlRequests, faults: &mut Vec<PlacedCurlFault>) {
    let ShellCommand { line, words } = command;
    let mut words = words.into_iter().peekable();
    // The prompt is copied, too.
    words.next_if(|word| word == "$");
    let program = words.next().unwrap_or_default();
    let mut own = Vec::new();
    if is_curl(&program) {
        read_options(line, words, read, &mut own);
    } else {
        // Enough of it to see what is a credential, and to show less.
        let start: String = program.chars().take(100 * SHOWN_CHARS_MAX).collect();
        let shown: String = without_credentials(&start).chars().take(SHOWN_CHARS_MAX).collect();
        own.push(CurlFault::OtherCommand(foreign_text(&shown)));
    }
    faults.extend(own.into_iter().map(|fault| PlacedCurlFault { line, fault }));
}

/// Returns whether a word is curl, or the path of it.
fn is_curl(word: &str) -> bool {
    let name = word.rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
    matches!(name.as_str(), "curl" | "curl.exe")
}

fn read_options(
    line: usize,
    mut words: impl Iterator<Item = String>,
    read: &mut CurlRequests,
    faults: &mut Vec<CurlFault>,
) {
    let mut draft = Draft::default();
    let mut options_end = false;
    while let Some(word) = words.next() {
        if FAULTS_MAX <= faults.len() {
            return;
        }
        if word == "--" && !options_end {
            options_end = true;
        } else if options_end || !word.starts_with('-') || word == "-" {
            draft.urls.push(word);
        } else {
            for Given { name, effect, value } in options_of(&word, &mut words, faults) {
                let applied = match effect {
                    Effect::Next => std::mem::take(&mut draft).finish(line, read),
                    Effect::LeftOut(reason) if !reason.is_refused() => {
                        read.notes.push(CurlNote { line, option: name, reason });
                        Ok(())
                    }
                    effect => draft.apply(&name, effect, value),
                };
                faults.extend(applied.err());
            }
        }
    }
    faults.extend(draft.finish(line, read).err());
}

/// An option as it is given; the value is empty if it takes none.
struct Given {
    name: String,
    effect: Effect,
    value: String,
}

/// Returns the options of a word, which are several in `-sSk`, and takes the value that follows.
fn options_of(
    word: &str,
    words: &mut impl Iterator<Item = String>,
    faults: &mut Vec<CurlFault>,
) -> Vec<Given> {
    let mut given = Vec::new();
    if word.starts_with("--") {
        match find(word) {
            Some(option) => {
                let value = if option.takes_value { words.next() } else { Some(String::new()) };
                match value {
                    Some(value) => given.push(Given { name: word.to_owned(), effect: option.effect, value }),
                    None => faults.push(CurlFault::NoValue(word.to_owned())),
                }
            }
            None => faults.push(CurlFault::Unknown(shown_option(word))),
        }
        return given;
    }
    let mut letters = word[1..].chars();
    while let Some(letter) = letters.next() {
        let name = format!("-{letter}");
        let Some(option) = find(&letter.to_string()) else {
            faults.push(CurlFault::Unknown(foreign_text(&name)));
            return given;
        };
        if !option.takes_value {
            given.push(Given { name, effect: option.effect, value: String::new() });
            continue;
        }
        let attached = Some(letters.as_str()).filter(|rest| !rest.is_empty()).map(str::to_owned);
        match attached.or_else(|| words.next()) {
            Some(value) => given.push(Given { name, effect: option.effect, value }),
            None => faults.push(CurlFault::NoValue(name)),
        }
        return given;
    }
    given
}

/// Returns a word that is meant as an option, without a value.
fn shown_option(word: &str) -> String {
    let name: String = word.split('=').next().unwrap_or_default().chars().take(SHOWN_CHARS_MAX).collect();
    foreign_text(&name)
}

/// The options of a request so far.
#[derive(Default)]
struct Draft {
    urls: Vec<String>,
    reading: UrlReading,
    method: Option<String>,
    is_head: bool,
    is_get: bool,
    headers: Vec<(String, String)>,
    /// Names of fields that cURL shall not send, in lower case.
    removed: Vec<String>,
    cookies: Vec<String>,
    data: Data,
    form: Vec<FormPart>,
    queries: Vec<String>,
    user: Option<String>,
    is_compressed: bool,
    connection: CurlConnection,
}

impl Draft {
    /// Adds an option.
    fn apply(&mut self, option: &str, effect: Effect, value: String) -> Result<(), CurlFault> {
        let file = || CurlFault::File(option.to_owned());
        let wrong = |expected| CurlFault::Value { option: option.to_owned(), expected };
        match effect {
            Effect::Agent => self.push_header("User-Agent", value),
            Effect::Authorities => self.connection.ca = Some(value),
            Effect::Basic => {}
            Effect::Bearer => self.push_header("Authorization", format!("Bearer {value}")),
            Effect::Certificate if has_password(&value) => return Err(wrong("a file without a password")),
            Effect::Certificate => self.connection.cert = Some(value),
            Effect::CertificateType if value.eq_ignore_ascii_case("PEM") => {}
            Effect::CertificateType => {
                return Err(CurlFault::NotTaken(option.to_owned(), CurlReason::Certificates));
            }
            Effect::Compressed => self.is_compressed = true,
            Effect::ConnectTo => self.connection.connect_to.push(value),
            Effect::Cookie if value.contains('=') => self.cookies.push(value),
            Effect::Cookie if value.is_empty() => {}
            Effect::Cookie => return Err(file()),
            Effect::Data | Effect::Json if value.starts_with('@') => return Err(file()),
            Effect::Data | Effect::DataRaw => self.data.push(&value, false),
            Effect::Json => self.data.push(&value, true),
            Effect::DataEncoded => self.data.push(&url_encoded(&value).ok_or_else(file)?, false),
            Effect::Form => self.form.push(FormPart::read(option, &value)?),
            Effect::FormText => {
                self.form.push(FormPart::text(&value).ok_or_else(|| wrong("`NAME=CONTENT`"))?)
            }
            Effect::Get => self.is_get = true,
            Effect::Head => self.is_head = true,
            Effect::Header if value.starts_with('@') => return Err(file()),
            Effect::Header => self.header(&value).ok_or_else(|| wrong("`NAME: VALUE`"))?,
            Effect::Http(version) => self.connection.http = Some(version),
            Effect::Insecure => self.connection.insecure = true,
            Effect::Key => self.connection.key = Some(value),
            Effect::Method => self.method = Some(value),
            Effect::NoGlob => self.reading.is_literal = true,
            Effect::PathAsIs => self.reading.path_as_is = true,
            Effect::Query => self.queries.push(match value.strip_prefix('+') {
                Some(literal) => literal.to_owned(),
                None => url_encoded(&value).ok_or_else(file)?,
            }),
            Effect::Range => self.push_header("Range", format!("bytes={value}")),
            Effect::Referer => self.push_header("Referer", value.trim_end_matches(";auto").to_owned()),
            Effect::Resolve => self.connection.resolve.push(value),
            Effect::UnixSocket => self.connection.unix_socket = Some(value),
            Effect::Url => self.urls.push(value),
            Effect::User if !value.contains(':') => return Err(wrong("`USER:PASSWORD`")),
            Effect::User => self.user = Some(value),
            Effect::LeftOut(reason) => return Err(CurlFault::NotTaken(option.to_owned(), reason)),
            Effect::Next => {}
        }
        Ok(())
    }

    fn push_header(&mut self, name: &str, value: String) {
        if !value.is_empty() {
            self.headers.push((name.to_owned(), value));
        }
    }

    /// Adds `NAME: VALUE`; `NAME:` keeps cURL from sending the field, and `NAME;` sends it without a value.
    fn header(&mut self, text: &str) -> Option<()> {
        match text.split_once(':') {
            Some((name, value)) if value.trim().is_empty() => {
                self.removed.push(name.trim().to_ascii_lowercase())
            }
            Some((name, value)) => self.headers.push((name.trim().to_owned(), value.trim().to_owned())),
            None => self.headers.push((text.trim().strip_suffix(';')?.to_owned(), String::new())),
        }
        Some(())
    }

    /// Adds a field that follows from options, unless the user sends or removes it.
    fn default_header(&mut self, name: &str, value: &str) {
        let is_it = |other: &str| other.eq_ignore_ascii_case(name);
        let is_given = self.headers.iter().any(|(other, _)| is_it(other));
        if !is_given && !self.removed.iter().any(|other| is_it(other)) {
            self.headers.push((name.to_owned(), value.to_owned()));
        }
    }

    /// Adds the requests: one for each URL.
    fn finish(mut self, line: usize, read: &mut CurlRequests) -> Result<(), CurlFault> {
        if self.urls.is_empty() {
            return Err(CurlFault::NoUrl);
        }
        self.check_bodies()?;
        if !self.cookies.is_empty() {
            self.headers.push(("Cookie".to_owned(), self.cookies.join(";")));
        }
        let body = self.body();
        if self.is_compressed {
            self.default_header("Accept-Encoding", ENCODINGS);
        }
        let method = self.method.clone().unwrap_or_else(|| {
            let method = if self.is_head {
                "HEAD"
            } else if body.is_some() {
                "POST"
            } else {
                "GET"
            };
            method.to_owned()
        });
        self.check_size(body.as_deref(), read.requests.len())?;
        for word in &self.urls {
            let requested = url::read(word, self.reading)?;
            let mut headers = self.headers.clone();
            if let Some(user) = self.user.clone().or(requested.user) {
                let user = if user.contains(':') { user } else { user + ":" };
                headers.push(("Authorization".to_owned(), format!("Basic {}", STANDARD.encode(user))));
            }
            check_once(&headers)?;
            read.requests.push(CurlRequest {
                line,
                method: method.clone(),
                url: self.with_query(&requested.url),
                headers,
                body: body.clone(),
                connection: self.connection.clone(),
            });
        }
        Ok(())
    }

    /// Refuses more requests than there can be beside `n_others`.
    fn check_size(&self, body: Option<&str>, n_others: usize) -> Result<(), CurlFault> {
        let headers: usize = self.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
        let queries: usize = self.queries.iter().map(String::len).sum();
        let bytes = self.urls.len().saturating_mul(headers + queries + body.map_or(0, str::len));
        if REQUESTS_MAX < n_others + self.urls.len() || COMMAND_BYTES_MAX < bytes {
            return Err(CurlFault::TooMany);
        }
        Ok(())
    }

    fn check_bodies(&self) -> Result<(), CurlFault> {
        let has_data = self.data.text.is_some();
        match (has_data, !self.form.is_empty()) {
            (true, true) => Err(CurlFault::Contradiction("-d", "-F")),
            (true, _) if self.is_head && !self.is_get => Err(CurlFault::Contradiction("-I", "-d")),
            (_, true) if self.is_head => Err(CurlFault::Contradiction("-I", "-F")),
            (_, true) if self.is_get => Err(CurlFault::Contradiction("-G", "-F")),
            _ => Ok(()),
        }
    }

    /// Returns the body, and adds its type to the header fields.
    fn body(&mut self) -> Option<String> {
        if !self.form.is_empty() {
            let (content_type, body) = multipart(&self.form);
            self.default_header("Content-Type", &content_type);
            return Some(body);
        }
        if self.is_get {
            self.queries.extend(self.data.text.take());
            return None;
        }
        let body = self.data.text.take()?;
        if self.data.is_json {
            self.default_header("Content-Type", "application/json");
            self.default_header("Accept", "application/json");
        } else {
            self.default_header("Content-Type", FORM);
        }
        Some(body)
    }

    /// Returns a URL with the query of options behind its own.
    fn with_query(&self, url: &str) -> String {
        let mut url = url.to_owned();
        if !self.queries.is_empty() {
            let has_path = url.split_once("://").is_some_and(|(_, rest)| rest.contains(['/', '?']));
            if !has_path {
                url.push('/');
            }
            url.push(if url.contains('?') { '&' } else { '?' });
            url += &self.queries.join("&");
        }
        url
    }
}

/// Returns whether a certificate has its password behind a colon, which `\:` and the colon of a Windows drive are not.
fn has_password(certificate: &str) -> bool {
    let is_drive = |at: usize| at == 1 && certificate[2..].starts_with(['\\', '/']);
    certificate.match_indices(':').any(|(at, _)| !certificate[..at].ends_with('\\') && !is_drive(at))
}

fn check_once(headers: &[(String, String)]) -> Result<(), CurlFault> {
    let mut seen = HashSet::new();
    match headers.iter().find(|(name, _)| !seen.insert(name.to_ascii_lowercase())) {
        Some((name, _)) => Err(CurlFault::Twice(foreign_text(name))),
        None => Ok(()),
    }
}
