//! A line diff of two texts.

/// The maximum number of lines of either text: the work grows with the product.
const LINES_MAX: usize = 2000;

/// Returns the lines that only one of two texts contains, in order, those of the first after `- `, those of
/// the second after `+ `. White space at line ends, empty lines and comments (`#`) are ignored.
///
/// `None` if a text is too long. The common lines are a longest common subsequence.
pub(super) fn changed_lines(first: &str, second: &str) -> Option<Vec<String>> {
    let first = lines(first);
    let second = lines(second);
    if LINES_MAX < first.len().max(second.len()) {
        return None;
    }
    let common = common_lengths(&first, &second);
    let mut i = 0;
    let mut j = 0;
    let mut changed = Vec::new();
    while i < first.len() || j < second.len() {
        let is_common = i < first.len() && j < second.len() && first[i] == second[j];
        let only_in_second = i == first.len() || (j < second.len() && common[i + 1][j] < common[i][j + 1]);
        match (is_common, only_in_second) {
            (true, _) => (i, j) = (i + 1, j + 1),
            (false, true) => {
                changed.push(format!("+ {}", second[j]));
                j += 1;
            }
            (false, false) => {
                changed.push(format!("- {}", first[i]));
                i += 1;
            }
        }
    }
    Some(changed)
}

fn lines(text: &str) -> Vec<&str> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or(line).trim());
    lines.filter(|line| !line.is_empty()).collect()
}

/// Returns at `[i][j]` the number of common lines of the texts from lines i and j on.
pub(super) fn common_lengths(first: &[&str], second: &[&str]) -> Vec<Vec<u32>> {
    let mut common = vec![vec![0; second.len() + 1]; first.len() + 1];
    for i in (0..first.len()).rev() {
        for j in (0..second.len()).rev() {
            common[i][j] = if first[i] == second[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    common
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn differing_lines_are_marked() {
        let usual = "user x;\nhttp {\n    sendfile on;\n    gzip on;\n}\n";
        let ours = "# tuned\nuser x;\nhttp {\n  sendfile on; # as usual\n\n  access_log off;\n}\nend\n";
        assert_eq!(changed_lines(usual, ours).unwrap(), ["- gzip on;", "+ access_log off;", "+ end"]);
        assert_eq!(changed_lines(usual, usual).unwrap(), [""; 0]);
        assert_eq!(changed_lines("", "a").unwrap(), ["+ a"]);
        assert_eq!(changed_lines(&"a\n".repeat(LINES_MAX + 1), ""), None);
    }

    proptest! {
        /// The common lines of both texts have equal number; a text has no difference from itself.
        #[test]
        fn both_texts_have_the_same_number_of_common_lines(first in "[ab\n]{0,30}", second in "[ab\n]{0,30}") {
            let changed = changed_lines(&first, &second).unwrap();
            let count = |sign: char| changed.iter().filter(|line| line.starts_with(sign)).count();
            let first = lines(&first);
            let second = lines(&second);
            prop_assert_eq!(first.len() - count('-'), second.len() - count('+'));
            prop_assert_eq!(changed.is_empty(), first == second);
        }
    }
}
