//! All responses of a site, built at startup and kept in memory.

use std::collections::HashMap;
use std::io;

use bytes::Bytes;
use http1::{Framing, Http1Version, RequestMethod, ResponseHead, write_response_head};
use model::{Content, FileSet};

use super::modified::LAST_MODIFIED;
use crate::gateway::GeneratedPage;

/// The largest data set that is served from memory: 1 GiB.
pub const DATASET_BYTES_MAX: u64 = 1 << 30;

/// The responses for every file of a workload, and for errors.
#[derive(Debug)]
pub(super) struct Site {
    objects: HashMap<Box<[u8]>, ReadyReply>,
    pub(super) bad_request: ReadyReply,
    pub(super) not_found: ReadyReply,
    pub(super) not_modified: ReadyReply,
    pub(super) method_not_allowed: ReadyReply,
    pub(super) head_too_large: ReadyReply,
    pub(super) server_error: ReadyReply,
    pub(super) version_not_supported: ReadyReply,
}

/// The resource that a request identifies.
#[derive(Debug)]
pub(super) enum Resource<'a> {
    /// A file of the workload.
    File(&'a ReadyReply),
    /// A page that has not been generated yet.
    Page(GeneratedPage),
    /// An error or another fixed response.
    Other(&'a ReadyReply),
}

/// One response, with a head for each HTTP version and connection persistence.
#[derive(Debug)]
pub(super) struct ReadyReply {
    /// HTTP/1.0 closing, 1.0 kept, 1.1 closing, 1.1 kept.
    heads: [Box<[u8]>; 4],
    pub(super) status: u16,
    /// Header fields besides length and connection.
    pub(super) fields: Vec<Field>,
    pub(super) body: Bytes,
}

/// Name and value of a header field.
pub(super) type Field = (&'static str, &'static [u8]);

/// The `Server` field.
pub(super) const SERVER: Field = ("Server", b"plimsoll");

impl Site {
    /// Builds the responses of a file set.
    ///
    /// # Errors
    ///
    /// The data set is larger than [`DATASET_BYTES_MAX`].
    pub(super) fn new(files: &FileSet) -> io::Result<Site> {
        let bytes = files.files.iter().try_fold(0_u64, |sum, file| sum.checked_add(file.bytes));
        if bytes.is_none_or(|bytes| DATASET_BYTES_MAX < bytes) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the data set is larger than 1 GiB, which the built-in web server does not hold in memory\n\
                 hint: populate a directory and use another server",
            ));
        }
        let content = Content::new(files.content_seed);
        let objects = files.files.iter().map(|file| {
            let mut body = vec![0; file.bytes as usize];
            content.fill(file.object, 0, &mut body);
            let fields =
                [("Content-Type", media_type(&file.path)), ("Last-Modified", LAST_MODIFIED.as_bytes())];
            (file.path.as_bytes().into(), ReadyReply::new(200, body.into(), &fields))
        });
        Ok(Site { objects: objects.collect(), ..Site::without_files() })
    }

    /// Creates a site without files.
    pub(super) fn without_files() -> Site {
        Site {
            objects: HashMap::new(),
            bad_request: problem(400, &[]),
            not_found: problem(404, &[]),
            not_modified: ReadyReply::new(304, Bytes::new(), &[("Last-Modified", LAST_MODIFIED.as_bytes())]),
            method_not_allowed: problem(405, &[("Allow", b"GET, HEAD")]),
            head_too_large: problem(431, &[]),
            server_error: problem(500, &[]),
            version_not_supported: problem(505, &[]),
        }
    }

    /// Returns the resource for a method and a request target.
    ///
    /// Files take precedence, with their query ignored; then pages.
    #[inline]
    pub(super) fn find(&self, method: RequestMethod, target: &[u8]) -> Resource<'_> {
        let end = target.iter().position(|byte| *byte == b'?').unwrap_or(target.len());
        let path = &target[..end];
        match (self.objects.get(path), method) {
            (Some(file), RequestMethod::Get | RequestMethod::Head) => Resource::File(file),
            (Some(_), _) => Resource::Other(&self.method_not_allowed),
            (None, _) => self.find_page(method, path, target.get(end + 1..).unwrap_or_default()),
        }
    }

    fn find_page(&self, method: RequestMethod, path: &[u8], query: &[u8]) -> Resource<'_> {
        match (GeneratedPage::find(path, query), method) {
            (Some(page), RequestMethod::Get) => Resource::Page(page),
            (Some(_), _) => Resource::Page(GeneratedPage::method_not_allowed()),
            (None, RequestMethod::Get | RequestMethod::Head) => Resource::Other(&self.not_found),
            (None, _) => Resource::Other(&self.method_not_allowed),
        }
    }
}

impl ReadyReply {
    fn new(status: u16, body: Bytes, fields: &[Field]) -> ReadyReply {
        let heads = [
            (Http1Version::Http10, false),
            (Http1Version::Http10, true),
            (Http1Version::Http11, false),
            (Http1Version::Http11, true),
        ]
        .map(|(version, keep_alive)| {
            let framing = length(status, &body).map_or(Framing::None, Framing::Length);
            head_bytes(&ResponseHead { status, version, framing, keep_alive }, fields)
        });
        ReadyReply { heads, status, fields: fields.to_vec(), body }
    }

    /// Returns the length that its head announces, if any.
    pub(super) fn length(&self) -> Option<u64> {
        length(self.status, &self.body)
    }

    /// Returns the head for a request of this version.
    #[inline]
    pub(super) fn head(&self, version: Http1Version, keep_alive: bool) -> &[u8] {
        &self.heads[2 * usize::from(version == Http1Version::Http11) + usize::from(keep_alive)]
    }
}

/// Generates a whole page in advance, for rare requests.
impl From<GeneratedPage> for ReadyReply {
    fn from(page: GeneratedPage) -> ReadyReply {
        let fields = page.fields();
        ReadyReply::new(page.status, page.body.into_bytes().into(), fields)
    }
}

/// Returns the length to announce. A 304 announces none, because it has no body.
fn length(status: u16, body: &[u8]) -> Option<u64> {
    (status != 304).then_some(body.len() as u64)
}

/// Writes a head that is known to be valid.
pub(super) fn head_bytes(head: &ResponseHead, fields: &[Field]) -> Box<[u8]> {
    let mut out = Vec::new();
    let mut all = vec![SERVER];
    all.extend_from_slice(fields);
    write_response_head(&mut out, head, &all).expect("heads of our own are valid");
    out.into()
}

/// Creates an error response.
fn problem(status: u16, fields: &[Field]) -> ReadyReply {
    let body = format!("{status} {}\n", http1::reason_phrase(status));
    let mut all: Vec<Field> = vec![("Content-Type", b"text/plain")];
    all.extend_from_slice(fields);
    ReadyReply::new(status, body.into_bytes().into(), &all)
}

fn media_type(path: &str) -> &'static [u8] {
    if path.ends_with(".html") { b"text/html" } else { b"application/octet-stream" }
}

#[cfg(test)]
mod tests {
    use model::SetFile;

    use super::*;

    fn site(path: &str, bytes: u64) -> io::Result<Site> {
        let file = SetFile { object: 0, path: path.to_owned(), bytes };
        Site::new(&FileSet { content_seed: 7, files: vec![file] })
    }

    #[test]
    fn heads_match_version_and_persistence() {
        let site = site("/a.html", 3).unwrap();
        let Resource::File(reply) = site.find(RequestMethod::Get, b"/a.html?x=1") else { panic!("no file") };
        let text = |version, keep_alive| String::from_utf8(reply.head(version, keep_alive).to_vec()).unwrap();
        let rest = "Server: plimsoll\r\nContent-Type: text/html\r\n\
                    Last-Modified: Sat, 01 Jan 2000 00:00:00 GMT\r\n\r\n";
        let line = "200 OK\r\nContent-Length: 3\r\n";
        assert_eq!(text(Http1Version::Http10, false), format!("HTTP/1.0 {line}Connection: close\r\n{rest}"));
        assert_eq!(
            text(Http1Version::Http10, true),
            format!("HTTP/1.0 {line}Connection: keep-alive\r\n{rest}")
        );
        assert_eq!(text(Http1Version::Http11, false), format!("HTTP/1.1 {line}Connection: close\r\n{rest}"));
        assert_eq!(text(Http1Version::Http11, true), format!("HTTP/1.1 {line}{rest}"));
    }

    #[test]
    fn a_data_set_too_large_for_memory_is_refused() {
        for bytes in [DATASET_BYTES_MAX + 1, u64::MAX] {
            assert_eq!(site("/a", bytes).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        }
    }
}
