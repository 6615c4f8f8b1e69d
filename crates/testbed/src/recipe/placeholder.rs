//! Placeholders in the texts of recipes.

/// The names of all placeholders; docs/recipes.md explains them.
pub const PLACEHOLDERS: &[&str] = &[
    "address",
    "port",
    "root",
    "work_dir",
    "config",
    "pid_file",
    "error_log",
    "user",
    "workers",
    "open_files",
    "connections",
    "backlog",
    "access_log",
    "service_user",
    "service_gid",
    "listen",
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
    "origin",
    "origin_host",
    "origin_port",
    "cache_bytes",
    "cache_mib",
];

/// Returns the names in braces in a template; other uses of braces contain blanks or line ends.
pub fn placeholders(template: &str) -> impl Iterator<Item = &str> {
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
