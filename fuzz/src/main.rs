//! One program with every target: the environment variable `PLIMSOLL_FUZZ` says which one runs.
//!
//! A target takes any bytes. It ends the process if a parser panics, or if what holds for all input does not.

#![no_main]

mod agent_messages;
mod app_replies;
mod cache;
mod cache_disk;
mod frames;
mod frontend;
mod http1_bodies;
mod http1_heads;
mod load_files;
mod mail_replies;
mod nfs_replies;
mod pages;
mod records;
mod run_files;
mod sessions;
mod smb_replies;
mod texts;

// The codec of records is the run file's own business; its source is built in here as it is.
#[path = "../../crates/runfile/src/codec/mod.rs"]
mod codec;
mod rows;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

/// A target: its name and what it does with bytes.
type Target = (&'static str, fn(&[u8]));

const TARGETS: &[Target] = &[
    ("response", http1_heads::response),
    ("final-response", http1_heads::final_response),
    ("request", http1_heads::request),
    ("chunks", http1_bodies::chunks),
    ("body", http1_bodies::body),
    ("reply", http1_bodies::reply),
    ("fastcgi", pages::fastcgi),
    ("cgi", pages::cgi),
    ("frame", frames::frame),
    ("order-entry", frames::order_entry),
    ("app-reply", app_replies::reply),
    ("load-file", load_files::load_file),
    ("nfs-reply", nfs_replies::replies),
    ("nfs-login", nfs_replies::login),
    ("nfs-record", nfs_replies::stream),
    ("imap", mail_replies::imap),
    ("smtp", mail_replies::smtp),
    ("mail-message", mail_replies::message),
    ("smb-reply", smb_replies::reply),
    ("smb-login", smb_replies::login),
    ("agent-message", agent_messages::of_agent),
    ("controller-message", agent_messages::to_agent),
    ("templates", sessions::templates),
    ("data", sessions::data),
    ("set-cookie", sessions::set_cookie),
    ("location", sessions::location),
    ("json-value", sessions::json_value),
    ("regex-value", sessions::regex_value),
    ("definition", texts::definition),
    ("filelist", texts::filelist),
    ("recipe", texts::recipe),
    ("path", texts::path),
    ("limits", texts::limits),
    ("loads", texts::loads),
    ("curl", texts::curl),
    ("quantities", texts::quantities),
    ("addresses", texts::addresses),
    ("published", texts::published),
    ("cache-fields", cache::cache_fields),
    ("cache-disk", cache_disk::record),
    ("cache-key", frontend::cache_key),
    ("proxy", frontend::proxy),
    ("front-requests", frontend::requests),
    ("front-http2", frontend::http2),
    ("accelerator", texts::accelerator),
    ("notes", texts::notes),
    ("prices", texts::prices),
    ("amounts", texts::amounts),
    ("seal", texts::seal),
    ("kernel", texts::kernel),
    ("scrape", texts::scrape),
    ("run-file", run_files::open),
    ("interval", records::interval),
    ("wire", records::wire),
    ("detail", records::detail),
    ("resource", records::resource),
    ("histogram", records::histogram),
];

static CHOSEN: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let name = std::env::var("PLIMSOLL_FUZZ").unwrap_or_default();
    match TARGETS.iter().find(|(known, _)| *known == name) {
        Some((_, target)) => *target,
        None => {
            eprintln!("no target `{name}`");
            std::process::exit(2);
        }
    }
});

fuzz_target!(|bytes: &[u8]| CHOSEN(bytes));
