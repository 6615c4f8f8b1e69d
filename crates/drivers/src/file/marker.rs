//! The marker of a run's folder: a file that says whose the folder is, and which content the files in it have.

use files::{BLOCK_BYTES, FileContent, FileId, FileVersion};
use units::mix_bits;

/// The name of the marker in the folder.
pub(crate) const MARKER_NAME: &str = ".plimsoll";

/// The beginning of its text.
pub(crate) const MARKER_TEXT: &str = "\
Plimsoll keeps the files of a file server's clients in this folder, and removes them.
Do not keep anything else here.
content ";

/// The most bytes of a marker that are read.
pub(crate) const MARKER_BYTES_MAX: u32 = 1024;

/// Returns the text of a marker: of files with this content, or of files of which some have another. All texts are of one
/// length, so that one is written over another.
pub(crate) fn marker_text(content: Option<&FileContent>) -> String {
    let number = content.map_or(0, content_number);
    format!("{MARKER_TEXT}{number:016x}\n")
}

/// Returns a number of a content, which depends on all of it.
fn content_number(content: &FileContent) -> u64 {
    let version = FileVersion { file: FileId(0), generation: 0 };
    let mut block = [0; BLOCK_BYTES];
    content.fill(version, 0, &mut block);
    let words = block.chunks_exact(8).map(|word| word.try_into().map_or(0, u64::from_le_bytes));
    words.fold(1, |sum, word| mix_bits(sum ^ word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_differs_by_its_content_and_keeps_its_length() {
        let texts: Vec<String> = [None, Some(1), Some(2)]
            .map(|seed| marker_text(seed.map(|seed| FileContent::new(seed, 50)).as_ref()))
            .into();
        let mut different = texts.clone();
        different.sort();
        different.dedup();
        assert_eq!(different.len(), 3, "{texts:?}");
        assert!(texts.iter().all(|text| text.starts_with(MARKER_TEXT) && text.len() == texts[0].len()));
        assert!(texts[0].len() <= MARKER_BYTES_MAX as usize);
    }
}
