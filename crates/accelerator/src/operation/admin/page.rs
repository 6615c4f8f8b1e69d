//! The admin page: one HTML file that refreshes itself and loads nothing else.

use maud::{DOCTYPE, Markup, html};
use units::{Bytes, Nanos, Ratio};

use crate::message::ResponsePath;
use crate::observation::TimestampCache;
use crate::operation::status::Status;
use crate::origin::ServerState;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:60em;padding:0 1em}\
    table{border-collapse:collapse;margin:1em 0}td,th{padding:.15em .8em;text-align:left;border-bottom:1px solid #8884}\
    .n{text-align:right;font-variant-numeric:tabular-nums}h2{margin-top:1.5em;font-size:1.1em}\
    .down,.warning{color:#c22;font-weight:600}td.u{word-break:break-all}:root{color-scheme:light dark}";

/// Writes the page.
pub(super) fn page(status: &Status) -> String {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                meta http-equiv="refresh" content="5";
                title { "Accelerator " (status.name) }
                style { (maud::PreEscaped(STYLE)) }
            }
            body {
                h1 { "Accelerator " (status.name) }
                p { (summary(status)) }
                (paths(status))
                (store(status))
                (servers(status))
                (hottest(status))
                (notices(status))
            }
        }
    };
    markup.into_string()
}

fn summary(status: &Status) -> String {
    let ratio = status.totals.hit_ratio().map_or("no responses yet".to_owned(), |ratio| {
        format!("{} of {} responses from the cache", Ratio(ratio), status.totals.responses())
    });
    let totals = &status.totals;
    format!(
        "Up for {}, {ratio}, {} connections open, {} of origin time saved, {} used.",
        Nanos::from_secs(status.up_s()),
        totals.connections(),
        totals.origin_time_saved(),
        totals.origin_time_taken(),
    )
}

fn paths(status: &Status) -> Markup {
    let totals = &status.totals;
    let reasons = totals.responses.iter().filter_map(|((path, reason), n)| {
        ResponsePath::ALL.get(usize::from(*path)).map(|path| (path.name(), *reason, n))
    });
    html! {
        h2 { "Responses" }
        table {
            tr { th { "path" } th { "reason" } th.n { "responses" } }
            @for (path, reason, n) in reasons {
                tr { td { (path) } td { (reason) } td.n { (n) } }
            }
        }
    }
}

fn store(status: &Status) -> Markup {
    let usage = &status.usage;
    html! {
        h2 { "Store" }
        p {
            (usage.objects) " objects in " (Bytes(usage.bytes)) " of " (Bytes(usage.bytes_max)) "; "
            (usage.inserted) " stored, " (usage.evicted) " evicted, " (usage.purged) " purged, "
            (usage.refused) " too large since the start."
        }
        @if let Some(disk) = &usage.disk {
            p {
                (disk.objects) " objects on disk in " (Bytes(disk.bytes)) " of " (Bytes(disk.bytes_max)) "; "
                (disk.written) " written, " (disk.read) " read, " (disk.dropped) " dropped, " (disk.torn) " torn."
            }
        }
    }
}

fn servers(status: &Status) -> Markup {
    html! {
        h2 { "Origin servers" }
        table {
            tr {
                th { "address" } th { "state" } th.n { "in progress" } th.n { "requests" } th.n { "connections" }
                th.n { "failures" }
            }
            @for server in &status.servers {
                tr {
                    td { (server.address) }
                    @match server.condition {
                        ServerState::Up => td { "up" },
                        ServerState::Down => td.down { "down" },
                    }
                    td.n { (server.in_use) }
                    td.n { (server.requests) }
                    td.n { (server.connections) }
                    td.n { (server.failures) }
                }
            }
        }
    }
}

fn hottest(status: &Status) -> Markup {
    html! {
        h2 { "Hottest objects" }
        table {
            tr { th { "URL" } th.n { "status" } th.n { "bytes" } th.n { "hits" } }
            @for object in &status.hottest {
                tr {
                    td.u { (object.key) }
                    td.n { (object.status) }
                    td.n { (object.body_bytes) }
                    td.n { (object.hits) }
                }
            }
        }
    }
}

fn notices(status: &Status) -> Markup {
    let mut stamp = TimestampCache::default();
    let lines = status.notices.iter().rev().map(|notice| (stamp.iso(notice.time), notice));
    html! {
        h2 { "Notices" }
        @for (time, notice) in lines {
            p class=(notice.severity.name()) { (time) " " (notice.text) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::status::example;

    #[test]
    fn client_supplied_text_is_escaped() {
        let page = page(&example());
        assert!(page.contains("http://h/&lt;b&gt;&quot;") && !page.contains("<b>"), "{page}");
    }

    #[test]
    fn the_page_shows_the_status() {
        let page = page(&example());
        for text in ["Up for 61.0 s", "75.0 % of 4 responses", "uri-miss", "2.0 KiB of 1.0 MiB", "is down"] {
            assert!(page.contains(text), "{text}\n{page}");
        }
    }

    #[test]
    fn the_page_loads_nothing_else() {
        let page = page(&example());
        assert!(!page.contains("src=") && !page.contains("href=") && !page.contains("url("), "{page}");
    }
}
