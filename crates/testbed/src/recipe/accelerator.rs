//! Built-in accelerators: caching reverse proxies in front of another server, the origin.
//!
//! Their recipes have the same format as all others and use `{origin}`, the origin's address, instead of
//! `{root}`.

/// Name and text of each.
pub const BUILT_IN_ACCELERATORS: &[(&str, &str)] = &[
    ("plimsoll", include_str!("../../../../recipes/accelerators/plimsoll.toml")),
    ("nginx", include_str!("../../../../recipes/accelerators/nginx.toml")),
    ("varnish", include_str!("../../../../recipes/accelerators/varnish.toml")),
    ("trafficserver", include_str!("../../../../recipes/accelerators/trafficserver.toml")),
    ("haproxy", include_str!("../../../../recipes/accelerators/haproxy.toml")),
    ("squid", include_str!("../../../../recipes/accelerators/squid.toml")),
];
