//! The applications whose work the Disk Mix consists of.

/// An application, whose files are in a folder of their own. In the order of the captured mix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApplicationFolder(u8);

/// A row of the table of applications.
struct Application {
    name: &'static str,
    n_files: u32,
    /// The share of the operations of a cycle, in thousandths.
    weight: u64,
}

/// The applications. Files: 3, 2, 5, 11, 3, 3, 20 and 1, together 48. Shares: measured in dbench's load file.
const APPLICATIONS: [Application; 8] = [
    Application { name: "presentation", n_files: 3, weight: 100 },
    Application { name: "word-a", n_files: 2, weight: 63 },
    Application { name: "database", n_files: 5, weight: 236 },
    Application { name: "spreadsheet", n_files: 11, weight: 84 },
    Application { name: "word-b", n_files: 3, weight: 143 },
    Application { name: "small-database", n_files: 3, weight: 20 },
    Application { name: "drawing", n_files: 20, weight: 61 },
    Application { name: "page-layout", n_files: 1, weight: 83 },
];

/// The number of files of all applications.
pub const APPLICATION_FILES: u32 = 48;

impl ApplicationFolder {
    /// All applications.
    pub const ALL: [ApplicationFolder; 8] = {
        let mut all = [ApplicationFolder(0); 8];
        let mut index = 0;
        while index < all.len() {
            all[index] = ApplicationFolder(index as u8);
            index += 1;
        }
        all
    };

    /// The one whose folder is listed: it has eleven files, as the captured mix lists.
    pub const LISTED: ApplicationFolder = ApplicationFolder(3);

    /// Returns its index in [`ApplicationFolder::ALL`].
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// Returns the name of its folder.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns the number of its files.
    pub fn n_files(self) -> u32 {
        self.row().n_files
    }

    /// Returns its share of the operations of a cycle, in thousandths; the rest belongs to no application.
    pub fn weight(self) -> u64 {
        self.row().weight
    }

    fn row(self) -> &'static Application {
        &APPLICATIONS[self.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_applications_have_48_files_and_79_percent_of_the_operations() {
        let sum = |number: fn(ApplicationFolder) -> u64| {
            ApplicationFolder::ALL.into_iter().map(number).sum::<u64>()
        };
        assert_eq!(sum(|application| u64::from(application.n_files())), u64::from(APPLICATION_FILES));
        assert_eq!(sum(ApplicationFolder::weight), 790);
        assert_eq!(ApplicationFolder::LISTED.n_files(), 11);
    }
}
