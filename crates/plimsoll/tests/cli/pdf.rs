//! Reports as PDF and as pictures, with and without the feature `pdf`.

use crate::support::Fixture;
#[cfg(feature = "pdf")]
use crate::support::Pages;

const RUN: [&str; 10] =
    ["run", "one-object", "--load", "1,2", "--settle", "0", "--duration", "1", "--out", "run.plim"];

#[test]
#[cfg(not(feature = "pdf"))]
fn a_program_without_pdf_support_names_the_package_and_how_to_build_it() {
    let fixture = Fixture::new();
    fixture.run(&RUN);
    let ended = fixture.run(&["report", "run.plim", "--pdf", "run.pdf"]).expect(2);
    let ended = ended.expect_stderr("built without PDF").expect_stderr("the package `plimsoll-pdf`");
    let ended = ended.expect_stderr("--features pdf");
    assert_eq!(ended.stdout, "");
    assert!(!fixture.path("run.pdf").exists());
    let ended = fixture.run(&["report", "run.plim", "--format", "png"]).expect(2);
    let ended = ended.expect_stderr("built without PNG").expect_stderr("the package `plimsoll-pdf`");
    ended.expect_stderr("`--format summary`");
    assert!(!fixture.path("run.png").exists());
    let other = [&RUN[..9], &["other.plim"]].concat();
    fixture.run(&other);
    for several in [&["report", "run.plim", "other.plim"][..], &["compare", "run.plim", "other.plim"]] {
        fixture.run(&[several, &["--pdf", "both.pdf"]].concat()).expect(2).expect_stderr("built without PDF");
    }
}

#[test]
#[cfg(feature = "pdf")]
fn the_pdf_of_a_run_is_reproducible() {
    let fixture = Fixture::new();
    fixture.run(&RUN);
    let pdf = |name: &str| {
        let ended = fixture.run(&["report", "run.plim", "--pdf", name]).expect(0).expect_stdout(name);
        assert_eq!(ended.stderr, "", "the PDF does not conform, or the typesetter warned");
        std::fs::read(fixture.path(name)).unwrap()
    };
    let one = pdf("one.pdf");
    assert!(one.starts_with(b"%PDF-"));
    assert!(one == pdf("two.pdf"), "two files of one run differ");
    for (words, name) in [(&[][..], "run.png"), (&["-o", "two.png"], "two.png")] {
        let ended = fixture.run(&[&["report", "run.plim", "--format", "png"], words].concat()).expect(0);
        ended.expect_stdout(name);
        assert!(std::fs::read(fixture.path(name)).unwrap().starts_with(b"\x89PNG\r\n\x1a\n"));
    }
    fixture.run(&[&RUN[..9], &["other.plim"]].concat());
    fixture
        .run(&["report", "run.plim", "other.plim", "--format", "png"])
        .expect(0)
        .expect_stdout("report.png");
    for several in [&["report", "run.plim", "other.plim"][..], &["compare", "run.plim", "other.plim"]] {
        let ended =
            fixture.run(&[several, &["--pdf", "both.pdf"]].concat()).expect(0).expect_stdout("both.pdf");
        assert!(!ended.stderr.contains("PDF: "), "{}", ended.stderr);
        assert!(std::fs::read(fixture.path("both.pdf")).unwrap().starts_with(b"%PDF-"));
        std::fs::remove_file(fixture.path("both.pdf")).unwrap();
    }
}

/// Goal: whoever loads a page gets the first page and the results; the rest is asked for.
#[test]
#[cfg(feature = "pdf")]
fn the_pdf_of_a_url_is_short_unless_the_full_one_is_wanted() {
    let fixture = Fixture::new();
    let pages = Pages::start();
    fixture.run(&["run", &pages.url, "-c", "1,2", "--duration", "1", "--settle", "0", "--out", "run.plim"]);
    let bytes = |words: &[&str]| {
        fixture.run(&[&["report", "run.plim", "--pdf", "run.pdf"], words].concat()).expect(0);
        std::fs::read(fixture.path("run.pdf")).unwrap().len()
    };
    let (short, full) = (bytes(&[]), bytes(&["--full"]));
    assert!(4 * short < 3 * full, "{short} and {full} bytes");
}

#[test]
fn a_pdf_never_overwrites_the_run() {
    let fixture = Fixture::new();
    fixture.run(&RUN);
    fixture
        .run(&["report", "run.plim", "--pdf", "a.pdf", "--format", "json"])
        .expect(2)
        .expect_stderr("cannot be used with");
    fixture
        .run(&["report", "run.plim", "--pdf", "run.plim"])
        .expect(2)
        .expect_stderr("overwrite the run file");
    fixture.run(&[&RUN[..9], &["other.plim"]].concat());
    fixture
        .run(&["compare", "other.plim", "run.plim", "--pdf", "run.plim"])
        .expect(2)
        .expect_stderr("overwrite the run file");
    fixture
        .run(&["report", "run.plim", "--format", "png", "-o", "run.plim"])
        .expect(2)
        .expect_stderr("overwrite the run file");
    fixture
        .run(&["report", "run.plim", "--format", "png", "-o", "-"])
        .expect(2)
        .expect_stderr("written to a file");
    fixture.run(&["audit", "run.plim"]).expect(0);
}
