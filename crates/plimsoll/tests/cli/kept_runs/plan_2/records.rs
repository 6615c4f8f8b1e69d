//! Records as they were stored with plan format 2, in today's form. Numbers are copied; few change their place.

/// Converts an interval of version 1, or of version 2 with connections that were left open.
pub(super) fn convert_interval(old: &[u8]) -> Vec<u8> {
    let mut from = Numbers(old);
    let mut into = Vec::new();
    let version = from.next();
    put(7, &mut into);
    let flow: Vec<u128> = (0..14).map(|_| from.next()).collect();
    let (counts, integrals) = flow.split_at(11);
    counts.iter().for_each(|count| put(*count, &mut into));
    let left_open = into.len();
    integrals.iter().for_each(|integral| put(*integral, &mut into));
    let n_kinds = from.copy(&mut into);
    for _ in 0..n_kinds {
        let n = convert_moments(0, &mut from, &mut into);
        // Connect, first byte, reply bytes, body bytes.
        put(4, &mut into);
        (0..4).fold(n, |n, _| convert_moments(n, &mut from, &mut into));
        let n_failed = from.copy(&mut into);
        for _ in 0..n_failed {
            let _outcome = from.copy(&mut into);
            let _n = from.copy(&mut into);
            let _bytes = from.next();
        }
        // No protocol codes.
        put(0, &mut into);
        put(0, &mut into);
        let _in_flight = from.copy(&mut into);
    }
    let n_units = from.copy(&mut into);
    from.copy_several(2 * n_units, &mut into);
    // Pauses were not recorded as drawn, and users got no notices.
    put(0, &mut into);
    put(0, &mut into);
    // Operations were not counted by client: moments of no values.
    put(1, &mut into);
    (0..3).for_each(|_| from.copy_bytes(&mut into));
    // Three numbers of the generator's health.
    from.copy_several(3, &mut into);
    let has_sut = from.copy(&mut into);
    from.copy_several(2 * has_sut, &mut into);
    let mut number = Vec::new();
    put(if version == 1 { 0 } else { from.next() }, &mut number);
    // Nobody waited for users: moments of no values, all alike.
    put(1, &mut number);
    // No pauses counted from due times.
    put(0, &mut number);
    into.splice(left_open..left_open, number);
    assert!(from.0.is_empty(), "{} bytes are left", from.0.len());
    into
}

/// Converts detail of version 1.
pub(super) fn convert_detail(old: &[u8]) -> Vec<u8> {
    let mut from = Numbers(old);
    let mut into = Vec::new();
    assert_eq!(from.next(), 1);
    put(4, &mut into);
    let n_kinds = from.copy(&mut into);
    (0..n_kinds).for_each(|_| from.copy_bytes(&mut into));
    let n_failed = from.copy(&mut into);
    for _ in 0..n_failed {
        let _kind = from.copy(&mut into);
        let _outcome = from.copy(&mut into);
        from.copy_bytes(&mut into);
    }
    // One spread, that of the time to connect.
    put(1, &mut into);
    from.copy_bytes(&mut into);
    // Neither pauses nor notices.
    put(0, &mut into);
    put(0, &mut into);
    assert!(from.0.is_empty(), "{} bytes are left", from.0.len());
    into
}

/// Copies moments; their n is relative to the one before it. Returns their n.
fn convert_moments(n_before: u128, from: &mut Numbers, into: &mut Vec<u8>) -> u128 {
    let first = from.copy(into);
    let position = first >> 1;
    let is_constant = first & 1 == 1;
    let distance = position.div_ceil(2);
    let n = if position % 2 == 1 { n_before - distance } else { n_before + distance };
    let n_numbers = match (n, is_constant) {
        (0, _) => 0,
        (_, true) => 1,
        (_, false) => 4,
    };
    from.copy_several(n_numbers, into);
    n
}

/// Numbers of variable length: groups of seven bits, the lowest first; the top bit says that more follow.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn next(&mut self) -> u128 {
        let mut number = 0;
        for shift in (0..).step_by(7) {
            let (byte, rest) = self.0.split_first().unwrap();
            self.0 = rest;
            number |= u128::from(byte & 0x7f) << shift;
            if *byte < 0x80 {
                break;
            }
        }
        number
    }

    fn copy(&mut self, into: &mut Vec<u8>) -> u128 {
        let number = self.next();
        put(number, into);
        number
    }

    fn copy_several(&mut self, n: u128, into: &mut Vec<u8>) {
        for _ in 0..n {
            self.copy(into);
        }
    }

    /// Copies bytes behind their length.
    fn copy_bytes(&mut self, into: &mut Vec<u8>) {
        let length = self.copy(into) as usize;
        let (bytes, rest) = self.0.split_at(length);
        into.extend_from_slice(bytes);
        self.0 = rest;
    }
}

fn put(mut number: u128, into: &mut Vec<u8>) {
    while 0x80 <= number {
        into.push(number as u8 | 0x80);
        number >>= 7;
    }
    into.push(number as u8);
}
