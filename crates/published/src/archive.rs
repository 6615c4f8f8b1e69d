//! The built-in published reports.

use crate::PublishedReport;

macro_rules! reports {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../data/published/", $name, ".toml"))),)*]
    };
}

/// Every report by file name, oldest first.
const REPORTS: &[(&str, &str)] = reports![
    "apple-network-server-1996",
    "ibm-pc-server-330-1997",
    "novell-bordermanager-1998",
    "proliant-8000-cpu-scalability-2000",
    "ibm-xseries-365-mmb3",
];

/// Returns the published reports, oldest first.
pub fn published_reports() -> Vec<PublishedReport> {
    let read = |(name, text): &(&str, &str)| {
        PublishedReport::parse(name, text)
            .unwrap_or_else(|problems| panic!("a built-in report is not valid: {problems}"))
    };
    REPORTS.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_reports_are_loaded_oldest_first() {
        let reports = published_reports();
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/published");
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), reports.len());
        assert!(reports.windows(2).all(|pair| pair[0].published.compare(&pair[1].published).is_le()));
    }
}
