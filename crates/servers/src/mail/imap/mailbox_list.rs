//! Names of mailboxes that match a pattern (RFC 3501, 6.3.8).

/// Returns whether a name matches a pattern, in which `*` stands for anything and `%` for a part without `/`.
///
/// The time is bounded by the product of the lengths, whatever the wildcards.
pub(super) fn matches_pattern(name: &str, pattern: &[u8]) -> bool {
    let pattern = inbox_in_capitals(pattern);
    let mut places = vec![false; name.len() + 1];
    places[0] = true;
    for sign in pattern {
        let mut next = vec![false; name.len() + 1];
        for (at, is_reached) in places.iter().enumerate() {
            let wildcard = matches!(sign, b'*' | b'%');
            if wildcard {
                // Reached as before, or from the place before by a letter that the wildcard stands for.
                let letter = at.checked_sub(1).map(|before| name.as_bytes()[before]);
                let goes_on = at.checked_sub(1).is_some_and(|before| next[before]);
                next[at] = *is_reached || goes_on && (sign == b'*' || letter != Some(b'/'));
            } else if *is_reached && name.as_bytes().get(at) == Some(&sign) {
                next[at + 1] = true;
            }
        }
        places = next;
    }
    places[name.len()]
}

/// Returns a pattern in which `INBOX` has the case of the mailbox.
fn inbox_in_capitals(pattern: &[u8]) -> Vec<u8> {
    if pattern.eq_ignore_ascii_case(b"INBOX") { pattern.to_ascii_uppercase() } else { pattern.to_vec() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_stand_for_parts_of_names() {
        for (name, pattern, is_match) in [
            ("INBOX", "inbox", true),
            ("Sent", "sent", false),
            ("Sent", "*", true),
            ("Sent", "%", true),
            ("Work/Old", "*", true),
            ("Work/Old", "%", false),
            ("Work/Old", "%/%", true),
            ("Work/Old", "Work/%", true),
            ("Work/Old", "W*d", true),
            ("Work/Old", "W%d", false),
            ("Work/Old", "*/*/*", false),
            ("Sent", "Sent*", true),
            ("Sent", "Sen", false),
            ("Sent", "", false),
        ] {
            assert_eq!(matches_pattern(name, pattern.as_bytes()), is_match, "{name} {pattern}");
        }
    }

    /// Patterns of many wildcards take no longer.
    #[test]
    fn hostile_patterns_end() {
        let name = "a".repeat(255);
        assert!(!matches_pattern(&name, "*a".repeat(1_000).as_bytes()));
        assert!(matches_pattern(&name, "%a*".repeat(100).as_bytes()));
    }
}
