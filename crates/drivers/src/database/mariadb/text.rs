//! Texts of statements as MariaDB has them: parameters without numbers.

/// A statement to be prepared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PreparedText {
    pub(crate) sql: String,
    /// For each parameter in the text, its index among those of the statement.
    pub(crate) order: Vec<usize>,
}

/// Returns a statement with `?` for `$1`, `$2`, …, and with MariaDB's name for integers of 64 bits.
pub(crate) fn prepared_text(sql: &str) -> PreparedText {
    let sql = sql.replace("AS BIGINT)", "AS SIGNED)");
    let mut text = String::with_capacity(sql.len());
    let mut order = Vec::new();
    let mut parts = sql.split('$');
    text.extend(parts.next());
    for part in parts {
        let n_digits = part.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = part.split_at(n_digits);
        match number.parse::<usize>() {
            Ok(number) => {
                order.push(number.saturating_sub(1));
                text.push('?');
            }
            // The root of a path in JSON.
            Err(_) => text.push('$'),
        }
        text.push_str(rest);
    }
    PreparedText { sql: text, order }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_stand_where_they_are_used() {
        let text = prepared_text("UPDATE t SET a = a - $12, b = b + $12 WHERE c = $1 AND d = $2");
        assert_eq!(text.sql, "UPDATE t SET a = a - ?, b = b + ? WHERE c = ? AND d = ?");
        assert_eq!(text.order, [11, 11, 0, 1]);
        let text = prepared_text("SELECT CAST(SUM(a) AS BIGINT) FROM t");
        assert_eq!((text.sql.as_str(), text.order.len()), ("SELECT CAST(SUM(a) AS SIGNED) FROM t", 0));
    }
}
