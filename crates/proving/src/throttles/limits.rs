//! Throttles by limits that servers set themselves, by one interpreter, and by a disk that others have tried: of the
//! full matrix alone, because each needs its time, and the rules that they try are those of unit tests.

use super::brief::TrialGroup;
use super::table::{EnvironmentKind, Throttle};

const PLACES: &str = "crates/proving/src/throttles/places.toml";

/// The part of nginx's recipe before its server, in all its profiles.
const UPSTREAM: &str = "    {upstream}\n";

/// The throttles that only the full matrix has.
pub(super) const LIMITS: &[Throttle] = &[
    Throttle {
        name: "places of nginx (limit_conn 4, pages that wait up to 200 ms)",
        bottleneck: "concurrency limit",
        evidence: "operations served at once",
        benchmark: PLACES,
        arguments: "--gateway fastcgi --workers 24 --rate 15,150 --settle 1s --duration 12s",
        environment: EnvironmentKind::Recipe {
            name: "nginx",
            changes: &[
                (UPSTREAM, "    {upstream}\n    limit_conn_zone $server_port zone=places:1m;\n"),
                (
                    "fastcgi_pass unix:{gateway_socket};",
                    "limit_conn places 4;\n            fastcgi_pass unix:{gateway_socket};",
                ),
            ],
        },
        group: TrialGroup::Waiting,
    },
    Throttle {
        name: "rate of nginx (limit_req 40/s, pages that wait up to 200 ms)",
        bottleneck: "rate limit",
        evidence: "",
        benchmark: PLACES,
        arguments: "--gateway fastcgi --workers 24 --rate 15,150 --settle 1s --duration 12s",
        environment: EnvironmentKind::Recipe {
            name: "nginx",
            changes: &[
                (UPSTREAM, "    {upstream}\n    limit_req_zone $server_port zone=rate:1m rate=40r/s;\n"),
                (
                    "fastcgi_pass unix:{gateway_socket};",
                    "limit_req zone=rate burst=4 nodelay;\n            fastcgi_pass unix:{gateway_socket};",
                ),
            ],
        },
        group: TrialGroup::Waiting,
    },
    Throttle {
        name: "connections of nginx to its back end (4, pages that wait 20 ms)",
        bottleneck: "connections to the back end",
        evidence: "bad gateway",
        benchmark: "examples/slow-page.toml",
        arguments: "--gateway proxy --workers 24 --rate 50,400 --settle 1s --duration 6s",
        environment: EnvironmentKind::Recipe {
            name: "nginx",
            changes: &[
                (
                    "server 127.0.0.1:{gateway_port};",
                    "zone app 64k;\n        server 127.0.0.1:{gateway_port} max_conns=4;",
                ),
                ("keepalive 256;", "keepalive 1;"),
            ],
        },
        group: TrialGroup::Waiting,
    },
    Throttle {
        name: "disk bytes of Samba (8 MiB/s, files out of the page cache)",
        bottleneck: "disk bandwidth",
        evidence: "",
        benchmark: "seqread",
        arguments: "--quick --sut samba --set file=128MiB --sut-disk read-bytes=8MiB --sut-quota 0.6 --load 4 --settle 1s --duration 6s",
        environment: EnvironmentKind::Nothing,
        group: TrialGroup::Disk,
    },
    Throttle {
        name: "one interpreter (Python application server with 64 threads)",
        bottleneck: "processor",
        evidence: "busiest server process",
        benchmark: "serverbench",
        arguments: "--quick --set suite=cpu --load 1,16 --settle 1s --duration 6s",
        environment: EnvironmentKind::Interpreter,
        group: TrialGroup::Alone,
    },
];
