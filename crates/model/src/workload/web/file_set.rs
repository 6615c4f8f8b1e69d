//! The files that a server is given.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::{ReplyBody, Request, WebWorkload};
use crate::catalog::NAME_MAX;

/// The most files of a file set.
pub const FILES_MAX: u64 = 10_000_000;

/// The longest path, in bytes: it is also the name of a kind of operation.
pub(crate) const PATH_MAX: usize = NAME_MAX;

/// Characters of a file's path besides letters, digits and `/`: RFC 3986 `pchar` without percent-encoding.
const PATH_MARKS: &str = "-._~!$&'()*+,;=:@";

/// The files of a workload at one level of load.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileSet {
    /// Seed of their content.
    pub content_seed: u64,
    /// The files, by kind of request and number.
    pub files: Vec<SetFile>,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetFile {
    /// The number that determines its content.
    pub object: u32,
    /// Path on the server, beginning with `/`.
    pub path: String,
    /// Length in bytes.
    pub bytes: u64,
}

impl FileSet {
    /// Returns the size of all files together in bytes.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

impl WebWorkload {
    /// Returns the number of files at a level of load (users, or operations per second).
    pub fn n_files(&self, level: f64) -> u64 {
        let files = self.requests.iter().filter(|request| matches!(request.reply, ReplyBody::File(_)));
        files.fold(0, |sum: u64, request| sum.saturating_add(request.objects(level)))
    }

    /// Returns the size of all files together at a level of load, without listing them.
    pub fn file_bytes(&self, level: f64) -> u64 {
        self.requests.iter().fold(0, |sum: u64, request| match &request.reply {
            // Sizes follow the last parameter, which runs fastest: every size comes as often as the others.
            ReplyBody::File(sizes) => {
                let rounds = request.objects(level) / sizes.len() as u64;
                sum.saturating_add(sizes.iter().sum::<u64>().saturating_mul(rounds))
            }
            _ => sum,
        })
    }

    /// Lists the files that the server must hold at a level of load; a higher load only appends files.
    ///
    /// A plan has at most [`FILES_MAX`] of them.
    pub fn file_set(&self, level: f64) -> FileSet {
        let mut files = Vec::new();
        for (kind, request) in (0..).zip(&self.requests) {
            let ReplyBody::File(_) = request.reply else { continue };
            files.extend((0..request.objects(level)).map(|number| SetFile {
                object: self.content_object(kind, number),
                path: request.path_of(number),
                bytes: request.body_bytes(number).unwrap_or(0),
            }));
        }
        FileSet { content_seed: self.content_seed, files }
    }
}

/// A reason why the objects of a workload cannot be distinguished, or cannot be files.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileSetError {
    /// There are too many files.
    #[error("{0} files; there may be at most {FILES_MAX}")]
    Files(u64),
    /// The parameters have too many values together.
    #[error("the parameters of `{request}` have too many values together")]
    Objects {
        /// The request's name.
        request: String,
    },
    /// A path is no plain path of a file.
    #[error("`{path}` is not the path of a file: {fault}")]
    Path {
        /// The path.
        path: String,
        /// The fault.
        fault: &'static str,
    },
    /// Two files have one path.
    #[error("two files have the path `{0}`")]
    PathTwice(String),
}

/// Checks that the objects of requests can be numbered at a level of load, and that the files among them can be
/// laid out.
///
/// # Errors
///
/// The index of a request, and why not.
pub(crate) fn check_objects(requests: &[Request], level: f64) -> Result<(), (usize, FileSetError)> {
    let mut n_files: u64 = 0;
    for (kind, request) in requests.iter().enumerate() {
        let objects = request.objects(level);
        let is_file = matches!(request.reply, ReplyBody::File(_));
        // The numbers that determine contents have 32 bits.
        let numbers = if is_file { u64::from(u32::MAX) / requests.len() as u64 } else { i64::MAX as u64 };
        n_files = n_files.saturating_add(if is_file { objects } else { 0 });
        if FILES_MAX < n_files {
            return Err((kind, FileSetError::Files(n_files)));
        }
        if numbers <= objects {
            return Err((kind, FileSetError::Objects { request: request.name.clone() }));
        }
    }
    check_paths(requests, level)
}

/// Checks that all paths of files are plain and different.
fn check_paths(requests: &[Request], level: f64) -> Result<(), (usize, FileSetError)> {
    let paths = || file_paths(requests, level);
    let mut hashes = Vec::new();
    for (kind, path) in paths() {
        if let Some((fault, _)) = file_path_fault(&path) {
            return Err((kind, FileSetError::Path { path, fault }));
        }
        hashes.push(hash(&path));
    }
    // The paths of ten million files take too much memory; only those with a repeated hash are kept.
    hashes.sort_unstable();
    let twice: HashSet<u64> =
        hashes.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    if twice.is_empty() {
        return Ok(());
    }
    let mut seen = HashSet::new();
    let found = paths().find(|(_, path)| {
        let suspect = twice.contains(&hash(path));
        suspect && !seen.insert(path.clone())
    });
    found.map_or(Ok(()), |(kind, path)| Err((kind, FileSetError::PathTwice(path))))
}

/// Returns the paths of all files, with the index of the request of each.
fn file_paths(requests: &[Request], level: f64) -> impl Iterator<Item = (usize, String)> {
    let files =
        requests.iter().enumerate().filter(|(_, request)| matches!(request.reply, ReplyBody::File(_)));
    files.flat_map(move |(kind, request)| {
        (0..request.objects(level)).map(move |number| (kind, request.path_of(number)))
    })
}

fn hash(path: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    hasher.finish()
}

/// Returns what is wrong with the path of a file and what to do about it (may be empty); `None` if it can be
/// requested as it is and laid out as a file below any directory.
pub fn file_path_fault(path: &str) -> Option<(&'static str, &'static str)> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '/' || PATH_MARKS.contains(c);
    let mut steps = path.split('/').skip(1);
    if path.contains("://") {
        Some(("an absolute URL", "proxies are not tested yet: write the path only, such as `/index.html`"))
    } else if !path.starts_with('/') {
        Some(("expected a path that begins with `/`", ""))
    } else if !path.chars().all(is_allowed) {
        Some((
            "a plain path cannot contain some of its characters",
            "use letters, digits, `/` and -._~!$&'()*+,;=:@",
        ))
    } else if steps.any(|step| matches!(step, "" | "." | "..")) {
        Some(("expected the path of a file, without empty parts, `.` and `..`", ""))
    } else if PATH_MAX < path.len() {
        Some(("too long: servers refuse such requests", ""))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Parameter, ValueCount};

    fn files(path: &str, counts: &[(&str, ValueCount)]) -> Request {
        let parameters = counts.iter().map(|(name, count)| Parameter::numbers(name, 0, *count)).collect();
        Request { name: "files".into(), path: path.parse().unwrap(), parameters, ..Request::file("/", 1) }
    }

    fn fault(requests: &[Request]) -> String {
        let (kind, error) = check_objects(requests, 100.0).unwrap_err();
        format!("{kind}: {error}")
    }

    #[test]
    fn files_with_equal_or_invalid_paths_are_refused() {
        let ten = ValueCount::Fixed(10);
        let big = ValueCount::Fixed(20_000_000);
        let faults = [
            fault(&[Request::file("/a", 1), Request::file("/b", 1), Request::file("/a", 1)]),
            fault(&[files("/{a}{b}", &[("a", ValueCount::Fixed(12)), ("b", ValueCount::Fixed(12))])]),
            fault(&[files("/d{a}", &[("a", ten)]), Request::file("/d7", 1)]),
            fault(&[Request::file("/x", 1), files("/{a}/../x", &[("a", ten)])]),
            fault(&[files("/x?id={a}", &[("a", ten)])]),
            fault(&[files("/{a}", &[("a", big)])]),
            fault(&[files("/{a}", &[("a", ValueCount::SquareRoot(1e15))])]),
            fault(&[Request {
                reply: ReplyBody::Any,
                ..files("/{a}/{b}/{c}", &[("a", big), ("b", big), ("c", big)])
            }]),
        ];
        insta::assert_snapshot!(faults.join("\n"), @r"
        2: two files have the path `/a`
        0: two files have the path `/110`
        1: two files have the path `/d7`
        1: `/0/../x` is not the path of a file: expected the path of a file, without empty parts, `.` and `..`
        0: `/x?id=0` is not the path of a file: a plain path cannot contain some of its characters
        0: 20000000 files; there may be at most 10000000
        0: 316227767 files; there may be at most 10000000
        0: the parameters of `files` have too many values together
        ");
    }

    #[test]
    fn numbers_of_contents_fit_32_bits() {
        let with_others = |n: usize| {
            let other = |i| Request { reply: ReplyBody::Any, ..Request::file(&format!("/other{i}"), 0) };
            let mut requests: Vec<Request> = (1..n).map(other).collect();
            requests.push(files("/{a}", &[("a", ValueCount::Fixed(5_000_000))]));
            requests
        };
        let numbers = |requests: &[Request]| {
            requests.iter().all(|request| request.objects(1.0) < u64::from(u32::MAX) / requests.len() as u64)
        };
        assert!(numbers(&with_others(800)) && !numbers(&with_others(900)));
        assert_eq!(fault(&with_others(900)), "899: the parameters of `files` have too many values together");
    }

    #[test]
    fn the_files_of_other_replies_are_not_checked() {
        let seen = |path| Request { reply: ReplyBody::Seen, ..Request::file(path, 0) };
        assert_eq!(check_objects(&[seen("/a?x=1"), seen("/a?x=1"), Request::file("/a", 5)], 1.0), Ok(()));
    }
}
