//! Resolution of benchmark arguments to a benchmark that can be planned.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use benchmarks::file::{self, replaying};
use benchmarks::{Benchmark, BenchmarkLoadError};
use languages::{HttpUrl, foreign_text, without_credentials};
use model::{ChosenSetting, FileCapture, FileSet, FileWork, FileWorkload, Overrides, Workload};

use crate::arguments::{BenchmarkArguments, FilesArguments, SutArguments};
use crate::exit::Failure;
use crate::files::{open, read};
use crate::settings::{self, SettingArgument};
use crate::url_words::is_url;

/// A benchmark as the user chose it, with the source of its definition.
pub(crate) struct ChosenBenchmark {
    /// Definition and workload.
    pub benchmark: Benchmark,
    /// The name that it was chosen by: an id, or the path of a definition.
    pub name: String,
    /// The source of its definition.
    pub source: DefinitionSource,
    /// Environment variables of the definition, with values that the command line or a command of cURL gives in their place.
    pub given: BTreeMap<String, String>,
    /// Whether a run adds load points between those of the definition, which nobody has chosen.
    pub is_refined: bool,
    /// The captured mixes of load files that settings name, by these names.
    pub captures: RefCell<BTreeMap<String, FileCapture>>,
}

/// The subject of a run, and what else the arguments that name it ask for.
pub(crate) struct Subject {
    /// The benchmark.
    pub chosen: ChosenBenchmark,
    /// Those of the other servers, where each has a page of its own; else empty.
    pub others: Vec<ChosenBenchmark>,
    /// Overrides of its definition by the run, on a server that planning replaces.
    pub overrides: Overrides,
    /// The settings of its family that are given.
    pub settings: Vec<SettingArgument>,
    /// The server.
    pub sut: SutArguments,
}

impl ChosenBenchmark {
    /// Returns the workload with settings: the benchmark's own, or that of the filelist or the load file that they name.
    ///
    /// # Errors
    /// If the file cannot be read or is not valid.
    pub(crate) fn workload(&self, settings: &[ChosenSetting]) -> Result<Workload, Failure> {
        let own = &self.benchmark.workload;
        if let (Some(file), Some(name)) = (replaceable(own), settings::loadfile(settings)) {
            return Ok(Workload::File(replaying(file, self.capture(name)?)));
        }
        let named = self.benchmark.definition.workload.web().zip(settings::filelist(settings));
        let Some((web, name)) = named else { return Ok(own.clone()) };
        let text = match benchmarks::builtin_filelist(&self.name, name) {
            // A file of the same name can still be named as `./NAME`.
            Some(built_in) => built_in.text.to_owned(),
            None => read(Path::new(name))?,
        };
        Ok(benchmarks::filelist_workload(web, name, &text)?.into())
    }

    /// Returns the captured mix of a load file, which is read once.
    fn capture(&self, name: &str) -> Result<FileCapture, Failure> {
        if let Some(known) = self.captures.borrow().get(name) {
            return Ok(known.clone());
        }
        let captured = file::capture(name, open(Path::new(name)));
        let captured = captured.map_err(|error| Failure::usage(&error).hint(error.hint()))?;
        self.captures.borrow_mut().insert(name.to_owned(), captured.clone());
        Ok(captured)
    }
}

/// Returns the workload in which a captured mix can be the work of clients, in place of a Disk Mix or of another one.
fn replaceable(workload: &Workload) -> Option<&FileWorkload> {
    let is_mix = |file: &&FileWorkload| matches!(file.work, FileWork::DiskMix(_) | FileWork::Captured(_));
    workload.file().filter(is_mix)
}

/// The source of a definition.
pub(crate) enum DefinitionSource {
    /// Plimsoll itself.
    BuiltIn,
    /// A file of the user's.
    File(DefinitionFile),
    /// URLs and flags of the command line, which name files by their paths from a folder.
    Urls(PathBuf),
}

impl DefinitionSource {
    /// Returns whether the user has written the definition.
    pub(crate) fn is_own(&self) -> bool {
        !matches!(self, DefinitionSource::BuiltIn)
    }
}

/// The file of a benchmark definition.
pub(crate) struct DefinitionFile {
    /// Its path.
    pub path: PathBuf,
    /// Its content.
    pub text: String,
}

/// Finds a built-in benchmark or reads a definition.
pub(crate) fn choose(name: &str) -> Result<ChosenBenchmark, Failure> {
    let (benchmark, source) = with_source(name)?;
    Ok(ChosenBenchmark {
        benchmark,
        name: name.to_owned(),
        source,
        given: BTreeMap::new(),
        is_refined: false,
        captures: RefCell::default(),
    })
}

/// Finds a benchmark; returns it with the settings and the workload of the filelist that may be named beside it.
pub(crate) fn with_filelist(
    arguments: &BenchmarkArguments,
) -> Result<(Benchmark, Vec<ChosenSetting>), Failure> {
    let chosen = choose(&arguments.benchmark)?;
    let family = chosen.benchmark.definition.family();
    let filelist = arguments.filelist.iter().map(|name| SettingArgument::of_flag("filelist", name));
    let settings = settings::combinations(&filelist.collect::<Vec<_>>(), family)?.remove(0).settings;
    let workload = chosen.workload(&settings)?;
    Ok((Benchmark { workload, ..chosen.benchmark }, settings))
}

/// Returns the file set of a benchmark for the highest load: that of the arguments, or else that of its load plan.
pub(crate) fn file_set(arguments: &FilesArguments) -> Result<FileSet, Failure> {
    let (Benchmark { definition, workload, .. }, _) = with_filelist(&arguments.benchmark)?;
    let levels = definition.load.levels.list(arguments.max_load, definition.load.unit);
    let level = arguments.max_load.unwrap_or_else(|| levels.into_iter().fold(0.0, f64::max));
    Ok(workload.file_set(level))
}

/// Finds a built-in benchmark by id, or reads the definition at a path.
pub(crate) fn by_name(name: &str) -> Result<Benchmark, Failure> {
    with_source(name).map(|(benchmark, _)| benchmark)
}

fn with_source(name: &str) -> Result<(Benchmark, DefinitionSource), Failure> {
    if is_url(name) {
        return Err(url_for_a_benchmark(name));
    }
    if let Some(url) = url_without_scheme(name) {
        let error = format!("expected a benchmark, found `{}`", foreign_text(name));
        return Err(Failure::usage(error).hint(format!("did you mean the URL `{url}`?")));
    }
    if name.contains('/') || name.ends_with(".toml") {
        let is_log = name.ends_with(".log") && Path::new(name).is_file();
        if is_log {
            return Err(file_for_a_benchmark(name));
        }
        let source = DefinitionFile { path: name.into(), text: read(Path::new(name))? };
        return Ok((from_file(&source)?, DefinitionSource::File(source)));
    }
    match benchmarks::find(name) {
        Ok(builtin) => Ok((builtin.load(), DefinitionSource::BuiltIn)),
        Err(_) if Path::new(name).is_file() => Err(file_for_a_benchmark(name)),
        Err(unknown) => Err(Failure::usage(&unknown).hint(match unknown.nearest {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => "`plimsoll list` lists the benchmarks; name your own definition by its path".to_owned(),
        })),
    }
}

/// Returns the failure of a file in place of a benchmark, with the command that takes such files.
fn file_for_a_benchmark(name: &str) -> Failure {
    let shown = foreign_text(name);
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
    let hint = match extension {
        Some("plim") => format!("it is a recorded run: `plimsoll report {shown}` writes its report"),
        Some("sql") => {
            "a definition of the family `sql` has statements of your own (docs/definitions.md)".to_owned()
        }
        Some("log" | "txt" | "csv" | "har" | "gz") => {
            let log = "logs are not replayed; to load a file with one URL per line:";
            format!("{log} `plimsoll run --urls {shown}`")
        }
        _ => format!("if it is a definition, name it by its path: `./{shown}`"),
    };
    Failure::usage(format!("expected a benchmark, found the file `{shown}`")).hint(hint)
}

/// Returns the failure of a URL in place of a benchmark, with the command that takes URLs.
fn url_for_a_benchmark(url: &str) -> Failure {
    let url = foreign_text(&without_credentials(url));
    Failure::usage(format!("expected a benchmark, found the URL `{url}`")).hint(
        "`plimsoll run URL` loads a page of a running server; `--save-definition FILE` makes a benchmark of it",
    )
}

/// Returns the URL that is meant by `localhost:8080/about`: a server with a port or the name of this machine, and no
/// file.
fn url_without_scheme(name: &str) -> Option<String> {
    let url: HttpUrl = name.parse().ok()?;
    let is_server = url.port.is_some() || url.host == "localhost";
    let path = if url.target.is_empty() { "/" } else { &url.target };
    (is_server && !Path::new(name).exists())
        .then(|| foreign_text(&without_credentials(&format!("http://{}{path}", url.authority()))))
}

/// Makes a benchmark from a definition.
fn from_file(source: &DefinitionFile) -> Result<Benchmark, Failure> {
    let DefinitionFile { path, text } = source;
    let beside = |name: &str| open(&path.parent().unwrap_or(Path::new(".")).join(name));
    match benchmarks::from_definition(&path.display().to_string(), text, beside) {
        Ok(benchmark) => Ok(benchmark),
        Err(BenchmarkLoadError::Invalid(diagnostics)) => Err(diagnostics.into()),
        Err(BenchmarkLoadError::LoadFile(error)) => Err(Failure::usage(&error).hint(error.hint())),
        Err(error @ BenchmarkLoadError::Unreadable { .. }) => Err(Failure::usage(error)),
    }
}
