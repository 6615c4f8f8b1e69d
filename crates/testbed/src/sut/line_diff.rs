//! Which lines of a text differ from another's.

/// The most lines of either text that are compared: the work grows with the product.
const LINES_MAX: usize = 2000;

/// Returns the lines that only one of two texts has, in their order, those of the first behind `- `, those of the
/// second behind `+ `. White space at the ends of lines, empty lines and what stands behind `#` do not count.
///
/// `None` if a text is too long to be compared. The lines that both have are a longest common subsequence.
pub fn changed_lines(first: &str, second: &str) -> Option<Vec<String>> {
    let (first, second) = (lines(first), lines(second));
    if LINES_MAX < first.len().max(second.len()) {
        return None;
    }
    let common = common_lengths(&first, &second);
    let (mut i, mut j) = (0, 0);
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

/// Returns at `[i][j]` how many lines the texts have in common from their lines i and j on.
fn common_lengths(first: &[&str], second: &[&str]) -> Vec<Vec<u32>> {
    let mut common = vec![vec![0; second.len() + 1]; first.len() + 1];
    for i in (0..first.len()).rev() {
        for j in (0..second.len()).rev() {
            common[i][j] = match first[i] == second[j] {
                true => common[i + 1][j + 1] + 1,
                false => common[i + 1][j].max(common[i][j + 1]),
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
    fn lines_that_only_one_text_has_are_marked() {
        let usual = "user x;\nhttp {\n    sendfile on;\n    gzip on;\n}\n";
        let ours = "# tuned\nuser x;\nhttp {\n  sendfile on; # as usual\n\n  access_log off;\n}\nend\n";
        assert_eq!(changed_lines(usual, ours).unwrap(), ["- gzip on;", "+ access_log off;", "+ end"]);
        assert_eq!(changed_lines(usual, usual).unwrap(), [""; 0]);
        assert_eq!(changed_lines("", "a").unwrap(), ["+ a"]);
        assert_eq!(changed_lines(&"a\n".repeat(LINES_MAX + 1), ""), None);
    }

    proptest! {
        /// What is left of both texts has the same length; a text differs from itself in nothing.
        #[test]
        fn as_many_lines_are_left_of_one_text_as_of_the_other(first in "[ab\n]{0,30}", second in "[ab\n]{0,30}") {
            let changed = changed_lines(&first, &second).unwrap();
            let count = |sign: char| changed.iter().filter(|line| line.starts_with(sign)).count();
            let (first, second) = (lines(&first), lines(&second));
            prop_assert_eq!(first.len() - count('-'), second.len() - count('+'));
            prop_assert_eq!(changed.is_empty(), first == second);
        }
    }
}
