//! The values of a recipe's placeholders.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::PathBuf;

use super::account::Account;
use super::buffer_sizes::BufferSizes;
use super::recipe_selection::RecipeSelection;
use super::web::WebValues;
use crate::recipe::Recipe;
use crate::recipe::placeholder::{placeholders, port_placeholder};

/// Accept backlog of a server; the kernel limits it to `net.core.somaxconn`.
pub(super) const BACKLOG: u32 = 65_535;

/// More connections per worker only cost memory: there are not as many local ports.
const CONNECTIONS_MAX: u64 = 65_536;

/// The values of the placeholders for one start of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlaceholderValues {
    /// The address it listens on.
    pub address: Ipv4Addr,
    /// Its port; 0 leaves the choice to a server that announces its address.
    pub port: u16,
    /// The server's own directory.
    pub work_dir: PathBuf,
    /// The directory of its data.
    pub data: PathBuf,
    /// The directory of its program.
    pub program_dir: PathBuf,
    /// The password of its user `plimsoll`, made for this start.
    pub password: String,
    /// Its further ports, by name.
    pub ports: BTreeMap<String, u16>,
    /// Name of its configuration file.
    pub config_file: String,
    /// The user it runs as.
    pub user: String,
    /// The most users that a load point has: a server with accounts has one for each.
    pub users: u32,
    /// Worker processes or threads that fit its allowance.
    pub workers: u32,
    /// Limit on its open files.
    pub open_files: u64,
    /// The service account for servers that refuse to run as root.
    pub service: Account,
    /// The lines of the variant: a part of the configuration, with placeholders replaced.
    pub variant: String,
    /// The port of a companion.
    pub companion_port: u16,
    /// The path of Plimsoll itself.
    pub plimsoll: PathBuf,
    /// Sizes of the buffers and the log of a database.
    pub sizes: BufferSizes,
    /// The values that only web servers have.
    pub web: WebValues,
}

impl PlaceholderValues {
    /// Returns the path of the configuration file.
    pub(crate) fn config(&self) -> PathBuf {
        self.work_dir.join(&self.config_file)
    }

    /// Returns the path of the server's error log.
    pub(crate) fn error_log(&self) -> PathBuf {
        self.work_dir.join("error.log")
    }

    /// Returns the path of the server's request log.
    pub(crate) fn access_log(&self) -> PathBuf {
        self.work_dir.join("access.log")
    }

    /// Returns the path of the server's certificate.
    pub(crate) fn certificate_file(&self) -> PathBuf {
        self.work_dir.join("certificate.pem")
    }

    /// Returns the path of the key to the server's certificate.
    pub(crate) fn key_file(&self) -> PathBuf {
        self.work_dir.join("key.pem")
    }

    /// Returns the path of the Unix socket of the server's companion.
    pub(crate) fn companion_socket(&self) -> PathBuf {
        self.work_dir.join("gateway.sock")
    }

    /// Returns the directory of programs that are written for the server.
    pub(crate) fn programs_dir(&self) -> PathBuf {
        self.work_dir.join("gateway")
    }

    /// Returns them with the parts of the configuration that depend on a selection; other values are already known.
    pub(super) fn with_parts_of(self, choice: &RecipeSelection) -> PlaceholderValues {
        let variant = self.fill(&choice.variant_text);
        let web = self.web.with_parts_of(&choice.web, &self);
        PlaceholderValues { variant, web, ..self }
    }

    /// Returns them without those that are chosen for each start.
    pub(super) fn of_every_start(&self) -> PlaceholderValues {
        PlaceholderValues {
            port: 0,
            ports: self.ports.keys().map(|name| (name.clone(), 0)).collect(),
            work_dir: PathBuf::new(),
            data: PathBuf::new(),
            password: String::new(),
            companion_port: 0,
            web: WebValues { root: PathBuf::new(), ..self.web.clone() },
            ..self.clone()
        }
    }

    /// Returns the values chosen for this start alone, ports and folders, by the names of their placeholders.
    /// A port chosen by the server itself is not among them.
    pub(crate) fn of_this_start(&self) -> Vec<(String, String)> {
        let port = |port: u16| (port != 0).then(|| port.to_string());
        let path = |path: &PathBuf| Some(path.to_string_lossy().into_owned()).filter(|path| !path.is_empty());
        let chosen = [
            ("port", port(self.port)),
            ("gateway_port", port(self.companion_port)),
            ("work_dir", path(&self.work_dir)),
            ("data", path(&self.data)),
            ("root", path(&self.web.root)),
        ];
        let named = self.ports.iter().map(|(name, port)| (port_placeholder(name), port.to_string()));
        chosen.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).chain(named).collect()
    }

    /// Returns a template with its placeholders replaced, each once: braces in values are kept.
    pub(crate) fn fill(&self, template: &str) -> String {
        let mut filled = String::new();
        let mut rest = template;
        for name in placeholders(template) {
            let token = format!("{{{name}}}");
            let at = rest.find(&token).expect("names come from this text, in its order");
            filled += &rest[..at];
            filled += &self.get(name).unwrap_or_else(|| token.clone());
            rest = &rest[at + token.len()..];
        }
        filled + rest
    }

    fn get(&self, name: &str) -> Option<String> {
        let path = |path: PathBuf| path.to_string_lossy().into_owned();
        Some(match name {
            "address" => self.address.to_string(),
            "port" => self.port.to_string(),
            "work_dir" => path(self.work_dir.clone()),
            "data" => path(self.data.clone()),
            "program_dir" => path(self.program_dir.clone()),
            "password" => self.password.clone(),
            "config" => path(self.config()),
            "pid_file" => path(self.work_dir.join("server.pid")),
            "error_log" => path(self.error_log()),
            "user" => self.user.clone(),
            "users" => self.users.to_string(),
            "workers" => self.workers.to_string(),
            "open_files" => self.open_files.to_string(),
            "connections" => self.open_files.min(CONNECTIONS_MAX).to_string(),
            "backlog" => BACKLOG.to_string(),
            "access_log" => path(self.access_log()),
            "service_user" => self.service.name.clone(),
            "service_gid" => self.service.gid.to_string(),
            "variant" => self.variant.clone(),
            "tls_certificate" => path(self.certificate_file()),
            "tls_key" => path(self.key_file()),
            "gateway_socket" => path(self.companion_socket()),
            "gateway_port" => self.companion_port.to_string(),
            "gateway_dir" => path(self.programs_dir()),
            "plimsoll" => path(self.plimsoll.clone()),
            "buffer_mib" => self.sizes.buffer_mib.to_string(),
            "log_mib" => self.sizes.log_mib.to_string(),
            _ => return self.of_web(name).or_else(|| self.of_port(name)),
        })
    }

    fn of_port(&self, name: &str) -> Option<String> {
        Some(self.ports.get(name.strip_suffix("_port")?)?.to_string())
    }
}

/// Returns the name of the configuration file; empty of a server without one.
pub(super) fn config_file(recipe: &Recipe) -> String {
    recipe.config.as_ref().map(|config| config.file.clone()).unwrap_or_default()
}

/// Returns the number of workers for an allowance: one per CPU of the quota, rounded up.
pub(super) fn workers_for(cpus: usize, quota: Option<f64>) -> u32 {
    let allowance = quota.unwrap_or(cpus as f64).min(cpus as f64);
    (allowance.ceil() as u32).max(1)
}

#[cfg(test)]
mod tests {
    use analysis::compare::plain_value;
    use model::{Fact, FactSection, Gateway, RUN_VALUES, Testbed};

    use super::super::web::Origin;
    use super::*;
    use crate::recipe::placeholder::PLACEHOLDERS;
    use crate::recipe::{BUILT_IN_ACCELERATORS, BUILT_IN_RECIPES};

    fn values() -> PlaceholderValues {
        PlaceholderValues {
            address: Ipv4Addr::LOCALHOST,
            port: 8080,
            work_dir: "/dev/shm/{port} x".into(),
            data: PathBuf::from("/dev/shm/{port} x/data"),
            program_dir: PathBuf::from("/usr/bin"),
            password: "0123".into(),
            ports: [("log".to_owned(), 8081)].into(),
            config_file: "c.conf".into(),
            user: "nobody".into(),
            users: 300,
            workers: 2,
            open_files: 20_000,
            service: Account { name: "nobody".into(), uid: 65_534, gid: 65_534 },
            variant: String::new(),
            companion_port: 0,
            plimsoll: PathBuf::new(),
            sizes: BufferSizes::of(None, 1 << 40),
            web: WebValues { root: PathBuf::from("/dev/shm/{port} x/root"), ..WebValues::default() },
        }
    }

    fn with_origin(origin: Origin, values: PlaceholderValues) -> PlaceholderValues {
        PlaceholderValues { web: WebValues { origin: Some(origin), ..values.web }, ..values }
    }

    #[test]
    fn an_accelerator_gets_its_origin_and_cache_size() {
        let address = "127.0.0.2:8081".parse().unwrap();
        let values = with_origin(Origin { address, cache_bytes: 100_000_000 }, values());
        let filled = values.fill("{origin} {origin_host} {origin_port} {cache_bytes} {cache_mib}");
        assert_eq!(filled, "127.0.0.2:8081 127.0.0.2 8081 100000000 95");
    }

    #[test]
    fn placeholders_are_replaced_once_and_braces_stay() {
        let filled = values().fill("e {\n l {port}; r \"{root}\"; {x} {port}\n}");
        assert_eq!(filled, "e {\n l 8080; r \"/dev/shm/{port} x/root\"; {x} 8080\n}");
        assert_eq!(values().fill(""), "");
    }

    #[test]
    fn every_name_has_a_value() {
        for name in PLACEHOLDERS {
            assert!(values().get(name).is_some(), "{name}");
        }
    }

    /// Returns all texts of a recipe's selection with placeholders replaced, as they are disclosed.
    fn filled(recipe: &Recipe, choice: &RecipeSelection, values: &PlaceholderValues) -> Vec<String> {
        let values = values.clone().with_parts_of(choice);
        let mut templates: Vec<String> = recipe.start.templates().cloned().collect();
        templates.extend(recipe.steps.iter().flat_map(|step| step.run.iter().chain([&step.input]).cloned()));
        templates.extend(choice.config_text.clone());
        templates.extend(recipe.files.values().cloned());
        templates.extend(choice.settings.values().cloned());
        for (_, companion) in &choice.companions {
            templates.extend(companion.start.templates().cloned());
            templates.push(companion.listens.clone());
            templates.extend(companion.config.iter().map(|config| config.text.clone()));
        }
        templates.iter().map(|template| values.fill(template)).collect()
    }

    /// Masks texts as a comparison does, by the values recorded at the start.
    fn masked(values: &PlaceholderValues, proxy: Option<u16>, texts: &[String]) -> Vec<String> {
        let mut facts: Vec<Fact> =
            values.of_this_start().iter().map(|(name, value)| Fact::found(name, value)).collect();
        facts.extend(proxy.map(|port| Fact::found("accelerator_port", &port.to_string())));
        let testbed = Testbed { sections: vec![FactSection { title: RUN_VALUES.to_owned(), facts }] };
        let section = FactSection::new("Server configuration", []);
        texts.iter().map(|text| plain_value(&testbed, &section, &Fact::found("file", text))).collect()
    }

    /// Returns two starts without any common value chosen by the run.
    fn starts() -> [PlaceholderValues; 2] {
        let start = |port, companion_port, folder: &str| PlaceholderValues {
            port,
            companion_port,
            work_dir: folder.into(),
            data: PathBuf::from(folder.replace("/dev/shm", "/var/tmp")).join("data"),
            ports: BTreeMap::new(),
            web: WebValues {
                root: PathBuf::from(format!("{folder}.files/web")),
                workers: 2,
                ..WebValues::default()
            },
            ..values()
        };
        [start(35_913, 35_914, "/dev/shm/p/1-0"), start(41_002, 59_001, "/run/q/4194304-17")]
    }

    /// The reported case was lighttpd's `server.port`; any recipe may use chosen values in any form.
    #[test]
    fn two_starts_of_a_recipe_are_equal_once_masked() {
        let mut n = 0;
        for (name, _) in BUILT_IN_RECIPES {
            let recipe = Recipe::load(name).unwrap();
            let gateways: Vec<Option<Gateway>> = std::iter::once(None)
                .chain(recipe.gateways.keys().map(|kind| Some(Gateway { kind: *kind, workers: 2 })))
                .collect();
            let variants: Vec<Option<&str>> =
                std::iter::once(None).chain(recipe.variant_names().into_iter().map(Some)).collect();
            for (profile, variant) in recipe
                .profile_names()
                .flat_map(|profile| variants.iter().map(move |variant| (profile, *variant)))
            {
                for gateway in &gateways {
                    let choice = RecipeSelection::make(&recipe, Some(profile), variant).unwrap();
                    let choice = choice.with_web(&recipe, *gateway).unwrap();
                    let [one, other] = starts();
                    let texts = [&one, &other].map(|values| filled(&recipe, &choice, values));
                    assert_ne!(texts[0], texts[1], "{name}");
                    let [of_one, of_other] = [masked(&one, None, &texts[0]), masked(&other, None, &texts[1])];
                    assert_eq!(of_one, of_other, "{name} {profile} {variant:?} {gateway:?}");
                    n += 1;
                }
            }
        }
        assert!(BUILT_IN_RECIPES.len() * 3 < n, "{n}");
    }

    #[test]
    fn two_starts_of_an_accelerator_are_equal_once_masked() {
        for (name, _) in BUILT_IN_ACCELERATORS {
            let recipe = Recipe::load_accelerator(name).unwrap();
            for variant in recipe.variant_names() {
                let choice = RecipeSelection::make(&recipe, None, Some(variant)).unwrap();
                let of = |server: &PlaceholderValues, port: u16| {
                    let address = (Ipv4Addr::new(127, 0, 0, 2), server.port).into();
                    let work_dir = server.work_dir.join("accelerator");
                    let proxy = PlaceholderValues { port, work_dir, ..server.clone() };
                    let proxy = with_origin(Origin { address, cache_bytes: 100_000_000 }, proxy);
                    (
                        filled(&recipe, &choice, &proxy),
                        masked(server, Some(port), &filled(&recipe, &choice, &proxy)),
                    )
                };
                let [one, other] = starts();
                let ((first, of_one), (second, of_other)) = (of(&one, 36_000), of(&other, 42_000));
                assert_ne!(first, second, "{name}");
                assert_eq!(of_one, of_other, "{name} {variant}");
            }
        }
    }

    #[test]
    fn workers_are_limited_by_cpus_and_quota() {
        for (cpus, quota, workers) in [
            (4, None, 4),
            (4, Some(0.25), 1),
            (4, Some(1.5), 2),
            (2, Some(8.0), 2),
            (1, Some(1.0), 1),
            (0, None, 1),
        ] {
            assert_eq!(workers_for(cpus, quota), workers, "{cpus} {quota:?}");
        }
    }
}
