//! Redaction of text that identifies a person, a machine or a network.
//!
//! Addresses, hardware addresses and UUIDs are recognized by their form; this machine's name, its user and
//! its id by their text. Loopback addresses identify nothing and are kept.
//!
//! A redacted address is shown with four digits derived from the address and this machine's id: two servers
//! can be told apart, and recognized in later runs from this machine, but not identified.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use model::{Fact, FactState, Privacy};

use super::machine_files::MachineFiles;
use super::system;

/// Names that many machines have, and words of configurations: redacting them would hide nothing and damage
/// texts.
const COMMON_NAMES: &[&str] = &[
    "apache",
    "debian",
    "default",
    "docker",
    "fedora",
    "host",
    "http",
    "lab",
    "linux",
    "localdomain",
    "localhost",
    "mail",
    "nginx",
    "node",
    "none",
    "proxy",
    "root",
    "server",
    "test",
    "ubuntu",
    "vm",
    "web",
    "www",
];

/// Users below this id belong to the system. Source: Linux Standard Base, user id ranges; Debian policy,
/// 9.2.2.
const PERSON_UID_MIN: u32 = 1000;

/// The unprivileged user `nobody`. Source: Debian policy, 9.2.2.
const NOBODY_UID: u32 = 65_534;

/// A redactor of text that identifies a person, a machine or a network.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    /// Words and their replacements. `None` redacts nothing.
    words: Option<Vec<(String, String)>>,
    /// This machine's id, which is secret; empty if it has none.
    salt: String,
}

impl Redactor {
    /// Creates a redactor for this machine; with `disclose_identity` it redacts nothing.
    pub fn of(files: &MachineFiles) -> Redactor {
        if files.input.disclose_identity {
            return Redactor::default();
        }
        let mut words: Vec<(String, &str)> = Vec::new();
        let names = ["/proc/sys/kernel/hostname", "/etc/hostname"].map(|path| files.text(path).ok());
        words.extend(names.into_iter().flatten().map(|name| (name, "[host name]")));
        let salt = files.text("/etc/machine-id").unwrap_or_default();
        words.push((salt.clone(), "[machine id]"));
        let person = system::user(files).filter(|(uid, _)| PERSON_UID_MIN <= *uid && *uid != NOBODY_UID);
        words.extend(person.map(|(_, name)| (name, "[user]")));
        words.retain(|(word, _)| is_identifying(word));
        let words = words.into_iter().map(|(word, what)| (word, what.to_owned())).collect();
        Redactor { words: Some(words), salt }
    }

    /// Adds a name to redact, with the kind of thing it names. Addresses need not be added.
    pub fn and(mut self, name: &str, what: &str) -> Redactor {
        let what = self.label(what, name);
        let is_address = name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
        if let Some(words) = self.words.as_mut().filter(|_| is_identifying(name) && !is_address) {
            words.push((name.to_owned(), what));
        }
        self
    }

    /// Redacts a fact as its field requires; a fact that lost text is marked.
    pub fn fact(&self, fact: Fact, privacy: Privacy) -> Fact {
        if fact.state == FactState::NotDisclosed || self.words.is_none() {
            return fact;
        }
        let value = match privacy {
            Privacy::Open => return fact,
            Privacy::Text => self.text(&fact.value),
            Privacy::Whole(what) => format!("[{what}]"),
        };
        let state = if value == fact.value { fact.state } else { FactState::Redacted };
        Fact { value, state, ..fact }
    }

    /// Redacts a text.
    pub fn text(&self, text: &str) -> String {
        let Some(words) = &self.words else { return text.to_owned() };
        let pieces =
            text.split_inclusive(|c| !is_token(c)).map(|piece| self.token(piece)).collect::<String>();
        words.iter().fold(pieces, |text, (word, what)| without_word(&text, word, what))
    }

    /// Redacts a token with at most one following character that is not part of it.
    fn token(&self, piece: &str) -> String {
        let token = piece.trim_end_matches(|c| !is_token(c));
        let core = token.trim_matches([':', '.', '-']);
        let behind = &piece[token.len()..];
        // An address may start or end with colons, which then leave no text around it.
        if is_named_ipv6(token) {
            return self.label("address", token) + behind;
        }
        let whole = match core {
            _ if is_uuid(core) => "[UUID]".to_owned(),
            _ if is_hardware_address(core) => "[hardware address]".to_owned(),
            _ if is_named_ipv6(core) => self.label("address", core),
            _ => return self.without_ipv4(token) + behind,
        };
        token.replacen(core, &whole, 1) + behind
    }

    /// Redacts IPv4 addresses in a token such as `10.0.0.5:8080`.
    fn without_ipv4(&self, token: &str) -> String {
        let is_part = |c: char| c.is_ascii_digit() || c == '.';
        let mut out = String::new();
        for part in token.split_inclusive(|c| !is_part(c)) {
            let core = part.trim_end_matches(|c| !is_part(c)).trim_end_matches('.');
            let stands_apart = !out.ends_with(|c: char| c.is_ascii_alphanumeric());
            if stands_apart && core.parse().is_ok_and(is_named_ipv4) {
                out += &part.replacen(core, &self.label("address", core), 1);
            } else {
                out += part;
            }
        }
        out
    }

    /// Returns the replacement of a secret: `[address 3f2a]`.
    fn label(&self, what: &str, secret: &str) -> String {
        if self.salt.is_empty() {
            format!("[{what}]")
        } else {
            format!("[{what} {:04x}]", digest(&format!("{}{secret}", self.salt)))
        }
    }
}

/// FNV-1a in 64 bits, folded to 16: so short that thousands of addresses share each value. Source: Fowler,
/// Noll, Vo; draft-eastlake-fnv.
fn digest(text: &str) -> u16 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    (hash ^ (hash >> 16) ^ (hash >> 32) ^ (hash >> 48)) as u16
}

/// Returns whether a word identifies one machine or person.
fn is_identifying(word: &str) -> bool {
    !word.is_empty() && !COMMON_NAMES.contains(&word)
}

/// Returns whether a character can be part of an address or UUID.
fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || ".:-".contains(c)
}

/// Returns whether an address identifies a machine: not loopback, any, broadcast, multicast or a mask.
fn is_named_ipv4(address: Ipv4Addr) -> bool {
    let [first, ..] = address.octets();
    !(address.is_loopback() || first == 0 || 224 <= first)
}

fn is_named_ipv6(text: &str) -> bool {
    let address = text.parse::<Ipv6Addr>();
    address
        .is_ok_and(|address| !(address.is_loopback() || address.is_unspecified() || address.is_multicast()))
}

fn is_hardware_address(text: &str) -> bool {
    let is_address = |separator: char| {
        let pairs: Vec<&str> = text.split(separator).collect();
        pairs.len() == 6 && pairs.iter().all(|pair| pair.len() == 2 && is_hex(pair))
    };
    (is_address(':') || is_address('-')) && text.chars().any(|c| !"0:-fF".contains(c))
}

/// Returns whether a text consists of 8, 4, 4, 4 and 12 digits separated by hyphens.
fn is_uuid(text: &str) -> bool {
    let lengths: Vec<usize> = text.split('-').map(str::len).collect();
    lengths == [8, 4, 4, 4, 12] && text.split('-').all(is_hex)
}

fn is_hex(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_hexdigit())
}

/// Replaces a whole word by `what`.
fn without_word(text: &str, word: &str, what: &str) -> String {
    let is_inside = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let before = &rest[..at];
        let after = &rest[at + word.len()..];
        let begins = before.chars().next_back().or(out.chars().next_back());
        let stands_alone = !begins.is_some_and(is_inside) && !after.starts_with(is_inside);
        out += before;
        out += if stands_alone { what } else { word };
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::InventoryInput;
    use super::super::machine_files::testing;
    use super::*;

    const FILES: &[(&str, &str)] = &[
        ("/proc/sys/kernel/hostname", "zeus-7\n"),
        ("/proc/self/status", "Name:\tx\nUid:\t1000\t1000\t1000\t1000\n"),
        ("/etc/passwd", "root:x:0:0::/root:/bin/sh\nada:x:1000:1000::/home/ada:/bin/sh\n"),
    ];

    fn redactor() -> Redactor {
        testing::with(FILES, Redactor::of)
    }

    #[test]
    fn identifying_text_is_redacted_and_the_rest_is_kept() {
        for (text, shown) in [
            ("listen 10.0.0.5:8080;", "listen [address]:8080;"),
            ("http://192.168.1.9/x 10.1.2.3/24", "http://[address]/x [address]/24"),
            ("10.0.0.1-10.0.0.9, 10.0.0.7.", "[address]-[address], [address]."),
            ("http://127.0.0.1:80/ 0.0.0.0 255.255.255.0", "http://127.0.0.1:80/ 0.0.0.0 255.255.255.0"),
            ("addr fd00::2/64 [fe80::1]:80 ::1 fe80::", "addr [address]/64 [[address]]:80 ::1 [address]"),
            ("ether 02:fc:00:00:00:01 ff:ff:ff:ff:ff:ff", "ether [hardware address] ff:ff:ff:ff:ff:ff"),
            ("root=UUID=9b641ba9-4999-4ea8-9865-8ce8e1d92224 ro", "root=UUID=[UUID] ro"),
            ("/home/ada/x adam ada", "/home/[user]/x adam [user]"),
            ("zeus-7.lab zeus-77", "[host name].lab zeus-77"),
            (
                "nginx/1.22.1 v1.2.3.4 6.1.0-18-amd64 12:30:05",
                "nginx/1.22.1 v1.2.3.4 6.1.0-18-amd64 12:30:05",
            ),
            ("", ""),
        ] {
            assert_eq!(redactor().text(text), shown, "{text}");
        }
    }

    #[test]
    fn a_redacted_fact_is_marked() {
        let fact = |value: &str| Fact::found("x", value);
        let whole = redactor().fact(fact("ABC123"), Privacy::Whole("serial number"));
        assert_eq!((&*whole.value, whole.state), ("[serial number]", FactState::Redacted));
        let kept = redactor().fact(fact("quiet"), Privacy::Text);
        assert_eq!((&*kept.value, kept.state), ("quiet", FactState::Found));
        let missing = Fact { state: FactState::NotDisclosed, ..fact("permission denied") };
        assert_eq!(redactor().fact(missing.clone(), Privacy::Whole("serial number")), missing);
    }

    #[test]
    fn nothing_is_redacted_on_request() {
        let input = InventoryInput { disclose_identity: true, ..InventoryInput::default() };
        let open = testing::with_asked(FILES, &input, Redactor::of);
        assert_eq!(open.text("ada@zeus-7 10.0.0.5"), "ada@zeus-7 10.0.0.5");
        let fact = open.fact(Fact::found("serial", "ABC"), Privacy::Whole("serial number"));
        assert_eq!((&*fact.value, fact.state), ("ABC", FactState::Found));
    }

    /// Goal: servers can be told apart and recognized, without being identified.
    #[test]
    fn addresses_have_distinct_digests() {
        let with_id = |id: &str| testing::with(&[("/etc/machine-id", id)], Redactor::of);
        let one = with_id("3d1219c7c4c5404aaa1f6d2a48adfda4\n");
        let [a, b] = ["10.0.0.5", "10.0.0.6"].map(|address| one.text(address));
        assert!(a != b && a.len() == "[address 3f2a]".len(), "{a} {b}");
        assert_eq!(one.text("10.0.0.5:80 3d1219c7c4c5404aaa1f6d2a48adfda4"), format!("{a}:80 [machine id]"));
        assert_ne!(
            with_id("4d1219c7c4c5404aaa1f6d2a48adfda4").text("10.0.0.5"),
            a,
            "the digest depends on the machine id"
        );
        assert!(
            one.and("shop.example", "server").text("http://shop.example/").starts_with("http://[server ")
        );
        // FNV-1a of `a` is af63dc4c8601ec8c.
        assert_eq!(digest("a"), 0xaf63 ^ 0xdc4c ^ 0x8601 ^ 0xec8c);
    }

    #[test]
    fn common_names_are_not_redacted() {
        let files = [("/proc/sys/kernel/hostname", "server\n")];
        assert_eq!(testing::with(&files, Redactor::of).text("server { }"), "server { }");
        for here in ["localhost", "127.0.0.1", "[::1]"] {
            let url = format!("http://{here}/");
            assert_eq!(redactor().and(here, "server").text(&url), url);
        }
    }

    proptest! {
        #[test]
        fn addresses_are_redacted_in_any_text(text in "\\PC{0,40}", address: u32) {
            let address = Ipv4Addr::from(address);
            let shown = redactor().text(&format!("{text} {address} {text}"));
            prop_assert!(!is_named_ipv4(address) || !shown.contains(&format!(" {address} ")), "{shown}");
        }
    }
}
