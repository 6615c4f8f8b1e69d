//! `package`: what is handed out, made and tried: a package for Debian, an archive of static programs, a container image.
//!
//! - `programs`: the builds; `licenses`: those of all crates; `files`: what goes into each
//! - `debian`, `archive`, `image`: making one; `release`: its version and time
//! - `trial`: using each in a root file system of its own (`trial_root`), booted (`booted`), with names to resolve
//!   (`name_server`)
//! - `page`: sizes and times

mod archive;
mod booted;
mod debian;
mod files;
mod image;
mod licenses;
mod name_server;
mod page;
mod programs;
mod release;
mod trial;
mod trial_root;

use std::fs;
use std::path::Path;

use anyhow::{Result, bail, ensure};
use units::{Clock, RealClock};

use crate::namespace::NetworkNamespace;
use crate::packages::{RequiredPackage, install};
use crate::shell::{root, write_page};
use debian::{DebianPackage, PLIMSOLL, PLIMSOLL_PDF};
use page::{Product, ProductKind, ProductTimes};
use programs::{BuildKind, Programs};
use release::Release;
use trial_root::TrialRoot;

/// Debian's programs that make packages and try them.
const NEEDED: [RequiredPackage; 7] = [
    ("dpkg-deb", "dpkg"),
    ("dpkg-shlibdeps", "dpkg-dev"),
    ("debootstrap", "debootstrap"),
    ("systemd-nspawn", "systemd-container"),
    ("unshare", "util-linux"),
    ("ip", "iproute2"),
    ("/usr/lib/x86_64-linux-gnu/libc.a", "libc6-dev"),
];

/// The page with sizes and times.
const PAGE: &str = "docs/recorded/packages.md";

/// Options of `package`.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct PackageOptions {
    /// Makes and tries `plimsoll-pdf`, too.
    with_pdf: bool,
    /// Leaves out the trials, which need root and a network.
    is_untried: bool,
    /// Writes the page.
    write: bool,
}

impl PackageOptions {
    /// Parses a command line.
    ///
    /// # Errors
    /// Unknown options, or a page without trials.
    pub fn parse(arguments: &[&str]) -> Result<PackageOptions> {
        let mut options = PackageOptions::default();
        for argument in arguments {
            match *argument {
                "--pdf" => options.with_pdf = true,
                "--untried" => options.is_untried = true,
                "--write" => options.write = true,
                other => bail!("unknown option `{other}`\nhint: expected `--pdf`, `--untried` or `--write`"),
            }
        }
        ensure!(
            !(options.write && options.is_untried),
            "a page of packages that were not tried says nothing"
        );
        Ok(options)
    }
}

/// Makes everything in `target/packages`, tries it, and prints sizes and times.
///
/// # Errors
/// A build fails, a program is too large, Debian's programs are missing, or a trial does not do what is expected.
pub fn perform(options: &PackageOptions) -> Result<()> {
    let is_root = rustix::process::geteuid().is_root();
    ensure!(
        is_root || options.is_untried,
        "packages are tried in root file systems, which takes root\nhint: run this as root, or with `--untried`"
    );
    let release = Release::of_this_checkout()?;
    install(&NEEDED)?;
    let folder = root().join("target/packages");
    fs::create_dir_all(&folder)?;
    let mut products = Vec::new();
    let packages = if options.with_pdf { &[&PLIMSOLL, &PLIMSOLL_PDF][..] } else { &[&PLIMSOLL] };
    for package in packages {
        products.push(debian_package(package, &release, &folder)?);
    }
    products.extend(static_products(&release, &folder)?);
    if !options.is_untried {
        try_all(&mut products)?;
    }
    let page = page::text(&products)?;
    print!("{}", page::table(&products));
    if options.write { write_page(PAGE, &page) } else { Ok(()) }
}

fn debian_package(package: &'static DebianPackage, release: &Release, folder: &Path) -> Result<Product> {
    let clock = RealClock::start();
    let programs = Programs::build(package.build)?;
    let built = clock.now();
    let path = debian::make(package, &programs, release, folder)?;
    let times = ProductTimes { built: Some(built), made: clock.now() - built, ..ProductTimes::default() };
    Product::of(ProductKind::Debian(package.name), path, &programs, times)
}

/// Makes the archive and the image, which have the same programs.
fn static_products(release: &Release, folder: &Path) -> Result<[Product; 2]> {
    let clock = RealClock::start();
    let programs = Programs::build(BuildKind::Static)?;
    let built = clock.now();
    let archive = archive::make(&programs, release, folder)?;
    let archived = clock.now();
    let image = image::make(&programs, release, folder)?;
    let product = |kind, path, times| Product::of(kind, path, &programs, times);
    let times = ProductTimes { built: Some(built), made: archived - built, ..ProductTimes::default() };
    let again = ProductTimes { made: clock.now() - archived, ..ProductTimes::default() };
    Ok([product(ProductKind::Archive, archive, times)?, product(ProductKind::Image, image, again)?])
}

/// Tries all, and adds the times that this takes.
fn try_all(products: &mut [Product]) -> Result<()> {
    let network = NetworkNamespace::make()?;
    let folder = tempfile::tempdir()?;
    let system = TrialRoot { path: folder.path().join("debian"), network: &network };
    println!("Making a Debian with `debootstrap`.");
    trial_root::debian(&system.path)?;
    for product in products.iter_mut() {
        println!("Trying {}.", product.path.display());
        let clock = RealClock::start();
        match product.kind {
            ProductKind::Debian(name) => {
                product.times.debian = Some(trial::debian(&system, &product.path, name)?);
            }
            ProductKind::Archive => trial::static_archive(&product.path, &network)?,
            ProductKind::Image => trial::image(&product.path, &network)?,
        }
        product.times.tried = Some(clock.now());
    }
    // With systemd the system is no longer the smallest one.
    for product in products {
        if let ProductKind::Debian(name) = product.kind {
            println!("Trying the service of {name} with systemd.");
            product.times.exposure = Some(trial::service(&system, &product.path, name)?);
        }
    }
    Ok(())
}
