//! Checks of recipes beyond what types express.

use std::path::Path;

use languages::{Diagnostic, nearest};

use super::placeholder::{PLACEHOLDERS, placeholders};
use super::{
    BENCHMARK_PROFILE, CompanionRecipe, ConfigRecipe, GatewayRecipe, Recipe, StatusRecipe, Transport,
    companion,
};

/// The version of the recipe format.
const FORMAT: u32 = 1;

/// A wrong part of a recipe's text, and the problem.
pub type Mistake = (String, Diagnostic);

impl Recipe {
    /// Returns the first mistake.
    pub(super) fn mistake(&self) -> Option<Mistake> {
        self.wrong_head().or_else(|| self.wrong_path()).or_else(|| self.wrong_name()).or_else(|| {
            self.templates().flat_map(placeholders).find_map(|name| wrong("placeholder", name, PLACEHOLDERS))
        })
    }

    fn wrong_head(&self) -> Option<Mistake> {
        if self.format != FORMAT {
            let message =
                format!("recipe format {} is not supported; this program supports {FORMAT}", self.format);
            return Some(("format".into(), problem(message, None)));
        }
        let programs = self.companions.values().map(|companion| &companion.program);
        let finds_none = std::iter::once(&self.program).chain(programs).any(|one| one.find.is_empty());
        finds_none.then(|| ("find".into(), problem("`find` lists no program".into(), None)))
    }

    fn wrong_path(&self) -> Option<Mistake> {
        let configs = self.companions.values().filter_map(|companion| companion.config.as_ref());
        let files = self.config.iter().chain(configs).map(|config| config.file.as_str());
        let files = files.chain(self.files.keys().map(String::as_str));
        let mut pages = self.statuses().map(|status| status.path.as_str());
        if let Some(path) = pages.find(|path| !is_request_path(path)) {
            let message = format!("`{path}` is not a request path");
            return Some((path.to_owned(), problem(message, Some("a request path begins with `/`".into()))));
        }
        let path = self.directories.iter().map(String::as_str).chain(files).find(|path| !is_below(path))?;
        let message = format!("`{path}` is not below the work directory");
        Some((path.to_owned(), problem(message, Some("use a relative path without `..`".into()))))
    }

    fn wrong_name(&self) -> Option<Mistake> {
        if self.profiles.contains_key(BENCHMARK_PROFILE) {
            let message = format!("profile `{BENCHMARK_PROFILE}` is defined by `[config]` and `[settings]`");
            return Some((format!("profiles.{BENCHMARK_PROFILE}"), problem(message, None)));
        }
        if !self.transports.is_empty() && !self.transports.contains_key(&Transport::Plain) {
            return Some(("[transports]".into(), problem("`[transports]` lacks `plain`".into(), None)));
        }
        let own = self.companions.keys().map(String::as_str);
        let known: Vec<&str> = own.chain(companion::built_in_names()).collect();
        let mut names = self.gateways.values().flat_map(|gateway| &gateway.companions);
        names.find_map(|name| wrong("companion", name, &known))
    }

    fn statuses(&self) -> impl Iterator<Item = &StatusRecipe> {
        self.status.iter().chain(self.profiles.values().filter_map(|profile| profile.status.as_ref()))
    }

    /// Returns all texts that may contain placeholders.
    fn templates(&self) -> impl Iterator<Item = &str> {
        let profiles = self.profiles.values().flat_map(|profile| {
            std::iter::once(&profile.text).chain(profile.transports.values()).chain(profile.settings.values())
        });
        let gateways = self.gateways.values().flat_map(GatewayRecipe::templates);
        let companions = self.companions.values().flat_map(CompanionRecipe::templates);
        let start = self.start.arguments.iter().chain(self.start.environment.values());
        let config = self.config.iter().map(|config| &config.text);
        let statuses = self.statuses().filter_map(|status| status.connections_per_worker.as_ref());
        let values = self.settings.values().chain(self.files.values()).chain(self.transports.values());
        let values = values.chain(profiles);
        start
            .chain(config)
            .chain(values)
            .chain(statuses)
            .map(String::as_str)
            .chain(gateways)
            .chain(companions)
    }

    /// Returns whether the server is given the file set: whether its arguments or its configuration use
    /// `{root}`.
    pub fn needs_root(&self) -> bool {
        self.names("root")
    }

    /// Returns whether it is an accelerator in front of another server: whether it uses `{origin}` or a part
    /// of it.
    pub fn is_accelerator(&self) -> bool {
        ["origin", "origin_host", "origin_port"].into_iter().any(|part| self.names(part))
    }

    /// Returns whether a placeholder is used.
    pub fn names(&self, placeholder: &str) -> bool {
        self.templates().flat_map(placeholders).any(|name| name == placeholder)
    }
}

impl GatewayRecipe {
    fn templates(&self) -> impl Iterator<Item = &str> {
        [self.config.as_str(), &self.upstream].into_iter().chain(self.settings.values().map(String::as_str))
    }
}

impl CompanionRecipe {
    /// Returns whether a placeholder is used.
    pub fn names(&self, placeholder: &str) -> bool {
        self.templates().flat_map(placeholders).any(|name| name == placeholder)
    }

    pub(super) fn templates(&self) -> impl Iterator<Item = &str> {
        let config = self.config.iter().map(|ConfigRecipe { text, .. }| text);
        let start = self.start.arguments.iter().chain(self.start.environment.values());
        std::iter::once(&self.listens)
            .chain(&self.program.find)
            .chain(start)
            .chain(config)
            .map(String::as_str)
    }
}

/// Returns the mistake in a name that is not one of `known`.
pub(super) fn wrong(what: &str, name: &str, known: &[&str]) -> Option<Mistake> {
    if known.contains(&name) {
        return None;
    }
    let braced = |name: &str| if what == "placeholder" { format!("{{{name}}}") } else { name.to_owned() };
    let hint = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{}`?", braced(near)),
        None => format!("expected one of {}", known.join(", ")),
    };
    Some((braced(name), problem(format!("unknown {what} `{}`", braced(name)), Some(hint))))
}

fn is_below(path: &str) -> bool {
    let normal = |part| matches!(part, std::path::Component::Normal(_));
    !path.is_empty() && Path::new(path).components().all(normal)
}

fn is_request_path(path: &str) -> bool {
    path.starts_with('/') && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#')
}

/// Creates a diagnostic whose position is determined later.
pub(super) fn problem(message: String, hint: Option<String>) -> Diagnostic {
    Diagnostic { message, span: 0..0, label: String::new(), hint }
}
