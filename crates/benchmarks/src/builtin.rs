//! A built-in benchmark, as each states its own.

/// A built-in benchmark: its files as they are in the source.
#[derive(Debug)]
pub struct Builtin {
    /// The name that users type.
    pub id: &'static str,
    /// File name of the definition.
    pub definition_file: &'static str,
    /// The text of the definition.
    pub definition: &'static str,
    /// The filelists: the one that the definition uses, and others that a run may select.
    pub filelists: &'static [BuiltinFilelist],
}

/// A filelist of a built-in benchmark.
#[derive(Debug)]
pub struct BuiltinFilelist {
    /// The name that users type, or that the definition has for it.
    pub name: &'static str,
    /// The text.
    pub text: &'static str,
}

impl Builtin {
    /// Returns the filelist with a name; `None` if there is none.
    pub(crate) fn filelist(&self, name: &str) -> Option<&'static BuiltinFilelist> {
        self.filelists.iter().find(|filelist| filelist.name == name)
    }
}
