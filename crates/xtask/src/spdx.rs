//! License expressions: `(MIT OR Apache-2.0) AND Unicode-3.0`.
//!
//! Source: SPDX specification 2.3, annex D. `AND` binds tighter than `OR`; the `/` of old manifests means `OR`.

use anyhow::{Result, bail};

/// Returns whether an expression can be satisfied with allowed licenses.
///
/// A license with an exception (`Apache-2.0 WITH LLVM-exception`) is allowed if it is listed including the
/// exception.
pub(crate) fn fulfilled(expression: &str, allowed: &dyn Fn(&str) -> bool) -> Result<bool> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words: Vec<&str> = spaced.split_whitespace().rev().collect();
    let answer = either(&mut words, allowed)?;
    match words.last() {
        None => Ok(answer),
        Some(word) => bail!("expected the end, found `{word}` in license `{expression}`"),
    }
}

/// `words` is a stack: the next word is the last.
fn either(words: &mut Vec<&str>, allowed: &dyn Fn(&str) -> bool) -> Result<bool> {
    let mut answer = both(words, allowed)?;
    while words.last() == Some(&"OR") {
        words.pop();
        answer |= both(words, allowed)?;
    }
    Ok(answer)
}

fn both(words: &mut Vec<&str>, allowed: &dyn Fn(&str) -> bool) -> Result<bool> {
    let mut answer = one(words, allowed)?;
    while words.last() == Some(&"AND") {
        words.pop();
        answer &= one(words, allowed)?;
    }
    Ok(answer)
}

fn one(words: &mut Vec<&str>, allowed: &dyn Fn(&str) -> bool) -> Result<bool> {
    match words.pop() {
        Some("(") => {
            let answer = either(words, allowed)?;
            match words.pop() {
                Some(")") => Ok(answer),
                other => bail!("expected `)`, found {other:?}"),
            }
        }
        Some(word) if !["OR", "AND", "WITH", ")"].contains(&word) => {
            if words.last() != Some(&"WITH") {
                return Ok(allowed(word));
            }
            words.pop();
            let Some(exception) = words.pop() else { bail!("expected an exception after `WITH`") };
            Ok(allowed(&format!("{word} WITH {exception}")))
        }
        other => bail!("expected a license, found {other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expression: &str, expected: bool) {
        let allowed = |name: &str| ["MIT", "Zlib", "Apache-2.0 WITH LLVM-exception"].contains(&name);
        assert_eq!(fulfilled(expression, &allowed).unwrap(), expected, "{expression}");
    }

    #[test]
    fn one_alternative_is_enough_and_every_condition_counts() {
        check("MIT", true);
        check("GPL-3.0", false);
        check("GPL-3.0 OR MIT", true);
        check("GPL-3.0/MIT", true);
        check("MIT AND GPL-3.0", false);
        check("MIT AND Zlib", true);
    }

    #[test]
    fn and_binds_tighter_than_or_unless_there_are_parentheses() {
        check("MIT OR Zlib AND GPL-3.0", true);
        check("(MIT OR Zlib) AND GPL-3.0", false);
        check("(GPL-3.0 OR (MIT)) AND Zlib", true);
    }

    #[test]
    fn an_exception_belongs_to_its_license() {
        check("Apache-2.0 WITH LLVM-exception", true);
        check("MIT WITH LLVM-exception", false);
        check("Apache-2.0", false);
    }

    #[test]
    fn invalid_expressions_are_errors() {
        for text in ["", "MIT OR", "MIT Zlib", "(MIT", "MIT)", "OR", "MIT WITH"] {
            assert!(fulfilled(text, &|_| true).is_err(), "{text}");
        }
    }
}
