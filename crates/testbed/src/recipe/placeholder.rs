//! Placeholders in the texts of recipes.

use super::{CompanionRecipe, ConfigRecipe, GatewayRecipe, Recipe, StartRecipe};

/// The names of all placeholders; docs/recipes.md explains them.
pub(crate) const PLACEHOLDERS: &[&str] = &[
    "address",
    "port",
    "root",
    "work_dir",
    "data",
    "program_dir",
    "password",
    "config",
    "pid_file",
    "error_log",
    "user",
    "users",
    "workers",
    "open_files",
    "connections",
    "backlog",
    "access_log",
    "service_user",
    "service_gid",
    "variant",
    "tls_certificate",
    "tls_key",
    "gateway",
    "upstream",
    "gateway_workers",
    "gateway_socket",
    "gateway_port",
    "gateway_dir",
    "cgi_program",
    "plimsoll",
    "buffer_mib",
    "log_mib",
    "origin",
    "origin_host",
    "origin_port",
    "cache_bytes",
    "cache_mib",
];

/// The end of the placeholders of named ports.
const PORT: &str = "_port";

/// Returns the placeholder of a named port.
pub(crate) fn port_placeholder(name: &str) -> String {
    format!("{name}{PORT}")
}

/// Returns whether a placeholder may be that of a named port.
pub(super) fn is_port(placeholder: &str) -> bool {
    placeholder.strip_suffix(PORT).is_some_and(|name| !name.is_empty())
}

impl Recipe {
    /// Returns the first port that a text uses and `ports` does not name.
    pub(super) fn undeclared_port(&self) -> Option<&str> {
        let ports = self.templates().flat_map(placeholders).filter(|name| !PLACEHOLDERS.contains(name));
        ports
            .filter_map(|name| name.strip_suffix(PORT))
            .find(|name| !self.ports.iter().any(|one| one == name))
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

    /// Returns all texts that may contain placeholders.
    fn templates(&self) -> impl Iterator<Item = &str> {
        let profiles = self.profiles.values().flat_map(|profile| {
            std::iter::once(&profile.text).chain(profile.variants.values()).chain(profile.settings.values())
        });
        let gateways = self.gateways.values().flat_map(GatewayRecipe::templates);
        let companions = self.companions.values().flat_map(CompanionRecipe::templates);
        let start = self.start.templates();
        let config = self.config.iter().map(|config| &config.text);
        let statuses = self.profiles.values().filter_map(|profile| profile.status.as_ref());
        let statuses = self.status.iter().chain(statuses);
        let statuses = statuses.filter_map(|status| status.connections_per_worker.as_ref());
        let values = self.settings.values().chain(self.files.values()).chain(self.variants.values());
        let values = values.chain(profiles);
        let steps = self.steps.iter().flat_map(|step| step.run.iter().chain([&step.input]));
        start
            .chain(steps)
            .chain(&self.ready_command)
            .chain(config)
            .chain(values)
            .chain(statuses)
            .map(String::as_str)
            .chain(gateways)
            .chain(companions)
    }
}

impl StartRecipe {
    /// Returns the names of the ports that it uses besides those of all servers, each once.
    pub(crate) fn named_ports(&self) -> Vec<String> {
        let names = self.templates().flat_map(|template| placeholders(template));
        let ports =
            names.filter(|name| !PLACEHOLDERS.contains(name)).filter_map(|name| name.strip_suffix(PORT));
        let mut ports: Vec<String> = ports.map(str::to_owned).collect();
        ports.sort_unstable();
        ports.dedup();
        ports
    }

    /// Returns all texts that may contain placeholders.
    pub(crate) fn templates(&self) -> impl Iterator<Item = &String> {
        self.program.iter().chain(&self.arguments).chain(self.environment.values())
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

    fn templates(&self) -> impl Iterator<Item = &str> {
        let config = self.config.iter().map(|ConfigRecipe { text, .. }| text);
        let start = self.start.templates();
        std::iter::once(&self.listens)
            .chain(&self.program.find)
            .chain(start)
            .chain(config)
            .map(String::as_str)
    }
}

/// Returns the names in braces in a template; other uses of braces contain blanks or line ends.
pub(crate) fn placeholders(template: &str) -> impl Iterator<Item = &str> {
    let is_name = |name: &&str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    template.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0)).filter(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_of_a_configuration_are_not_placeholders() {
        let names: Vec<&str> = placeholders("events {\n x {workers};\n}\nif {} {A} {root}/{").collect();
        assert_eq!(names, ["workers", "root"]);
    }
}
