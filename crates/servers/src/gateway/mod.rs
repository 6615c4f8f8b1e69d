//! Pages made by a program, and the ways in which a web server has them made.
//!
//! A page is a function of path and query, and the letters in it of a seed, so that the load
//! generator can check every byte. All ways make the same pages with the same work; what differs
//! is what stands between web server and program:
//!
//! | way | here | process model |
//! |---|---|---|
//! | CGI | [`cgi`] | a process for every request |
//! | FastCGI | [`Gateway`] | a fixed number of workers, one request at a time each |
//! | PHP | `gateways/dyn.php` | what PHP-FPM is told |
//! | WSGI | `gateways/dyn.py` | what its server is told |
//! | HTTP behind a proxy | [`AppServer`](crate::web::AppServer) | a fixed number of event loops |
//! | native | [`WebServer`](crate::web::WebServer) | none: the web server itself makes the page |
//!
//! | path | query | type | body |
//! |---|---|---|---|
//! | `/dyn` | `size=N&seed=S`, by default 1000 and 0 | text/plain | N letters of seed S |
//! | ends with `.dyn-send` | the same, by default 10240 and 0 | text/plain | the same |
//! | `/cgi-bin/simple` | the same, by default 1024 and 0 | text/html | N bytes: the beginning of a page, then letters |
//!
//! N is from 1 (64 for the last) to 10 MiB, S below 2^64; other queries get 400, other methods than
//! GET 405, other paths 404, each with one line of text. No page may be stored by a cache.
//!
//! Our own programs also take `wait=MS` and `lock=MS` with MS from 1 to 10000: a page then takes so long before it is
//! made, without using the processor, with `lock` as the only page of its program (see [`Pause`]). No benchmark asks
//! for that; it is for trying what is said about a server that waits. CGI has no `lock`, the scripts have neither.

mod cgi;
mod fastcgi;
mod page;
mod pause;
mod workers;

pub use cgi::cgi;
pub use page::{Page, PageBody};
pub(crate) use pause::PageLock;
pub use pause::Pause;
pub(crate) use workers::check_workers;
pub use workers::{Address, AddressError, Gateway, GatewayOptions, WORKERS_MAX};
