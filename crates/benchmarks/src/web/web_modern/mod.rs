//! web-modern: the files of web96 as they are fetched today, over TLS and HTTP/2, in sessions, partly
//! conditional.
//!
//! Not based on a published benchmark: it combines the file set of SPECweb96, the session lengths of
//! SPECweb99 and present-day transport. `docs/benchmarks/web-modern.md` lists the source of each part.

use crate::Builtin;

/// The files of web96 over TLS and HTTP/2.
pub(crate) const WEB_MODERN: Builtin = Builtin {
    id: "web-modern",
    definition_file: "web-modern.toml",
    definition: include_str!("definition.toml"),
    filelists: &[],
};

#[cfg(test)]
mod tests {
    use model::{ConnectionLifetime, HttpVersion, ReplyBody, Tls};

    use super::*;
    use crate::web::web96::WEB96;

    #[test]
    fn the_files_are_those_of_web96() {
        let modern = WEB_MODERN.load().workload.web().unwrap().clone();
        let web96 = WEB96.load().workload.web().unwrap().clone();
        let files = |workload: &model::WebWorkload| {
            let set = workload.file_set(200.0);
            let mut files: Vec<_> = set.files.into_iter().map(|file| (file.path, file.bytes)).collect();
            files.sort_unstable();
            files
        };
        assert_eq!(files(&modern), files(&web96));
    }

    #[test]
    fn a_quarter_of_each_class_is_conditional() {
        let workload = WEB_MODERN.load().workload.web().unwrap().clone();
        for (class, share) in [0.35, 0.50, 0.14, 0.01].into_iter().enumerate() {
            let [full, conditional] = [2 * class, 2 * class + 1].map(|kind| workload.request_share(kind));
            assert!((full - 0.75 * share).abs() < 1e-12 && (conditional - 0.25 * share).abs() < 1e-12);
            let [full, conditional] = [2 * class, 2 * class + 1].map(|kind| &workload.requests[kind]);
            assert_eq!((&full.path, &full.parameters), (&conditional.path, &conditional.parameters));
            assert_eq!((conditional.status, &conditional.reply), (304, &ReplyBody::Empty));
        }
    }

    #[test]
    fn requests_use_tls_and_http2() {
        let definition = WEB_MODERN.load().definition;
        let protocol = definition.workload.web().unwrap().protocol;
        assert_eq!((protocol.http, protocol.tls), (HttpVersion::Http2, Tls::Resumed));
        assert_eq!((protocol.connection, protocol.streams), (ConnectionLifetime::Sessions, 1));
        assert_eq!(definition.load.levels.list(None, definition.load.unit).len(), 10);
    }
}
