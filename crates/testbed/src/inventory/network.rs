//! Network interfaces.

use std::path::Path;

use model::FactSection;

use super::section as make_section;
use crate::system_file::read;

/// Returns the interfaces, with MTU, transmit queue, state and speed.
pub fn section() -> FactSection {
    let interfaces = interfaces(Path::new("/sys/class/net"));
    make_section(
        "Network interfaces",
        interfaces.iter().map(|(name, facts)| (name.as_str(), Some(facts.clone()))),
    )
}

fn interfaces(directory: &Path) -> Vec<(String, String)> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let mut found: Vec<(String, String)> = entries
        .flatten()
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), describe(&entry.path())))
        .collect();
    found.sort();
    found
}

/// The speed of a link that has none reads -1 or not at all.
fn describe(interface: &Path) -> String {
    let value = |file: &str| read(interface.join(file));
    let speed = value("speed").filter(|speed| !speed.starts_with('-')).map(|speed| format!("{speed} Mbit/s"));
    let queue = value("tx_queue_len").map(|length| format!("transmit queue {length}"));
    let mtu = value("mtu").map(|mtu| format!("MTU {mtu}"));
    [mtu, queue, value("operstate"), speed].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_interface_does_not_tell_is_left_out() {
        let root = tempfile::tempdir().unwrap();
        for (file, text) in
            [("lo/mtu", "65536\n"), ("lo/speed", "-1\n"), ("eth0/mtu", "1500\n"), ("eth0/speed", "10000\n")]
        {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let found = interfaces(root.path());
        assert_eq!(
            found,
            [("eth0".into(), "MTU 1500, 10000 Mbit/s".into()), ("lo".into(), "MTU 65536".to_owned())]
        );
    }
}
