//! Reports as PDF, with and without the feature `pdf`.

use crate::support::Fixture;

const RUN: [&str; 10] =
    ["run", "one-object", "--load", "1,2", "--settle", "0", "--duration", "1", "--out", "run.plim"];

#[test]
#[cfg(not(feature = "pdf"))]
fn a_program_without_pdf_support_explains_how_to_build_it() {
    let fixture = Fixture::new();
    fixture.run(&RUN);
    let ended = fixture.run(&["report", "run.plim", "--pdf", "run.pdf"]).expect(2);
    let ended = ended.expect_stderr("built without PDF").expect_stderr("--features pdf");
    assert_eq!(ended.stdout, "");
    assert!(!fixture.path("run.pdf").exists());
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
    fixture.run(&[&RUN[..9], &["other.plim"]].concat());
    for several in [&["report", "run.plim", "other.plim"][..], &["compare", "run.plim", "other.plim"]] {
        let ended =
            fixture.run(&[several, &["--pdf", "both.pdf"]].concat()).expect(0).expect_stdout("both.pdf");
        assert!(!ended.stderr.contains("PDF: "), "{}", ended.stderr);
        assert!(std::fs::read(fixture.path("both.pdf")).unwrap().starts_with(b"%PDF-"));
        std::fs::remove_file(fixture.path("both.pdf")).unwrap();
    }
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
    fixture.run(&["audit", "run.plim"]).expect(0);
}
