//! Price lists: files of the user's.

use std::path::Path;

use disclosure::PriceSheet;
use model::PriceList;

use crate::exit::Failure;

/// Reads the price list that `--price` names, if it does.
pub fn read(path: Option<&Path>) -> Result<Option<PriceSheet>, Failure> {
    let Some(path) = path else { return Ok(None) };
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("cannot read `{name}`: {error}")))?;
    Ok(Some(PriceSheet {
        list: PriceList::parse(&name, &text)?,
        file: path.file_name().map_or(name, |name| name.to_string_lossy().into_owned()),
        blake3: blake3::hash(text.as_bytes()).to_string(),
    }))
}
