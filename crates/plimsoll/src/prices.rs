//! Price lists: files of the user's, and what a run has kept of one.

use std::path::Path;

use disclosure::PriceSheet;
use model::{Notes, PriceList, Testbed};

use crate::exit::Failure;
use crate::files;
use crate::tell::warn;

/// The section of a run file that holds the price list of the run: one fact, named as the file was, with its text.
const SECTION: &str = "Price list";

/// Reads the price list that `--price` names, if it does.
pub fn read(path: Option<&Path>) -> Result<Option<PriceSheet>, Failure> {
    Ok(read_with_text(path)?.map(|(sheet, _)| sheet))
}

/// Reads the price list that `--price` names, and adds it to what the operator says, so that the run keeps it.
pub fn read_into(path: Option<&Path>, notes: Notes) -> Result<Notes, Failure> {
    Ok(match read_with_text(path)? {
        Some((sheet, text)) => notes.with(SECTION, &sheet.file, &text),
        None => notes,
    })
}

/// Returns the price list that a run has kept.
pub fn kept(testbed: &Testbed) -> Option<PriceSheet> {
    let section = testbed.sections.iter().find(|section| section.title == SECTION)?;
    let fact = section.facts.first()?;
    // Written by a later version, at worst: the run can be reported without.
    let sheet = sheet(&fact.name, &fact.name, &fact.value);
    sheet.map_err(|failure| warn(format!("the price list of the run: {}", failure.message()))).ok()
}

fn read_with_text(path: Option<&Path>) -> Result<Option<(PriceSheet, String)>, Failure> {
    let Some(path) = path else { return Ok(None) };
    let name = path.display().to_string();
    let text = files::read(path)?;
    let file = path.file_name().map_or(name.clone(), |name| name.to_string_lossy().into_owned());
    Ok(Some((sheet(&name, &file, &text)?, text)))
}

/// Reads a list; `name` is what messages call it, `file` what reports do.
fn sheet(name: &str, file: &str, text: &str) -> Result<PriceSheet, Failure> {
    Ok(PriceSheet {
        list: PriceList::parse(name, text)?,
        file: file.to_owned(),
        blake3: blake3::hash(text.as_bytes()).to_string(),
    })
}
