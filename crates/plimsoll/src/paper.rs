//! Reports on paper: PDF, where the program was built with it.

use disclosure::Document;
use units::WallTime;

use crate::exit::Failure;

/// Sets a document in type; `made` is the date that the PDF bears.
#[cfg(feature = "pdf")]
pub fn pdf(document: &Document, made: WallTime) -> Result<Vec<u8>, Failure> {
    let pdf = ::pdf::render(document, moment(made))
        .map_err(|error| Failure::new(crate::exit::Exit::Internal, error))?;
    for remark in &pdf.remarks {
        crate::tell::warn(format!("PDF: {remark}"));
    }
    Ok(pdf.bytes)
}

/// Says how to get a program that can do it.
#[cfg(not(feature = "pdf"))]
pub fn pdf(_: &Document, _: WallTime) -> Result<Vec<u8>, Failure> {
    Err(Failure::usage("this program was built without PDF").hint(
        "build it with `cargo build --release --package plimsoll --features pdf` (some five minutes more), or let a \
         browser print the HTML report, which is laid out for paper",
    ))
}

#[cfg(feature = "pdf")]
fn moment(time: WallTime) -> ::pdf::Moment {
    let utc = jiff::Timestamp::from_millisecond(time.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let utc = utc.to_zoned(jiff::tz::TimeZone::UTC);
    // Months, days and times of day are positive numbers of two digits.
    ::pdf::Moment {
        year: utc.year().into(),
        month: utc.month().unsigned_abs(),
        day: utc.day().unsigned_abs(),
        hour: utc.hour().unsigned_abs(),
        minute: utc.minute().unsigned_abs(),
        second: utc.second().unsigned_abs(),
    }
}
