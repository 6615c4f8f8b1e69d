//! `export`: a run's records in formats that other tools read. Records are streamed, because a run may not fit into
//! memory.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use disclosure::render::{self, IntervalLog, Ndjson};
use languages::foreign_text;
use runfile::{Record, Run};

use crate::arguments::{ExportArguments, ExportFormat};
use crate::exit::{Exit, Failure};
use crate::files::{cannot_write, discard, keep_run_file, write};
use crate::results::{Results, provenance, records};

/// Exports a run in the requested format.
pub(super) fn perform(arguments: &ExportArguments) -> Result<Exit, Failure> {
    let run = Run::open(&arguments.run)?;
    let mut out = Output::open(&arguments.run, arguments.out.as_deref())?;
    let read = match arguments.format {
        ExportFormat::Ndjson => ndjson(&run, &mut out),
        ExportFormat::Hlog => hlog(&run, &mut out),
        ExportFormat::Csv => csv(&run, &mut out),
        ExportFormat::Junit => junit(&run, &mut out),
    };
    out.close(read)?;
    Ok(Exit::Valid)
}

fn ndjson(run: &Run, out: &mut Output) -> Result<(), Failure> {
    let machines = run.machines()?;
    let series = run.series()?;
    let lines = Ndjson { plan: run.plan(), machines: &machines, series: &series };
    out.put(&lines.head(&provenance(run)));
    for (load_point, began) in run.load_points()? {
        out.put(&lines.load_point(load_point, began));
    }
    let results = Results::of(run, |record| {
        out.put(&match record {
            Record::Interval(interval) => lines.interval(interval),
            Record::Detail(detail) => lines.detail(detail),
            Record::Resource(resource) => lines.resource(resource),
        });
    })?;
    for example in run.examples()? {
        out.put(&lines.example(&example));
    }
    for check in run.checks()? {
        out.put(&lines.check(&check));
    }
    for count in run.counts()? {
        out.put(&lines.count(&count));
    }
    for event in run.events()? {
        out.put(&lines.event(event.at, &event.text));
    }
    for (load_point, name, value) in &results.stated {
        out.put(&lines.result(*load_point, name, *value));
    }
    out.put(&lines.verdict(&results.analysis));
    Ok(())
}

fn hlog(run: &Run, out: &mut Output) -> Result<(), Failure> {
    let header = run.header();
    let benchmark = &run.plan().benchmark;
    let mut log = IntervalLog::new(run.plan(), header.created, &run.load_points()?);
    let title = format!(
        "{}: {}, version {}, on {}",
        header.program,
        benchmark.id,
        benchmark.version,
        run.plan().sut.name
    );
    out.put(&log.head(&foreign_text(&title)));
    records(run, |record| match record {
        Record::Interval(interval) => out.put(&log.interval(&interval)),
        Record::Detail(detail) => out.put(&log.detail(&detail)),
        Record::Resource(_) => {}
    })?;
    Ok(())
}

fn csv(run: &Run, out: &mut Output) -> Result<(), Failure> {
    out.put(&render::intervals_csv_head(run.plan()));
    records(run, |record| {
        if let Record::Interval(interval) = record {
            out.put(&render::intervals_csv_row(run.plan(), &interval));
        }
    })?;
    Ok(())
}

fn junit(run: &Run, out: &mut Output) -> Result<(), Failure> {
    out.put(&render::junit(&[Results::of(run, |_| {})?.report()]));
    Ok(())
}

/// Writes the verdicts and limits of runs as JUnit XML; without runs, a file that says so.
pub(super) fn write_junit<'a>(path: &Path, runs: impl Iterator<Item = &'a Results>) -> Result<(), Failure> {
    let reports: Vec<_> = runs.map(Results::report).collect();
    write(path, render::junit(&reports))
}

/// The output of an export. It holds its first error until the end, because reading the records cannot be stopped.
struct Output {
    out: BufWriter<Box<dyn Write>>,
    /// The path, if the output is a file.
    path: Option<PathBuf>,
    failed: Option<io::Error>,
}

impl Output {
    /// Opens the file, or standard output for `None` and `-`.
    fn open(run: &Path, out: Option<&Path>) -> Result<Output, Failure> {
        let path = out.filter(|path| *path != Path::new("-")).map(Path::to_owned);
        let out: Box<dyn Write> = match &path {
            None => Box::new(io::stdout().lock()),
            Some(path) => {
                keep_run_file(run, path)?;
                Box::new(File::create(path).map_err(|error| cannot_write(path, &error))?)
            }
        };
        Ok(Output { out: BufWriter::new(out), path, failed: None })
    }

    fn put(&mut self, text: &str) {
        if self.failed.is_none() {
            self.failed = self.out.write_all(text.as_bytes()).err();
        }
    }

    /// Writes the rest, whether the run could be read or not. A closed pipe is not a failure.
    fn close(mut self, read: Result<(), Failure>) -> Result<(), Failure> {
        let written = self.failed.take().map_or_else(|| self.out.flush(), Err);
        let result = match (written, &self.path) {
            (Err(error), Some(path)) => Err(cannot_write(path, &error)),
            (Err(error), None) if error.kind() != ErrorKind::BrokenPipe => {
                Err(Failure::new(Exit::Internal, format!("cannot write to standard output: {error}")))
            }
            _ => read,
        };
        if let (Err(_), Some(path)) = (&result, &self.path) {
            discard(path);
        }
        result
    }
}
