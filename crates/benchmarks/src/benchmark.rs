//! The built-in benchmarks, and the construction of a benchmark from its files.

use std::io::{self, Read};
use std::sync::Arc;

use languages::{Diagnostics, nearest, without_mark};
use model::{
    DataTable, Definition, FileDefinition, FilelistSource, SqlWorkload, WebDefinition, WebWorkload, Workload,
    WorkloadDefinition, WorkloadSource,
};

use crate::app::SERVERBENCH;
use crate::builtin::{Builtin, BuiltinFilelist};
use crate::file::{self, CaptureError, FILE_MICRO, NETBENCH, SEQREAD};
use crate::mail::{NOTES_MAIL, NOTES_MAILDB};
use crate::orderentry::ORDERENTRY;
use crate::web::data::{DataSource, read_data};
use crate::web::dynpage::DYNPAGE;
use crate::web::one_object::ONE_OBJECT;
use crate::web::web_modern::WEB_MODERN;
use crate::web::web96::WEB96;
use crate::web::webbench::{WEBBENCH_1_0, WEBBENCH_LATER};
use crate::web::webstone::{Filelist, FilelistFormat, WEBSTONE_1_1, WEBSTONE_2_0_1};

static ALL: &[Builtin] = &[
    WEBSTONE_1_1,
    WEBSTONE_2_0_1,
    WEB96,
    WEBBENCH_1_0,
    WEBBENCH_LATER,
    DYNPAGE,
    WEB_MODERN,
    ONE_OBJECT,
    SERVERBENCH,
    NETBENCH,
    SEQREAD,
    FILE_MICRO,
    ORDERENTRY,
    NOTES_MAIL,
    NOTES_MAILDB,
    #[cfg(feature = "echo")]
    crate::echo::ECHO,
];

impl Builtin {
    /// Loads the benchmark.
    ///
    /// # Panics
    /// Never: a test loads all of them.
    pub fn load(&self) -> Benchmark {
        from_definition(self.definition_file, self.definition, |name| match self.filelist(name) {
            Some(filelist) => Ok(filelist.text.as_bytes()),
            None => Err(io::ErrorKind::NotFound.into()),
        })
        .expect("built-in benchmarks are valid")
    }
}

/// A benchmark from which runs can be planned.
#[derive(Debug, Clone, PartialEq)]
pub struct Benchmark {
    /// The contract.
    pub definition: Definition,
    /// The workload.
    pub workload: Workload,
    /// The values of its data, in their order.
    pub data: Vec<Arc<DataTable>>,
}

/// The error that no built-in benchmark has a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no benchmark `{id}`")]
pub struct UnknownBenchmark {
    /// The requested name.
    pub id: String,
    /// The most similar id, if one is similar enough.
    pub nearest: Option<&'static str>,
}

/// An error of loading a benchmark.
#[derive(Debug, thiserror::Error)]
pub enum BenchmarkLoadError {
    /// The definition or filelist is not valid.
    #[error(transparent)]
    Invalid(#[from] Diagnostics),
    /// The filelist of the definition cannot be read.
    #[error("`{definition}`: cannot read the filelist `{filelist}`: {source}")]
    Unreadable {
        /// The definition's file name.
        definition: String,
        /// The filelist's name in it.
        filelist: String,
        /// The system's error.
        source: io::Error,
    },
    /// The load file of the definition cannot be replayed.
    #[error(transparent)]
    LoadFile(#[from] CaptureError),
}

/// Returns all built-in benchmarks, in the order of listings.
pub fn all() -> &'static [Builtin] {
    ALL
}

/// Returns the built-in benchmark with an id.
///
/// # Errors
/// It does not exist; the error contains the most similar one.
pub fn find(id: &str) -> Result<&'static Builtin, UnknownBenchmark> {
    ALL.iter().find(|builtin| builtin.id == id).ok_or_else(|| UnknownBenchmark {
        id: id.to_owned(),
        nearest: nearest(id, ALL.iter().map(|builtin| builtin.id)),
    })
}

/// Returns the filelist of a built-in benchmark by name; `None` if it does not exist.
pub fn builtin_filelist(benchmark: &str, name: &str) -> Option<&'static BuiltinFilelist> {
    find(benchmark).ok()?.filelist(name)
}

/// Creates a benchmark from the text of its definition. `open` opens a file that the definition names, relative to
/// the definition: a filelist, data or a load file.
///
/// # Errors
/// The definition or one of these files is not valid, or cannot be read.
pub fn from_definition<R: Read>(
    file_name: &str,
    text: &str,
    open: impl Fn(&str) -> io::Result<R>,
) -> Result<Benchmark, BenchmarkLoadError> {
    let definition = Definition::parse(file_name, text)?;
    let read_file = |name: &str| text_of(open(name)?);
    let (workload, data) = match &definition.workload {
        WorkloadDefinition::Web(web) => {
            let mut workload = web_workload(web, file_name, read_file)?;
            let source = DataSource { file_name, text, read_file: &read_file };
            let (sets, data) = read_data(&web.data, &source)?;
            workload.data = sets;
            (workload.into(), data)
        }
        WorkloadDefinition::Sql(sql) => {
            let source = DataSource { file_name, text, read_file: &read_file };
            let (sets, data) = read_data(&sql.data, &source)?;
            (Workload::Sql(SqlWorkload { data: sets, ..sql.workload.clone() }), data)
        }
        WorkloadDefinition::File(FileDefinition { workload, loadfile: None }) => {
            (Workload::File(workload.clone()), Vec::new())
        }
        WorkloadDefinition::File(FileDefinition { workload, loadfile: Some(name) }) => {
            let capture = file::capture(name, open(name))?;
            (Workload::File(file::replaying(workload, capture)), Vec::new())
        }
        WorkloadDefinition::Complete(workload) => (workload.clone(), Vec::new()),
    };
    Ok(Benchmark { definition, workload, data })
}

/// Reads the text of a file, without the byte order mark that some editors write.
fn text_of(mut file: impl Read) -> io::Result<String> {
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(without_mark(text))
}

/// Creates the workload of a web benchmark, with its own requests or those of its filelist.
fn web_workload(
    web: &WebDefinition,
    file_name: &str,
    read_file: impl Fn(&str) -> io::Result<String>,
) -> Result<WebWorkload, BenchmarkLoadError> {
    match &web.source {
        WorkloadSource::Requests(requests, pages) => Ok(web.workload(requests.clone(), pages.clone())),
        WorkloadSource::Filelist(FilelistSource::Text(text)) => {
            Ok(filelist_workload(web, &format!("{file_name} (filelist)"), text)?)
        }
        WorkloadSource::Filelist(FilelistSource::File(name)) => {
            let unreadable = |source| BenchmarkLoadError::Unreadable {
                definition: file_name.to_owned(),
                filelist: name.clone(),
                source,
            };
            Ok(filelist_workload(web, name, &read_file(name).map_err(unreadable)?)?)
        }
    }
}

/// Creates a workload from the text of a filelist in either format, for a web benchmark.
///
/// # Errors
/// All mistakes in the filelist.
pub fn filelist_workload(
    web: &WebDefinition,
    file_name: &str,
    text: &str,
) -> Result<WebWorkload, Diagnostics> {
    let filelist = Filelist::parse(file_name, text)?;
    let counts_pages = web.counts_pages || filelist.format == FilelistFormat::Pages;
    Ok(WebWorkload { counts_pages, ..web.workload(filelist.requests, filelist.pages) })
}

#[cfg(test)]
mod tests {
    use model::{ConnectionLifetime, Overrides, SutPlan, make_plan};
    use units::Nanos;

    use super::*;

    fn workload_of(id: &str) -> WebWorkload {
        find(id).unwrap().load().workload.web().unwrap().clone()
    }

    fn plan(builtin: &Builtin, quick: bool) -> model::Plan {
        let Benchmark { definition, workload, .. } = builtin.load();
        let sut = SutPlan::of("built-in");
        make_plan(&definition, workload, &Overrides { quick, ..Overrides::new(sut) }).unwrap()
    }

    /// Golden check G1, and parts of the standard filelist.
    #[test]
    fn the_pages_of_1_1_match_the_published_ones() {
        let workload = workload_of("webstone-1.1");
        assert_eq!((workload.pages.len(), workload.requests.len()), (8, 18));
        assert_eq!(workload.pages.iter().map(|page| page.weight).sum::<u64>(), 100);
        assert_eq!(workload.file_set(1.0).bytes(), 375 * 1024);
        let kibibytes = |page: &model::Page| -> Vec<u64> {
            page.requests
                .iter()
                .map(|kind| workload.requests[*kind as usize].body_bytes(0).unwrap() / 1024)
                .collect()
        };
        let rows: Vec<(u64, Vec<u64>)> =
            workload.pages.iter().map(|page| (page.weight, kibibytes(page))).collect();
        let published: [(u64, &[u64]); 8] = [
            (40, &[2, 3]),
            (25, &[1, 5]),
            (15, &[4, 6]),
            (5, &[7]),
            (4, &[8, 9, 10, 11]),
            (4, &[12, 14, 15, 17, 18]),
            (6, &[33]),
            (1, &[200]),
        ];
        assert_eq!(rows, published.map(|(weight, sizes)| (weight, sizes.to_vec())));
    }

    /// Golden check G2: 1389/208 KiB per request.
    #[test]
    fn the_means_of_1_1_match_the_published_ones() {
        let workload = workload_of("webstone-1.1");
        assert_eq!(workload.requests_per_page(), 2.08);
        assert!((workload.bytes_per_page().unwrap() / 1024.0 - 13.89).abs() < 1e-9);
        assert!((workload.mean_body_bytes().unwrap() - 6838.1538).abs() < 1e-4);
        assert!((workload.body_bytes_deviation().unwrap() - 15_167.0).abs() < 0.5);
    }

    /// Golden check G4.
    #[test]
    fn the_files_of_2_0_1_match_the_published_ones() {
        let workload = workload_of("webstone-2.0.1");
        assert_eq!(workload.pages.iter().map(|page| page.weight).sum::<u64>(), 1000);
        assert_eq!(workload.file_set(1.0).bytes(), 5_817_375);
        assert_eq!(workload.mean_body_bytes(), Some(19_773.0));
        assert!((workload.body_bytes_deviation().unwrap() - 172_902.8).abs() < 0.05);
    }

    #[test]
    fn the_load_plans_match_the_published_ones() {
        let points = |id: &str| -> Vec<f64> {
            plan(find(id).unwrap(), false).load_points.iter().map(|point| point.load.level()).collect()
        };
        assert_eq!(points("webstone-1.1"), [16., 32., 48., 64., 80., 96., 112., 128.]);
        assert_eq!(points("webstone-2.0.1"), (1..=20).map(|step| f64::from(step * 10)).collect::<Vec<_>>());
        for (id, seconds) in [("webstone-1.1", 300), ("webstone-2.0.1", 600)] {
            let plan = plan(find(id).unwrap(), false);
            assert_eq!(plan.phases.steady, Nanos::from_secs(seconds));
            assert_eq!(plan.phases.issuing(), plan.phases.steady);
            assert_eq!(plan.workload.web().unwrap().protocol.connection, ConnectionLifetime::PerRequest);
            assert_eq!(plan.time_limit, Nanos::from_secs(60));
        }
    }

    #[test]
    fn a_standard_run_has_no_modifications_and_a_quick_one_has_some() {
        for builtin in all() {
            assert_eq!(plan(builtin, false).modifications, [], "{}", builtin.id);
            assert!(!plan(builtin, true).modifications.is_empty(), "{}", builtin.id);
        }
    }

    #[test]
    fn quick_runs_measure_for_less_than_55_seconds() {
        for builtin in all() {
            let plan = plan(builtin, true);
            let point = plan.phases.quiet + plan.phases.end_of(model::Phase::Drain);
            let seconds = point.as_secs_f64() * plan.load_points.len() as f64;
            assert!(seconds < 55.0, "{}: {seconds} s", builtin.id);
        }
    }

    #[test]
    fn ids_are_unique_and_match_their_definitions() {
        for (index, builtin) in all().iter().enumerate() {
            assert_eq!(builtin.load().definition.id, builtin.id);
            assert!(all()[..index].iter().all(|other| other.id != builtin.id));
        }
    }

    #[test]
    fn an_unknown_benchmark_yields_a_suggestion() {
        let nearest = |id| find(id).unwrap_err().nearest;
        assert_eq!(nearest("webstone-2.0"), Some("webstone-2.0.1"));
        assert_eq!(nearest("webston-1.1"), Some("webstone-1.1"));
        assert_eq!(nearest("tpcc"), None);
    }

    #[test]
    fn a_definition_can_contain_its_filelist_or_name_a_file() {
        let inline = find("one-object").unwrap().definition.replace(
            "filelist = { file = \"filelist.txt\" }",
            "filelist = { text = \"1\\n1 1\\n/file2k.html\" }",
        );
        let no_file = |_: &str| -> io::Result<&[u8]> { Err(io::ErrorKind::NotFound.into()) };
        let benchmark = from_definition("my.toml", &inline, no_file).unwrap();
        let web = benchmark.workload.web().unwrap();
        assert_eq!(web.requests[0].body_bytes(0), Some(2048));
        assert!(web.counts_pages, "a filelist with pages counts pages");

        let named = find("one-object").unwrap().definition;
        let error = from_definition("my.toml", named, no_file).unwrap_err();
        assert_eq!(error.to_string(), "`my.toml`: cannot read the filelist `filelist.txt`: entity not found");
    }
}
