//! The accelerators that come with the program: servers that keep copies of what another server, the origin, serves.
//!
//! Each has the language of all recipes and names `{origin}`, where that other server is, instead of `{root}`.

/// Name and text of each.
pub const BUILT_IN_ACCELERATORS: &[(&str, &str)] = &[
    ("plimsoll", include_str!("../../../../recipes/accelerators/plimsoll.toml")),
    ("nginx", include_str!("../../../../recipes/accelerators/nginx.toml")),
    ("varnish", include_str!("../../../../recipes/accelerators/varnish.toml")),
    ("trafficserver", include_str!("../../../../recipes/accelerators/trafficserver.toml")),
    ("haproxy", include_str!("../../../../recipes/accelerators/haproxy.toml")),
    ("squid", include_str!("../../../../recipes/accelerators/squid.toml")),
];
