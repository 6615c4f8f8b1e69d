//! The target policy is enforced at every connection, before a socket is created.

mod common;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use common::{Fixture, SMALL};
use model::{ConnectionLifetime, Outcome};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Addresses that would not answer either, so that the policy is what is seen.
const ELSEWHERE: [&str; 9] = [
    "169.254.169.254:80",
    "[::ffff:169.254.169.254]:80",
    "[64:ff9b::a9fe:a9fe]:80",
    "[2002:7f00:1::]:80",
    "[fe80::1%1]:80",
    "[fd00:ec2::254]:80",
    "192.0.2.1:80",
    "[2001:db8::1]:80",
    "255.255.255.255:80",
];

/// Goal: a forbidden address is refused without creating a socket. Method: 0.0.0.0 and similar addresses are
/// forbidden, but the kernel would connect them to this machine, where a listener shows that nothing arrives.
/// Then the process may open no more files, so that creating a socket would give another outcome. The only
/// test of its program, because it changes the limits of the process.
#[test]
fn nothing_is_opened_for_a_forbidden_address() {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let here = [
        SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)),
        SocketAddr::from((Ipv4Addr::UNSPECIFIED.to_ipv6_mapped(), port)),
    ];
    let elsewhere = ELSEWHERE.iter().map(|address| address.parse().unwrap());
    let forbidden: Vec<SocketAddr> = here.into_iter().chain(elsewhere).collect();
    for address in &forbidden {
        check_forbidden(*address);
    }
    assert!(listener.accept().is_err());
    let benches: Vec<Fixture> =
        forbidden.iter().map(|address| Fixture::new(*address, ConnectionLifetime::PerRequest)).collect();
    let allowed = Fixture::kept(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    allowed.run(async |allowed| {
        let limit = Rlimit { current: Some(0), maximum: getrlimit(Resource::Nofile).maximum };
        setrlimit(Resource::Nofile, limit).unwrap();
        assert_eq!(allowed.get(SMALL).await.outcome, Outcome::NoDescriptor);
        for mut fixture in benches {
            assert_eq!(fixture.get(SMALL).await.outcome, Outcome::Forbidden);
        }
    });
}

fn check_forbidden(address: SocketAddr) {
    for connection in [ConnectionLifetime::PerRequest, ConnectionLifetime::KeepAlive { requests_max: None }] {
        let (outcome, text) =
            Fixture::new(address, connection).run(async |fixture| fixture.get_described(SMALL).await);
        let expected = format!("GET /small.html: the target policy does not allow `{}`", address.ip());
        assert_eq!((outcome, text), (Outcome::Forbidden, expected));
    }
}
