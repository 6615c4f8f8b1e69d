//! Generated pages, and the interfaces through which a web server obtains them.
//!
//! A page is a function of path and query, and its letters are a function of a seed, so that the load
//! generator can check every byte. All interfaces generate the same pages with the same work; they differ in
//! what stands between the web server and the program:
//!
//! | interface | here | process model |
//! |---|---|---|
//! | CGI | [`cgi`] | a process for every request |
//! | FastCGI | [`FastCgiGateway`] | a fixed number of workers, one request at a time each |
//! | PHP | `gateways/dyn.php` | as configured in PHP-FPM |
//! | WSGI | `gateways/dyn.py` | as configured in its server |
//! | HTTP behind a proxy | [`PagesServer`](crate::web::PagesServer) | a fixed number of event loops |
//! | native | [`WebServer`](crate::web::WebServer) | none: the web server itself generates the page |
//!
//! | path | query | type | body |
//! |---|---|---|---|
//! | `/dyn` | `size=N&seed=S`, by default 1000 and 0 | text/plain | N letters of seed S |
//! | ends with `.dyn-send` | the same, by default 10240 and 0 | text/plain | the same |
//! | `/cgi-bin/simple` | the same, by default 1024 and 0 | text/html | N bytes: the start of an HTML page, then letters |
//!
//! N is from 1 (64 for the last) to 10 MiB, S below 2^64. Other queries get 400, methods other than GET 405,
//! other paths 404, each with one line of text. No page may be stored by a cache.
//!
//! The built-in programs also accept `wait=MS` and `lock=MS` with MS from 1 to 10000: the page is delayed for
//! that long before it is generated, without using the processor; with `lock` only one page of the program at
//! a time is delayed (see [`PageDelay`]). No benchmark uses this; it serves to test what reports say about a
//! server that waits. CGI does not support `lock`, the scripts support neither.

mod cgi;
mod fastcgi;
mod page;
mod page_delay;
mod workers;

pub use cgi::cgi;
pub use page::{GeneratedPage, PageBody};
pub use page_delay::PageDelay;
pub(crate) use page_delay::PageLock;
pub(crate) use workers::check_workers;
pub use workers::{FastCgiGateway, GatewayAddress, GatewayAddressError, GatewayOptions, WORKERS_MAX};
