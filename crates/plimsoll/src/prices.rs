//! Price lists: the user's files, and the copies stored in run files.

use std::path::Path;

use disclosure::PriceSheet;
use model::{Notes, PriceList, Testbed};

use crate::exit::Failure;
use crate::files;
use crate::stderr::warn;

/// Section of a run file that stores its price list: one fact, with the file name as name and the text as value.
const SECTION: &str = "Price list";

/// Reads the price list of `--price`, if given.
pub(crate) fn read(path: Option<&Path>) -> Result<Option<PriceSheet>, Failure> {
    Ok(read_with_text(path)?.map(|(sheet, _)| sheet))
}

/// Reads the price list of `--price`, if given, and adds it to the operator's notes, so that the run file stores it.
pub(crate) fn read_into(path: Option<&Path>, notes: Notes) -> Result<Notes, Failure> {
    Ok(match read_with_text(path)? {
        Some((sheet, text)) => notes.with(SECTION, &sheet.file, &text),
        None => notes,
    })
}

/// Returns the price list stored in a run file.
pub(crate) fn stored_in(testbed: &Testbed) -> Option<PriceSheet> {
    let section = testbed.sections.iter().find(|section| section.title == SECTION)?;
    let fact = section.facts.first()?;
    // At worst, a later version wrote it: the run can be reported without it.
    let sheet = sheet(&fact.name, &fact.name, &fact.value);
    sheet.map_err(|failure| warn(format!("price list of the run: {}", failure.message()))).ok()
}

fn read_with_text(path: Option<&Path>) -> Result<Option<(PriceSheet, String)>, Failure> {
    let Some(path) = path else { return Ok(None) };
    let name = path.display().to_string();
    let text = files::read(path)?;
    let file = path.file_name().map_or(name.clone(), |name| name.to_string_lossy().into_owned());
    Ok(Some((sheet(&name, &file, &text)?, text)))
}

/// Reads a price list; messages call it `name`, reports call it `file`.
fn sheet(name: &str, file: &str, text: &str) -> Result<PriceSheet, Failure> {
    Ok(PriceSheet {
        list: PriceList::parse(name, text)?,
        file: file.to_owned(),
        blake3: blake3::hash(text.as_bytes()).to_string(),
    })
}
