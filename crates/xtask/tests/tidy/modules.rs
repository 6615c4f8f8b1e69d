//! The modules of a crate, and the module that defines what a path in its code names.
//!
//! A path is followed through modules and re-exports, also of whole modules (`pub use a::*`), to the module that declares
//! its next name. What only a value's methods lead to is not seen: a method is no path.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{Source, item};

/// A module by the names from the root of its crate; the root itself has none.
pub(crate) type ModulePath<'a> = Vec<&'a str>;

/// The modules of a crate without those of tests, which may import from anywhere.
pub(crate) struct Modules<'a> {
    modules: BTreeMap<ModulePath<'a>, Module<'a>>,
}

/// A module, as its file has it.
struct Module<'a> {
    /// The path of the file.
    file: &'a str,
    /// The lines of code.
    code: String,
    /// The names of its items.
    items: BTreeSet<String>,
    /// Its imports, by the names that they have there, each as written.
    imports: BTreeMap<String, Vec<String>>,
    /// The modules of which it imports everything, each as written.
    globs: Vec<Vec<String>>,
}

/// An import between modules: by which file, of which module.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Import<'a> {
    pub file: &'a str,
    pub importer: ModulePath<'a>,
    pub definer: ModulePath<'a>,
}

impl<'a> Modules<'a> {
    /// Reads the sources of a crate.
    pub(crate) fn of(sources: impl Iterator<Item = &'a Source>) -> Modules<'a> {
        let mut modules = BTreeMap::new();
        let mut of_tests: Vec<ModulePath> = Vec::new();
        for source in sources {
            let Some(path) = source.module().map(without_root) else { continue };
            let code: Vec<&str> = source.code().into_iter().map(|(_, line)| line).collect();
            of_tests.extend(test_modules(source, &path));
            modules.insert(path, Module::of(&source.path, &code));
        }
        modules.retain(|path, _| !of_tests.iter().any(|tests| path.starts_with(tests)));
        Modules { modules }
    }

    /// Returns every import of a module by another, once for each file.
    pub(crate) fn imports(&self) -> BTreeSet<Import<'a>> {
        let mut imports = BTreeSet::new();
        for (path, module) in &self.modules {
            for written in paths_in(&module.code) {
                if let Some(definer) = self.definer(path, &written, MOST_STEPS) {
                    imports.insert(Import { file: module.file, importer: path.clone(), definer });
                }
            }
        }
        imports
    }

    /// Returns the module that defines what a path in a module names; `None` if it leads out of the crate. No path has so
    /// many steps, so that re-exports in a circle end.
    fn definer(&self, from: &[&'a str], written: &[String], steps: usize) -> Option<ModulePath<'a>> {
        let (mut at, mut rest) = self.start(from, written)?;
        while let Some((name, behind)) = rest.split_first() {
            if let Some(child) = self.child(&at, name) {
                (at, rest) = (child, behind);
                continue;
            }
            let Some(module) = self.modules.get(&at) else { break };
            if steps == 0 || module.items.contains(name) {
                break;
            }
            if let Some(import) = module.imports.get(name) {
                return self.definer(&at, &[import.as_slice(), behind].concat(), steps - 1);
            }
            let of_glob = |glob: &Vec<String>| {
                let whole = self.definer(&at, glob, steps - 1).filter(|whole| *whole != at)?;
                let found = self.modules.get(&whole)?;
                let has = found.items.contains(name) || found.imports.contains_key(name);
                has.then(|| self.definer(&at, &[glob.as_slice(), rest].concat(), steps - 1)).flatten()
            };
            return module.globs.iter().find_map(of_glob).or(Some(at));
        }
        Some(at)
    }

    /// Returns the module at which a path begins, and its names from there; `None` if it leads out of the crate.
    fn start<'w>(&self, from: &[&'a str], written: &'w [String]) -> Option<(ModulePath<'a>, &'w [String])> {
        let (first, behind) = written.split_first()?;
        match first.as_str() {
            "crate" => Some((Vec::new(), behind)),
            "self" => Some((from.to_vec(), behind)),
            "super" => {
                let n_up = written.iter().take_while(|name| *name == "super").count();
                Some((from[..from.len().checked_sub(n_up)?].to_vec(), &written[n_up..]))
            }
            _ => self.child(from, first).map(|child| (child, behind)),
        }
    }

    /// Returns the module below another.
    fn child(&self, path: &[&'a str], name: &str) -> Option<ModulePath<'a>> {
        let is_it = |known: &&ModulePath<'a>| {
            known.len() == path.len() + 1 && known.starts_with(path) && known.last() == Some(&name)
        };
        self.modules.keys().find(is_it).cloned()
    }
}

/// The most re-exports that one path goes through.
const MOST_STEPS: usize = 16;

impl<'a> Module<'a> {
    fn of(file: &'a str, code: &[&str]) -> Module<'a> {
        let text = code.join("\n");
        let items =
            code.iter().filter_map(|line| item(line)).filter(|(_, keyword, _)| ITEMS.contains(keyword));
        let items = items.map(|(_, _, name)| name.to_owned()).collect();
        let mut imports = BTreeMap::new();
        let mut globs = Vec::new();
        for NamedPath { names, called } in uses_in(&text) {
            if let Some(called) = called {
                imports.entry(called).or_insert(names);
            } else {
                globs.push(names);
            }
        }
        Module { file, code: text, items, imports, globs }
    }
}

/// The keywords of items that are named in paths.
const ITEMS: [&str; 9] =
    ["struct", "enum", "trait", "type", "union", "fn", "const", "static", "macro_rules!"];

/// Returns a module without the name of a crate's root.
fn without_root(module: ModulePath) -> ModulePath {
    if module == ["lib"] || module == ["main"] { Vec::new() } else { module }
}

/// Returns the modules that a file declares for tests alone: `#[cfg(test)] mod fixtures;`.
fn test_modules<'a>(source: &'a Source, path: &[&'a str]) -> Vec<ModulePath<'a>> {
    let is_for_tests = |line: &str| line.starts_with("#[cfg(") && line.contains("test");
    let pairs = source.lines.windows(2).filter(|pair| is_for_tests(&pair[0]));
    let names = pairs.filter_map(|pair| pair[1].split_once("mod ")?.1.strip_suffix(';'));
    names.map(|name| [path, &[name]].concat()).collect()
}

/// A path with the name that it gives to what it leads to; without one it is of everything there.
#[derive(Debug, PartialEq, Eq)]
struct NamedPath {
    names: Vec<String>,
    called: Option<String>,
}

/// Returns the paths of all `use` declarations.
fn uses_in(code: &str) -> Vec<NamedPath> {
    let mut paths = Vec::new();
    for (at, _) in code.match_indices("use ") {
        let before = code[..at].trim_end_matches(' ');
        if before.is_empty() || before.ends_with(['\n', '{', '}', ';', ')']) || before.ends_with("pub") {
            read_tree(&code[at + 4..], &[], &mut paths);
        }
    }
    paths
}

/// Returns all paths that begin within the crate: those of declarations, and others.
fn paths_in(code: &str) -> BTreeSet<Vec<String>> {
    let mut paths = Vec::new();
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(start) {
            if !code[..at].ends_with(|before: char| before.is_alphanumeric() || "_:$".contains(before)) {
                read_tree(&code[at..], &[], &mut paths);
            }
        }
    }
    paths.into_iter().map(|path| path.names).collect()
}

/// Reads the path, or the tree of paths, at the beginning of a text, and returns the text behind it.
fn read_tree<'t>(text: &'t str, above: &[String], paths: &mut Vec<NamedPath>) -> &'t str {
    let mut names = above.to_vec();
    let mut rest = text.trim_start();
    loop {
        if let Some(branches) = rest.strip_prefix('{') {
            return read_branches(branches, &names, paths);
        }
        if let Some(behind) = rest.strip_prefix('*') {
            paths.push(NamedPath { names, called: None });
            return behind;
        }
        let (name, behind) = split_name(rest);
        if name.is_empty() {
            break;
        }
        rest = behind;
        // `a::{self}` is `a`.
        if name != "self" || names.is_empty() {
            names.push(name.to_owned());
        }
        match rest.trim_start().strip_prefix("::") {
            Some(behind) => rest = behind.trim_start(),
            None => break,
        }
    }
    let alias = rest.trim_start().strip_prefix("as ").map(|text| split_name(text.trim_start()));
    let called = alias.map(|(name, _)| name.to_owned()).or_else(|| names.last().cloned());
    paths.push(NamedPath { names, called });
    alias.map_or(rest, |(_, behind)| behind)
}

/// Reads the branches of a tree up to its closing brace.
fn read_branches<'t>(text: &'t str, above: &[String], paths: &mut Vec<NamedPath>) -> &'t str {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|next: char| next.is_whitespace() || next == ',');
        if let Some(behind) = rest.strip_prefix('}') {
            return behind;
        }
        let behind = read_tree(rest, above, paths);
        if behind.len() == rest.len() {
            return behind;
        }
        rest = behind;
    }
}

fn split_name(text: &str) -> (&str, &str) {
    text.split_at(text.find(|next: char| !next.is_alphanumeric() && next != '_').unwrap_or(text.len()))
}

/// Returns a path and its name as text.
fn shown(path: &NamedPath) -> String {
    format!("{} = {}", path.called.as_deref().unwrap_or("*"), path.names.join("::"))
}

#[test]
fn trees_of_paths_are_read_with_their_names() {
    let code = "use a::{self, b::{C, D as E}, f::*};\npub(crate) use crate::g\n::H;\nlet used = reuse x;\n";
    let read: Vec<String> = uses_in(code).iter().map(shown).collect();
    assert_eq!(read, ["a = a", "C = a::b::C", "E = a::b::D", "* = a::f", "H = crate::g::H"]);
}

#[test]
fn paths_are_found_wherever_they_stand() {
    let code =
        "fn f(a: &super::super::A<crate::b::B>) -> X { self::c::<u8>(); $crate::no::N; other_crate::no() }";
    let found: Vec<String> = paths_in(code).iter().map(|names| names.join("::")).collect();
    assert_eq!(found, ["crate::b::B", "self::c", "super::super::A"]);
}

#[test]
fn names_are_followed_to_the_module_that_defines_them() {
    let sources = [
        ("lib.rs", "pub use a::{A, B};\npub use c::*;\npub struct Own;\n"),
        ("a/mod.rs", "pub use crate::d::A;\npub use deep::B;\n"),
        ("a/deep.rs", "pub struct B;\n"),
        ("c.rs", "pub enum C {}\npub use crate::e as f;\n"),
        ("d.rs", "pub trait A {}\n"),
        ("e.rs", "pub fn g() {}\n"),
    ];
    let sources: Vec<Source> =
        sources.iter().map(|(path, text)| Source::new(&format!("crates/x/src/{path}"), text)).collect();
    let modules = Modules::of(sources.iter());
    let definer = |from: &[&'static str], path: &str| {
        let written: Vec<String> = path.split("::").map(str::to_owned).collect();
        modules.definer(from, &written, MOST_STEPS).map(|path| path.join("::"))
    };
    for (path, expected) in [
        ("crate::A", "d"),
        ("crate::B::new", "a::deep"),
        ("crate::C", "c"),
        ("crate::f::g", "e"),
        ("crate::Own", ""),
        ("crate::a", "a"),
        ("super::a::deep::B", "a::deep"),
        ("self::own", "d"),
    ] {
        assert_eq!(definer(&["d"], path).as_deref(), Some(expected), "{path}");
    }
    assert_eq!(definer(&["d"], "std::fmt::Display"), None);
    assert_eq!(definer(&["d"], "super::super::A"), None);
}

#[test]
fn re_exports_in_a_circle_end() {
    let sources = [
        Source::new("crates/x/src/a.rs", "pub use crate::b::X;\n"),
        Source::new("crates/x/src/b.rs", "pub use crate::a::X;\n"),
    ];
    let modules = Modules::of(sources.iter());
    assert!(modules.definer(&["a"], &["crate", "a", "X"].map(str::to_owned), MOST_STEPS).is_some());
}
