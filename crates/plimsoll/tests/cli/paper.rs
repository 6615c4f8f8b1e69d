//! Reports as PDF, by a program that was built with it and by one that was not.

use crate::support::Lab;

const RUN: [&str; 10] =
    ["run", "one-object", "--load", "1,2", "--settle", "0", "--duration", "1", "--out", "run.plim"];

#[test]
#[cfg(not(feature = "pdf"))]
fn a_program_without_pdf_says_how_to_get_one() {
    let lab = Lab::new();
    lab.run(&RUN);
    let ended = lab.run(&["report", "run.plim", "--pdf", "run.pdf"]).expect(2);
    let ended = ended.says("built without PDF").says("--features pdf");
    assert_eq!(ended.stdout, "");
    assert!(!lab.path("run.pdf").exists());
    let other = [&RUN[..9], &["other.plim"]].concat();
    lab.run(&other);
    for several in [&["report", "run.plim", "other.plim"][..], &["compare", "run.plim", "other.plim"]] {
        lab.run(&[several, &["--pdf", "both.pdf"]].concat()).expect(2).says("built without PDF");
    }
}

#[test]
#[cfg(feature = "pdf")]
fn a_run_becomes_a_pdf_that_is_the_same_each_time() {
    let lab = Lab::new();
    lab.run(&RUN);
    let pdf = |name: &str| {
        let ended = lab.run(&["report", "run.plim", "--pdf", name]).expect(0).prints(name);
        assert_eq!(ended.stderr, "", "the PDF does not conform, or the typesetter warned");
        std::fs::read(lab.path(name)).unwrap()
    };
    let one = pdf("one.pdf");
    assert!(one.starts_with(b"%PDF-"));
    assert!(one == pdf("two.pdf"), "two files of one run differ");
    lab.run(&[&RUN[..9], &["other.plim"]].concat());
    for several in [&["report", "run.plim", "other.plim"][..], &["compare", "run.plim", "other.plim"]] {
        let ended = lab.run(&[several, &["--pdf", "both.pdf"]].concat()).expect(0).prints("both.pdf");
        assert!(!ended.stderr.contains("PDF: "), "{}", ended.stderr);
        assert!(std::fs::read(lab.path("both.pdf")).unwrap().starts_with(b"%PDF-"));
        std::fs::remove_file(lab.path("both.pdf")).unwrap();
    }
}

#[test]
fn a_pdf_goes_to_its_own_file_and_never_over_the_run() {
    let lab = Lab::new();
    lab.run(&RUN);
    lab.run(&["report", "run.plim", "--pdf", "a.pdf", "--format", "json"])
        .expect(2)
        .says("cannot be used with");
    lab.run(&["report", "run.plim", "--pdf", "run.plim"]).expect(2).says("overwrite the run file");
    lab.run(&[&RUN[..9], &["other.plim"]].concat());
    lab.run(&["compare", "other.plim", "run.plim", "--pdf", "run.plim"])
        .expect(2)
        .says("overwrite the run file");
    lab.run(&["audit", "run.plim"]).expect(0);
}
