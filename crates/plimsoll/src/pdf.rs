//! Reports as PDF, and their first screens as pictures, if the program was built with the feature `pdf`.

use disclosure::Document;
use units::WallTime;

use crate::exit::Failure;

/// Renders a document as PDF; `created` is its creation date.
#[cfg(feature = "pdf")]
pub(crate) fn render(document: &Document, created: WallTime) -> Result<Vec<u8>, Failure> {
    let pdf = ::pdf::render(document, moment(created))
        .map_err(|error| Failure::new(crate::exit::Exit::Internal, error))?;
    for remark in &pdf.remarks {
        crate::stderr::warn(format!("PDF: {remark}"));
    }
    Ok(pdf.bytes)
}

/// Draws the first screen of a document as a picture in PNG.
#[cfg(feature = "pdf")]
pub(crate) fn picture(document: &Document) -> Result<Vec<u8>, Failure> {
    ::pdf::picture(document).map_err(|error| Failure::new(crate::exit::Exit::Internal, error))
}

/// Fails with a hint which program can write PDF.
#[cfg(not(feature = "pdf"))]
pub(crate) fn render(_: &Document, _: WallTime) -> Result<Vec<u8>, Failure> {
    Err(without_feature("PDF", "or print the HTML report from a browser; it has a print layout"))
}

/// Fails with a hint which program can draw pictures.
#[cfg(not(feature = "pdf"))]
pub(crate) fn picture(_: &Document) -> Result<Vec<u8>, Failure> {
    Err(without_feature("PNG", "or take a picture of the HTML report; `--format summary` is text to paste"))
}

#[cfg(not(feature = "pdf"))]
fn without_feature(what: &str, otherwise: &str) -> Failure {
    let build =
        "`cargo build --profile packaged --package plimsoll --features pdf` (about five minutes longer)";
    Failure::usage(format!("this program was built without {what} support"))
        .hint(format!("install the package `plimsoll-pdf`, build the program with {build}, {otherwise}"))
}

#[cfg(feature = "pdf")]
fn moment(time: WallTime) -> ::pdf::UtcDateTime {
    let utc = jiff::Timestamp::from_millisecond(time.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let utc = utc.to_zoned(jiff::tz::TimeZone::UTC);
    // Months, days and times of day are positive numbers of two digits.
    ::pdf::UtcDateTime {
        year: utc.year().into(),
        month: utc.month().unsigned_abs(),
        day: utc.day().unsigned_abs(),
        hour: utc.hour().unsigned_abs(),
        minute: utc.minute().unsigned_abs(),
        second: utc.second().unsigned_abs(),
    }
}
