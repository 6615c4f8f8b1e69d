//! Reading of what people write, for all languages of the program, and printing of what others wrote.
//!
//! - [`reader`]: TOML, key by key, with all mistakes at once; [`Diagnostics`] shows them in the text
//! - [`parse_time`], [`parse_bytes`], [`parse_load`], [`HttpUrl`]: values with units, lists of load levels, URLs
//! - [`NamedValues`], [`names!`]: the names of choices, one table for all languages
//! - [`spec`]: kinds of values, and lists of keys, by which a table is read and described as JSON Schema
//! - [`schema_text`]: JSON Schemas as texts
//! - [`parse_curl`]: command lines of cURL, as browsers copy them
//! - [`foreign_text`], [`escaped`]: text from others, safe for a terminal
//! - [`without_credentials`]: text without the values of credentials; [`without_mark`]: without a byte order mark
//!
//! It knows no noun of a run: what a key means is written where the language is.

mod byte_order_mark;
mod credentials;
mod curl;
mod diagnostics;
mod foreign;
mod http_url;
mod idn;
mod load_list;
mod names;
mod percent;
mod quantity;
pub mod reader;
mod schema;
pub mod spec;

pub use byte_order_mark::without_mark;
pub use credentials::{
    REDACTED, credential_spans, is_auth_scheme, is_credential, is_credential_name, without_credentials,
    words_without_credentials,
};
pub use curl::{
    CurlConnection, CurlFault, CurlNote, CurlReason, CurlRequest, CurlRequests, PlacedCurlFault, parse_curl,
};
pub use diagnostics::{Diagnostic, Diagnostics, nearest};
pub use foreign::{
    FOREIGN_CHARS_MAX, escaped, escaped_json, foreign_bytes, foreign_text, is_terminal_control,
};
pub use http_url::{HttpUrl, HttpUrlError, UrlScheme, authority, host_and_port, is_host};
pub use idn::ascii_host;
pub use load_list::{
    LOAD_POINTS_MAX, LoadListError, RATE_MAX, USERS_MAX, load_text, parse_load, parse_rates,
};
pub use names::NamedValues;
pub use percent::{
    UNRESERVED_MARKS, percent_decoded, percent_decoded_bytes, percent_encoded, push_percent_encoded,
};
pub use quantity::{QuantityError, parse_bytes, parse_time, parse_time_up_to, time_text};
pub use schema::schema_text;
