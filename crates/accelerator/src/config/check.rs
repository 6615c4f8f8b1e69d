//! Checks across keys, once the command line has replaced some of them.

use languages::reader::{TomlTable, ValueError};

use super::error::ConfigMistake;
use super::{Config, ConfigOverrides};

/// The least memory; less is an error.
const MEMORY_MIN: u64 = 1 << 20;

/// The most threads; more are an error.
const WORKERS_MAX: usize = 1024;

/// A conflict between keys, or between keys and the command line.
pub(super) struct Conflict {
    /// The path of the value in the file; empty if it is not from there.
    path: Vec<String>,
    message: String,
    hint: Option<String>,
}

impl Conflict {
    fn new(message: impl Into<String>) -> Conflict {
        Conflict { path: Vec::new(), message: message.into(), hint: None }
    }

    fn hint(self, hint: impl Into<String>) -> Conflict {
        Conflict { hint: Some(hint.into()), ..self }
    }

    /// Sets the path of the value, unless the command line replaces it.
    fn at<const N: usize>(self, path: [&str; N], is_replaced: bool) -> Conflict {
        let path = if is_replaced { Vec::new() } else { path.map(str::to_owned).to_vec() };
        Conflict { path, ..self }
    }

    /// Reports the conflict where it is in the file; returns it if it is not there.
    pub(super) fn report(self, top: &TomlTable) -> Option<ConfigMistake> {
        let path: Vec<&str> = self.path.iter().map(String::as_str).collect();
        let error = ValueError { hint: self.hint.clone(), ..ValueError::new(&self.message) };
        (!top.reject_inner(&path, error)).then_some(ConfigMistake { message: self.message, hint: self.hint })
    }
}

impl Config {
    /// Returns all conflicts of a configuration whose values are right one by one. `top` is its file, for keys that
    /// are checked only if they are given.
    pub(super) fn conflicts(&self, top: &TomlTable, overrides: &ConfigOverrides) -> Vec<Conflict> {
        let mut conflicts = Vec::new();
        conflicts.extend(self.origin_conflict());
        conflicts.extend(self.listen_conflicts(overrides));
        conflicts.extend(self.workers_conflict(overrides));
        conflicts.extend(self.memory_conflict(top, overrides));
        conflicts.extend(self.admin_conflict(overrides));
        conflicts
    }

    fn origin_conflict(&self) -> Option<Conflict> {
        let hint =
            "name it by `--origin http://HOST:PORT`, or in the file: `[[origin.server]]` with `url = \"…\"`";
        let is_missing = self.settings.origin.servers.is_empty();
        is_missing.then(|| Conflict::new("no origin server is given").hint(hint))
    }

    fn listen_conflicts(&self, overrides: &ConfigOverrides) -> Vec<Conflict> {
        let listens = &self.settings.frontend.listens;
        let is_replaced = !overrides.listens.is_empty();
        let mut conflicts = Vec::new();
        for (index, listen) in listens.iter().enumerate() {
            let address = listen.address;
            let at = index.to_string();
            if listen.tls && self.settings.tls.is_none() {
                let conflict = Conflict::new(format!("`{address}` needs TLS, but there is no certificate"))
                    .hint("add `[[tls.certificate]]` with `chain` and `key`");
                conflicts.push(conflict.at(["listen", &at, "tls"], is_replaced));
            }
            if address.port() != 0 && listens[..index].iter().any(|before| before.address == address) {
                let conflict = Conflict::new(format!("`{address}` is listed twice as a listener"));
                conflicts.push(conflict.at(["listen", &at, "address"], is_replaced));
            }
        }
        conflicts
    }

    fn workers_conflict(&self, overrides: &ConfigOverrides) -> Option<Conflict> {
        let is_many = self.settings.workers.is_some_and(|workers| WORKERS_MAX < workers.get());
        let conflict = || Conflict::new(format!("expected at most {WORKERS_MAX} `workers`"));
        is_many.then(|| conflict().hint("use one per CPU").at(["workers"], overrides.workers.is_some()))
    }

    fn memory_conflict(&self, top: &TomlTable, overrides: &ConfigOverrides) -> Option<Conflict> {
        let store = &self.settings.store;
        if store.bytes < MEMORY_MIN {
            let conflict = Conflict::new("expected at least `1 MiB` as `size` of `[memory]`");
            return Some(conflict.at(["memory", "size"], overrides.memory.is_some()));
        }
        // The default is not meant to fit into a small memory.
        let is_more = top.has_inside("memory", "object-max") && store.bytes < store.object_bytes_max;
        let conflict = || Conflict::new("`object-max` of `[memory]` is more than its `size`");
        is_more.then(|| conflict().at(["memory", "object-max"], false))
    }

    fn admin_conflict(&self, overrides: &ConfigOverrides) -> Option<Conflict> {
        let admin = self.admin.as_ref()?;
        let is_open = !admin.listen.ip().is_loopback() && admin.token_file.is_none();
        is_open.then(|| {
            Conflict::new(format!("anybody could use the admin page at `{}`", admin.listen))
                .hint("listen on `127.0.0.1`, or set `token-file` in `[admin]`")
                .at(["admin", "listen"], overrides.admin.is_some())
        })
    }
}
