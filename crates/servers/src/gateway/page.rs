//! Pages by path and query, and their bytes.

use std::ops::RangeInclusive;

use model::{GENERATED_MARKUP, GeneratedText, ReplyBody};
use units::Nanos;

use super::page_delay::PageDelay;

/// A group of paths and the queries that they accept.
#[derive(Debug)]
struct PageKind {
    content_type: &'static str,
    prefix: &'static str,
    size_default: u64,
    size_min: u64,
    /// The answer to an invalid query.
    refusal: &'static str,
}

const DYN: PageKind = PageKind {
    content_type: "text/plain",
    prefix: "",
    size_default: 1000,
    size_min: 1,
    refusal: "expected `size=N` with N from 1 to 10485760 and `seed=S` with S below 2^64\n",
};

/// WebStone 2.x: the default size is that of its `cgi-send`.
const DYN_SEND: PageKind = PageKind { size_default: 10_240, ..DYN };

/// WebBench: a small page of HTML.
const SIMPLE: PageKind = PageKind {
    content_type: "text/html",
    prefix: GENERATED_MARKUP,
    size_default: 1024,
    size_min: 64,
    refusal: "expected `size=N` with N from 64 to 10485760 and `seed=S` with S below 2^64\n",
};

/// Limits of `wait` and `lock`, in milliseconds.
const PAUSE_MILLISECONDS: RangeInclusive<u64> = 1..=10_000;

/// The answer to an invalid pause; the scripts in PHP and Python do not support pauses.
const PAUSE_REFUSAL: &str = "expected `wait=MS` and `lock=MS` with MS from 1 to 10000\n";

/// A response whose body has not been generated yet.
#[derive(Debug, Clone)]
pub struct GeneratedPage {
    /// 200, 400, 404 or 405.
    pub status: u16,
    /// Media type of the body.
    pub content_type: &'static str,
    /// The body.
    pub body: PageBody,
    /// Time to wait before the body is generated.
    pub pause: PageDelay,
}

impl GeneratedPage {
    /// Returns the page for a path and a query (without `?`), or `None` if the path has none.
    pub fn find(path: &[u8], query: &[u8]) -> Option<GeneratedPage> {
        let kind = match path {
            b"/dyn" => DYN,
            b"/cgi-bin/simple" => SIMPLE,
            _ if path.ends_with(b".dyn-send") => DYN_SEND,
            _ => return None,
        };
        Some(kind.page(query))
    }

    /// Returns the response to any request.
    pub fn answer(method: &[u8], path: &[u8], query: &[u8]) -> GeneratedPage {
        match GeneratedPage::find(path, query) {
            None => GeneratedPage::plain(404, "404 Not Found\n"),
            Some(_) if method != b"GET" => GeneratedPage::method_not_allowed(),
            Some(page) => page,
        }
    }

    /// Returns the response to methods other than GET.
    pub(crate) fn method_not_allowed() -> GeneratedPage {
        GeneratedPage::plain(405, "405 Method Not Allowed\n")
    }

    /// Refuses `lock` on behalf of a program whose processes share nothing and so have no lock.
    pub(super) fn without_lock(self) -> GeneratedPage {
        if self.pause.lock == Nanos::ZERO {
            return self;
        }
        GeneratedPage::plain(
            400,
            "expected no `lock=MS`, because the processes of this program share nothing\n",
        )
    }

    /// Returns the header fields besides length and connection.
    pub fn fields(&self) -> &'static [(&'static str, &'static [u8])] {
        const TEXT: (&str, &[u8]) = ("Content-Type", b"text/plain");
        const HTML: (&str, &[u8]) = ("Content-Type", b"text/html");
        const NO_STORE: (&str, &[u8]) = ("Cache-Control", b"no-store");
        const ALLOW: (&str, &[u8]) = ("Allow", b"GET");
        match (self.status, self.content_type) {
            (405, _) => &[TEXT, NO_STORE, ALLOW],
            (_, "text/html") => &[HTML, NO_STORE],
            _ => &[TEXT, NO_STORE],
        }
    }

    fn plain(status: u16, text: &'static str) -> GeneratedPage {
        let body = PageBody::new(text, text.len(), 0);
        GeneratedPage { status, content_type: "text/plain", body, pause: PageDelay::default() }
    }
}

/// The numbers in a query.
#[derive(Debug, Default)]
struct PageQuery {
    size: Option<u64>,
    seed: Option<u64>,
    wait: Option<u64>,
    lock: Option<u64>,
}

impl PageKind {
    fn page(&self, query: &[u8]) -> GeneratedPage {
        self.valid_page(query).unwrap_or_else(|refusal| GeneratedPage::plain(400, refusal))
    }

    fn valid_page(&self, query: &[u8]) -> Result<GeneratedPage, &'static str> {
        let query = self.parse_query(query)?;
        let size = query.size.unwrap_or(self.size_default);
        if !(self.size_min..=ReplyBody::LETTERS_BYTES_MAX).contains(&size) {
            return Err(self.refusal);
        }
        let pause = PageDelay { wait: pause_time(query.wait)?, lock: pause_time(query.lock)? };
        let body = PageBody::new(self.prefix, size as usize, query.seed.unwrap_or(0));
        Ok(GeneratedPage { status: 200, content_type: self.content_type, body, pause })
    }

    /// Reads the numbers of a query, each at most once and in any order.
    fn parse_query(&self, query: &[u8]) -> Result<PageQuery, &'static str> {
        let mut numbers = PageQuery::default();
        if query.is_empty() {
            return Ok(numbers);
        }
        for item in query.split(|byte| *byte == b'&') {
            let (slot, refusal) = match item.get(..5) {
                Some(b"size=") => (&mut numbers.size, self.refusal),
                Some(b"seed=") => (&mut numbers.seed, self.refusal),
                Some(b"wait=") => (&mut numbers.wait, PAUSE_REFUSAL),
                Some(b"lock=") => (&mut numbers.lock, PAUSE_REFUSAL),
                _ => return Err(self.refusal),
            };
            if slot.replace(parse_decimal(&item[5..]).ok_or(refusal)?).is_some() {
                return Err(refusal);
            }
        }
        Ok(numbers)
    }
}

fn pause_time(milliseconds: Option<u64>) -> Result<Nanos, &'static str> {
    match milliseconds {
        None => Ok(Nanos::ZERO),
        Some(number) if PAUSE_MILLISECONDS.contains(&number) => Ok(Nanos::from_millis(number)),
        Some(_) => Err(PAUSE_REFUSAL),
    }
}

/// Reads 1 to 20 digits of a number below 2^64.
fn parse_decimal(digits: &[u8]) -> Option<u64> {
    if !(1..=20).contains(&digits.len()) {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

/// The bytes of a page, generated as they are taken.
#[derive(Debug, Clone)]
pub struct PageBody {
    /// The part of the fixed prefix that has not been taken.
    prefix: &'static [u8],
    letters: GeneratedText,
    /// Number of bytes not taken yet, including those of the prefix.
    left: usize,
}

impl PageBody {
    /// Creates a body of `length` bytes, which is at least the length of the prefix.
    fn new(prefix: &'static str, length: usize, seed: u64) -> PageBody {
        PageBody { prefix: prefix.as_bytes(), letters: GeneratedText::new(seed), left: length }
    }

    /// Returns the number of bytes left.
    pub fn left(&self) -> usize {
        self.left
    }

    /// Appends the next bytes to `out`, at most `bytes_max`.
    pub fn append(&mut self, out: &mut Vec<u8>, bytes_max: usize) {
        let length = self.left.min(bytes_max);
        let (fixed, rest) = self.prefix.split_at(self.prefix.len().min(length));
        out.extend_from_slice(fixed);
        let start = out.len();
        out.resize(start + length - fixed.len(), 0);
        self.letters.fill(&mut out[start..]);
        self.prefix = rest;
        self.left -= length;
    }

    /// Generates all remaining bytes.
    pub fn into_bytes(mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.append(&mut bytes, usize::MAX);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(path: &str, query: &str) -> String {
        let page = GeneratedPage::find(path.as_bytes(), query.as_bytes()).unwrap();
        assert_eq!(page.status, 200, "{path}?{query}");
        String::from_utf8(page.body.into_bytes()).unwrap()
    }

    #[test]
    fn size_and_seed_determine_the_body() {
        assert_eq!(text("/dyn", "size=8"), "ASEROBDH");
        assert_eq!(text("/dyn", "seed=1&size=8"), "QMZRHLAJ");
        assert_eq!(text("/dyn", "size=8&seed=18446744073709551615"), "RPIQDQGF");
        assert_eq!(text("/dyn", "").len(), 1000);
        assert_eq!(text("/file.dyn-send", "").len(), 10_240);
        assert_eq!(text("/a/b.dyn-send", "size=00012"), "ASEROBDHGMPM");
        assert_eq!(text("/dyn", "size=10485760").len(), 10_485_760);
    }

    #[test]
    fn the_prefix_of_the_simple_page_counts_toward_its_size() {
        assert_eq!(text("/cgi-bin/simple", "").len(), 1024);
        assert_eq!(
            text("/cgi-bin/simple", "seed=1&size=64"),
            "<!DOCTYPE html><title>Made by a program</title><p>QMZRHLAJOETBKW"
        );
    }

    #[test]
    fn bad_queries_are_refused_in_one_line() {
        for query in [
            "size=0",
            "size=10485761",
            "size=",
            "size",
            "size=+5",
            "size=-1",
            "size=5 ",
            "size=5&size=5",
            "size=5&",
            "&size=5",
            "Size=5",
            "size=%35",
            "seed=18446744073709551616",
            "seed=000000000000000000001",
            "x=1",
            "Wait=1",
            "wait",
        ] {
            let page = GeneratedPage::find(b"/dyn", query.as_bytes()).unwrap();
            assert_eq!((page.status, page.content_type), (400, "text/plain"), "{query}");
            let body = String::from_utf8(page.body.into_bytes()).unwrap();
            assert!(body.starts_with("expected `size=N` with N from 1 to 10485760"), "{body}");
            assert_eq!(body.lines().count(), 1);
        }
        assert_eq!(GeneratedPage::find(b"/cgi-bin/simple", b"size=63").unwrap().status, 400);
    }

    #[test]
    fn pauses_are_read_from_the_query() {
        for (query, wait, lock) in
            [("", 0, 0), ("wait=1", 1, 0), ("lock=10000", 0, 10_000), ("lock=3&seed=1&wait=20&size=8", 20, 3)]
        {
            let page = GeneratedPage::find(b"/dyn", query.as_bytes()).unwrap();
            let pause = PageDelay { wait: Nanos::from_millis(wait), lock: Nanos::from_millis(lock) };
            assert_eq!((page.status, page.pause), (200, pause), "{query}");
        }
        assert_eq!(text("/dyn", "lock=3&seed=1&wait=20&size=8"), "QMZRHLAJ");
    }

    #[test]
    fn invalid_pauses_are_refused_with_the_limits() {
        for query in [
            "wait=0",
            "wait=10001",
            "lock=0",
            "lock=10001",
            "wait=",
            "lock=1s",
            "wait=-1",
            "wait=1&wait=1",
            "size=8&lock=5&lock=5",
        ] {
            let page = GeneratedPage::find(b"/cgi-bin/simple", query.as_bytes()).unwrap();
            assert_eq!((page.status, page.pause), (400, PageDelay::default()), "{query}");
            assert_eq!(String::from_utf8(page.body.into_bytes()).unwrap(), PAUSE_REFUSAL, "{query}");
        }
    }

    #[test]
    fn other_paths_and_methods_are_refused() {
        for path in ["/", "/dyn/", "/dynamic", "/cgi-bin/simple/x", "/a.dyn-sender", ""] {
            assert!(GeneratedPage::find(path.as_bytes(), b"").is_none(), "{path}");
            assert_eq!(GeneratedPage::answer(b"GET", path.as_bytes(), b"").status, 404);
        }
        for method in ["HEAD", "POST", "get", ""] {
            assert_eq!(GeneratedPage::answer(method.as_bytes(), b"/dyn", b"").status, 405, "{method}");
        }
    }

    #[test]
    fn a_body_is_the_same_in_pieces_of_any_size() {
        let page = GeneratedPage::find(b"/cgi-bin/simple", b"size=300&seed=4").unwrap();
        let whole = page.body.clone().into_bytes();
        for piece in [1, 7, 49, 50, 51, 299, 300, 1000] {
            let mut body = page.body.clone();
            let mut made = Vec::new();
            while 0 < body.left() {
                body.append(&mut made, piece);
            }
            assert_eq!(made, whole, "pieces of {piece}");
        }
    }
}
