//! Values that a run chose for itself, ports and folders, and texts without them.

use model::{RUN_VALUES, Testbed};

/// The fact with the folder of the file set, which may have been asked for: only there the folder is not masked.
const FILE_SET: (&str, &str) = ("file set in", "root");

/// Texts before a number that changes from run to run: of the server's folder, or a port. For runs that did not
/// record their values.
const BEFORE_NUMBERS: [&str; 4] = ["plimsoll-sut-", "127.0.0.1:", "127.0.0.2:", "127.0.0.2 parent "];

/// The values of one run by their names, the longest first: one folder may be inside another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RunValues<'a> {
    values: Vec<(&'a str, &'a str)>,
    /// Whether the run recorded them itself.
    are_recorded: bool,
}

impl<'a> RunValues<'a> {
    /// Returns the values that a run recorded; of an older run the ports of its server.
    pub(super) fn of(testbed: &'a Testbed) -> RunValues<'a> {
        let section = testbed.sections.iter().find(|section| section.title == RUN_VALUES);
        let mut values: Vec<(&str, &str)> = match section {
            Some(section) => {
                section.facts.iter().map(|fact| (fact.name.as_str(), fact.value.as_str())).collect()
            }
            None => ports(testbed).collect(),
        };
        values.retain(|(_, value)| !value.is_empty());
        values.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
        RunValues { values, are_recorded: section.is_some() }
    }

    /// Returns the text of a fact with these values replaced by their names, in braces as in recipes.
    pub(super) fn masked(&self, text: &str, fact: &str) -> String {
        let is_kept = |name: &str| (fact, name) == FILE_SET;
        let values = self.values.iter().filter(|(name, _)| !is_kept(name));
        let masked = values.fold(text.to_owned(), |text, (name, value)| without(&text, value, name));
        if self.are_recorded {
            masked
        } else {
            BEFORE_NUMBERS.iter().fold(masked, |text, before| without_number_after(&text, before))
        }
    }
}

/// Returns the ports of server and accelerator.
fn ports(testbed: &Testbed) -> impl Iterator<Item = (&'static str, &str)> {
    let of_section = |(title, name): (&'static str, &'static str)| {
        let section = testbed.sections.iter().find(move |section| section.title == title)?;
        let address = &section.facts.iter().find(|fact| fact.name == "address")?.value;
        let (_, port) = address.trim_end_matches('/').rsplit_once(':')?;
        port.parse::<u16>().ok().map(|_| (name, port))
    };
    [("Server", "port"), ("Accelerator", "accelerator_port")].into_iter().filter_map(of_section)
}

/// Replaces a value wherever it is a whole token.
fn without(text: &str, value: &str, name: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(value) {
        let before = &rest[..at];
        let after = &rest[at + value.len()..];
        plain += before;
        if joins_before(&plain, value) || joins_after(value, after) {
            plain += value;
        } else {
            plain += &format!("{{{name}}}");
        }
        rest = after;
    }
    plain + rest
}

/// Returns whether a text and the value behind it are one number or word.
fn joins_before(text: &str, value: &str) -> bool {
    let mut before = text.chars().rev();
    match (before.next(), value.chars().next()) {
        (Some('.'), Some(first)) => {
            first.is_ascii_digit() && before.next().is_some_and(|c| c.is_ascii_digit())
        }
        (Some(last), Some(first)) => is_of_word(last) && is_of_word(first),
        _ => false,
    }
}

/// Returns whether a value and the text behind it are one number or word.
fn joins_after(value: &str, text: &str) -> bool {
    let mut after = text.chars();
    match (value.chars().next_back(), after.next()) {
        (Some(last), Some('.')) => last.is_ascii_digit() && after.next().is_some_and(|c| c.is_ascii_digit()),
        (Some(last), Some(first)) => is_of_word(last) && is_of_word(first),
        _ => false,
    }
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Replaces the digits and hyphens that follow a text, everywhere.
fn without_number_after(value: &str, before: &str) -> String {
    let mut parts = value.split(before);
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str(before);
        // A masked value is not followed by a number.
        if !part.starts_with('{') {
            plain.push('…');
        }
        plain.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-'));
    }
    plain
}

#[cfg(test)]
mod tests {
    use model::{Fact, FactSection};

    use super::super::plain_value;
    use super::*;

    fn recorded(port: &str, folder: &str) -> Testbed {
        let facts = vec![
            Fact::found("port", port),
            Fact::found("work_dir", folder),
            Fact::found("root", &format!("{folder}/root")),
        ];
        Testbed { sections: vec![FactSection { title: RUN_VALUES.to_owned(), facts }] }
    }

    fn plain(testbed: &Testbed, text: &str) -> String {
        plain_value(testbed, &FactSection::new("Server", []), &Fact::found("command line", text))
    }

    /// The reported case: `server.port = 35913` is no `address:port`.
    #[test]
    fn a_port_is_masked_wherever_it_is_a_whole_token() {
        let one = recorded("35913", "/dev/shm/a-1");
        let other = recorded("41002", "/dev/shm/a-12");
        for template in
            ["server.port = P", "listen P;", "127.0.0.1:P", "host 127.0.0.2 parent P 0", "[P]", "P"]
        {
            let text = |port: &str| template.replace('P', port);
            assert_eq!(plain(&one, &text("35913")), plain(&other, &text("41002")), "{template}");
            assert_eq!(plain(&one, &text("35913")), text("{port}"));
        }
        for whole in ["135913", "359130", "0.35913", "35913.5", "a35913", "35913_max"] {
            assert_eq!(plain(&one, whole), whole);
        }
        assert_eq!(plain(&one, "on port 35913."), "on port {port}.");
        assert_ne!(plain(&one, "workers 1"), plain(&other, "workers 2"));
    }

    #[test]
    fn folders_are_masked_the_inner_one_first() {
        let one = recorded("35913", "/dev/shm/a-1");
        let other = recorded("41002", "/dev/shm/a-12");
        let text = |folder: &str| format!("pid {folder}/server.pid; root \"{folder}/root\"; -p{folder}");
        assert_eq!(plain(&one, &text("/dev/shm/a-1")), plain(&other, &text("/dev/shm/a-12")));
        assert_eq!(
            plain(&one, &text("/dev/shm/a-1")),
            "pid {work_dir}/server.pid; root \"{root}\"; -p{work_dir}"
        );
        assert_eq!(plain(&one, "/dev/shm/a-12/x"), "/dev/shm/a-12/x", "the folder of another run");
    }

    /// A file set on another disk was asked for to compare disks.
    #[test]
    fn the_folder_of_the_file_set_is_shown_in_its_own_fact() {
        let testbed = recorded("35913", "/dev/shm/a-1");
        let section = FactSection::new("Server", []);
        let of = |name: &str| plain_value(&testbed, &section, &Fact::found(name, "/dev/shm/a-1/root"));
        assert_eq!((of("file set in"), of("command line")), ("{work_dir}/root".into(), "{root}".into()));
    }

    /// Runs of versions that did not record values.
    #[test]
    fn of_older_runs_the_port_follows_from_the_address() {
        let testbed = |port: &str| {
            let address = format!("http://127.0.0.1:{port}/");
            Testbed { sections: vec![FactSection::new("Server", [("address", address)])] }
        };
        let one = testbed("35913");
        let other = testbed("80");
        assert_eq!(plain(&one, "server.port = 35913"), plain(&other, "server.port = 80"));
        assert_eq!(
            plain(&one, "nginx -p /dev/shm/plimsoll-sut-5967-0 -l 127.0.0.1:35913;"),
            plain(&other, "nginx -p /dev/shm/plimsoll-sut-61-12 -l 127.0.0.1:80;")
        );
        assert_ne!(plain(&one, "nginx -w 1"), plain(&one, "nginx -w 2"));
        let there = FactSection::new("System under test", []);
        let target = |text: &str| plain_value(&one, &there, &Fact::found("target", text));
        assert_ne!(target("http://127.0.0.1:81/"), target("http://127.0.0.1:82/"));
    }
}
