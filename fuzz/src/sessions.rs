//! Parsers of users with sessions: templates and data of the user, cookies, redirects and values of the server.

use drivers::web::untrusted;
use model::{DataTable, EXTRACTED_BYTES_MAX, template_pieces};

/// A template is what its pieces are one after another.
pub fn templates(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let written: String = template_pieces(text).iter().map(ToString::to_string).collect();
    assert_eq!(written.len(), text.len(), "{text:?}");
    assert_eq!(written, text);
}

/// Data have rows, all of which have a value in every column; a mistake shows no value.
pub fn data(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for read in [DataTable::from_csv, DataTable::from_json_lines] {
        match read(text) {
            Ok(table) => {
                assert!(0 < table.rows());
                let columns = table.columns().len();
                let values = (0..table.rows()).flat_map(|row| (0..columns).map(move |column| (row, column)));
                let length: usize = values.map(|(row, column)| table.value(row, column).len()).sum();
                // Numbers of JSON may be written longer than they were.
                assert!(length <= 400 * (1 + text.len()));
                assert_eq!(table.value(table.rows(), 0), "");
            }
            Err(error) => assert!(0 < error.line && error.line <= 1 + text.lines().count().max(1)),
        }
    }
}

/// Each line is a field; whatever cookies there are can be sent.
pub fn set_cookie(bytes: &[u8]) {
    let fields: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    if let Some(field) = untrusted::cookies_sent(&fields, "/a/b?c") {
        assert!(!field.is_empty() && field.len() <= 16 << 10);
        assert!(field.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()), "{field:?}");
    }
}

/// A path that a redirect leads to can be sent, and leaves no step to take.
pub fn location(bytes: &[u8]) {
    let Some(path) = untrusted::redirect_path(bytes) else { return };
    assert!(http1::check_path(&path).is_ok(), "{path:?}");
    let steps = path.split('?').next().unwrap_or_default();
    assert!(steps.split('/').all(|step| step != "." && step != ".."), "{path:?}");
}

/// Splits at the first line break: an expression, and the body that it is applied to.
fn of_body(bytes: &[u8], value: fn(&[u8], &str) -> Option<String>) {
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let line = &bytes[..end];
    let body = bytes.get(end + 1..).unwrap_or_default();
    let Ok(line) = std::str::from_utf8(line) else { return };
    let found = value(body, line);
    assert!(found.is_none_or(|found| found.len() <= body.len().max(EXTRACTED_BYTES_MAX)));
}

pub fn json_value(bytes: &[u8]) {
    of_body(bytes, untrusted::json_value);
}

pub fn regex_value(bytes: &[u8]) {
    of_body(bytes, untrusted::regex_value);
}
