//! Packages listed in the files of the package manager (Debian and derivatives).

use std::path::Path;

use super::machine_files::{FieldValue, MachineFiles, Unavailable};
use super::{FieldReader, one};

const STATUS: &str = "/var/lib/dpkg/status";
const LISTS: &str = "/var/lib/dpkg/info";

pub(super) const READERS: &[FieldReader] = &[
    one("software.packages", |files| Ok(installed(&files.text(STATUS)?).count().to_string())),
    one("software.c-library", |files| first_of(files, &["libc6", "musl"])),
    one("software.tls-library", |files| first_of(files, &["libssl3t64", "libssl3", "libssl1.1"])),
    one("software.init-system", |files| {
        first_of(files, &["systemd", "sysvinit-core", "runit-init", "openrc"])
    }),
];

fn first_of(files: &MachineFiles, names: &[&str]) -> FieldValue {
    let status = files.text(STATUS)?;
    let known = names.iter().find_map(|name| Some(format!("{name} {}", version(&status, name)?)));
    known.ok_or(Unavailable::because("not installed as a package"))
}

/// Returns the paragraphs of installed packages.
fn installed(status: &str) -> impl Iterator<Item = &str> {
    status.split("\n\n").filter(|paragraph| {
        paragraph.lines().any(|line| line.starts_with("Status:") && line.ends_with(" installed"))
    })
}

/// Returns the version of an installed package.
fn version<'a>(status: &'a str, package: &str) -> Option<&'a str> {
    let is_it = |line: &str| line.strip_prefix("Package: ") == Some(package);
    let paragraph = installed(status).find(|paragraph| paragraph.lines().any(is_it))?;
    paragraph.lines().find_map(|line| line.strip_prefix("Version: "))
}

/// Returns name and version of the package that a program belongs to.
///
/// Only packages whose names share the program's prefix are searched: `nginx`, `php` for `php-fpm8.2`.
pub(super) fn package_of(files: &MachineFiles, program: &Path) -> FieldValue {
    let file = program.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stem: String = file.chars().take_while(char::is_ascii_alphabetic).collect();
    let status = files.text(STATUS)?;
    let path = program.to_string_lossy();
    let lists = files.names(LISTS).into_iter().filter(|list| list.starts_with(&stem));
    for list in lists.filter(|_| !stem.is_empty()) {
        let Some(package) = list.strip_suffix(".list") else { continue };
        let is_listed = files.text(format!("{LISTS}/{list}")).is_ok_and(|files| lists_path(&files, &path));
        if is_listed {
            // The list of a package for several architectures has the architecture in its name.
            let package = package.split(':').next().unwrap_or(package);
            let version = version(&status, package).unwrap_or("unknown version");
            return Ok(format!("{package} {version}"));
        }
    }
    Err(Unavailable::because("no package with a similar name contains the program"))
}

/// Returns whether a list contains a path; `/sbin` and `/usr/sbin` are equal where directories are merged.
fn lists_path(files: &str, path: &str) -> bool {
    let bare = |path: &str| path.strip_prefix("/usr").unwrap_or(path).to_owned();
    files.lines().any(|file| bare(file) == bare(path))
}

#[cfg(test)]
mod tests {
    use super::super::machine_files::testing;
    use super::*;

    const FILES: &[(&str, &str)] = &[
        (
            "/var/lib/dpkg/status",
            "Package: nginx\nStatus: install ok installed\nVersion: 1.22.1-9\n\nPackage: nginx-common\n\
             Status: deinstall ok config-files\nVersion: 1.22.1-9\n\nPackage: libc6\nStatus: install ok installed\n\
             Architecture: amd64\nVersion: 2.36-9\n",
        ),
        ("/var/lib/dpkg/info/nginx-common.list", "/.\n/etc/nginx\n"),
        ("/var/lib/dpkg/info/nginx.list", "/.\n/usr/sbin/nginx\n"),
        ("/var/lib/dpkg/info/nginx.md5sums", "0 usr/sbin/nginx\n"),
        ("/var/lib/dpkg/info/php8.2-fpm:amd64.list", "/usr/sbin/php-fpm8.2\n"),
    ];

    #[test]
    fn a_program_belongs_to_the_package_that_contains_it() {
        testing::with(FILES, |files| {
            assert_eq!(package_of(files, Path::new("/usr/sbin/nginx")).unwrap(), "nginx 1.22.1-9");
            assert_eq!(package_of(files, Path::new("/sbin/nginx")).unwrap(), "nginx 1.22.1-9");
            assert_eq!(
                package_of(files, Path::new("/usr/sbin/php-fpm8.2")).unwrap(),
                "php8.2-fpm unknown version"
            );
            assert!(package_of(files, Path::new("/opt/nginx")).is_err());
            assert!(package_of(files, Path::new("/")).is_err());
        });
        assert_eq!(
            testing::with(&[], |files| package_of(files, Path::new("/x/y"))),
            Err(Unavailable::Absent)
        );
    }

    #[test]
    fn only_what_is_installed_counts() {
        testing::with(FILES, |files| {
            let status = files.text(STATUS).unwrap();
            assert_eq!((installed(&status).count(), version(&status, "nginx-common")), (2, None));
            assert_eq!(first_of(files, &["musl", "libc6"]).unwrap(), "libc6 2.36-9");
            assert!(first_of(files, &["musl"]).is_err());
        });
    }
}
