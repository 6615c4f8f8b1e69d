//! The list of built-in benchmarks, and how a benchmark is made from its files.

use std::io;

use model::{Definition, Diagnostics, FilelistSource, Workload, nearest};

use crate::one_object::ONE_OBJECT;
use crate::webstone::{Filelist, FilelistFormat, WEBSTONE_1_1, WEBSTONE_2_0_1};

static ALL: [Builtin; 3] = [WEBSTONE_1_1, WEBSTONE_2_0_1, ONE_OBJECT];

/// A benchmark that comes with the program: its files as they are in the source.
#[derive(Debug)]
pub struct Builtin {
    /// The name that is typed.
    pub id: &'static str,
    /// What the definition's file is called.
    pub definition_file: &'static str,
    /// The text of the definition.
    pub definition: &'static str,
    /// What the filelist's file is called.
    pub filelist_file: &'static str,
    /// The text of the filelist.
    pub filelist: &'static str,
}

impl Builtin {
    /// Reads the benchmark's files.
    ///
    /// # Panics
    /// Never: a test reads them all.
    pub fn load(&self) -> Benchmark {
        from_definition(self.definition_file, self.definition, |name| match name == self.filelist_file {
            true => Ok(self.filelist.to_owned()),
            false => Err(io::ErrorKind::NotFound.into()),
        })
        .expect("built-in benchmarks are valid")
    }
}

/// A benchmark that can be planned.
#[derive(Debug, Clone, PartialEq)]
pub struct Benchmark {
    /// The contract.
    pub definition: Definition,
    /// What is fetched.
    pub workload: Workload,
}

/// There is no built-in benchmark of that name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no benchmark `{id}`")]
pub struct UnknownBenchmark {
    /// The name asked for.
    pub id: String,
    /// The id that is most like it, if one is near enough.
    pub nearest: Option<&'static str>,
}

/// Why a benchmark cannot be made from its files.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Definition or filelist are not valid.
    #[error(transparent)]
    Invalid(#[from] Diagnostics),
    /// The filelist that the definition names cannot be read.
    #[error("`{definition}`: the filelist `{filelist}` cannot be read: {source}")]
    Unreadable {
        /// The definition's file.
        definition: String,
        /// The filelist's name in it.
        filelist: String,
        /// What the system said.
        source: io::Error,
    },
}

/// Returns all built-in benchmarks, in the order in which they are listed.
pub fn all() -> &'static [Builtin] {
    &ALL
}

/// Returns the built-in benchmark with an id.
///
/// # Errors
/// If there is none; names the nearest.
pub fn find(id: &str) -> Result<&'static Builtin, UnknownBenchmark> {
    ALL.iter().find(|builtin| builtin.id == id).ok_or_else(|| UnknownBenchmark {
        id: id.to_owned(),
        nearest: nearest(id, ALL.iter().map(|builtin| builtin.id)),
    })
}

/// Makes a benchmark from the text of its definition. `read_file` gives the text of a filelist that the
/// definition names, relative to where the definition is.
///
/// # Errors
/// If definition or filelist are not valid, or the filelist cannot be read.
pub fn from_definition(
    file_name: &str,
    text: &str,
    read_file: impl FnOnce(&str) -> io::Result<String>,
) -> Result<Benchmark, LoadError> {
    let definition = Definition::parse(file_name, text)?;
    let workload = match &definition.workload.filelist {
        FilelistSource::Text(text) => workload(&definition, &format!("{file_name} (filelist)"), text)?,
        FilelistSource::File(name) => {
            let unreadable = |source| LoadError::Unreadable {
                definition: file_name.to_owned(),
                filelist: name.clone(),
                source,
            };
            workload(&definition, name, &read_file(name).map_err(unreadable)?)?
        }
    };
    Ok(Benchmark { definition, workload })
}

/// Makes a workload from the text of a filelist in either format, for the benchmark of a definition.
///
/// # Errors
/// Everything that is wrong with the filelist.
pub fn workload(definition: &Definition, file_name: &str, text: &str) -> Result<Workload, Diagnostics> {
    let filelist = Filelist::parse(file_name, text)?;
    Ok(Workload {
        content_seed: definition.workload.content_seed,
        counts_pages: definition.workload.counts_pages || filelist.format == FilelistFormat::Pages,
        objects: filelist.objects,
        pages: filelist.pages,
    })
}
