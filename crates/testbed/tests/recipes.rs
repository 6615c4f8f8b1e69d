//! Every built-in recipe, with the servers of Debian's packages. A server that is not installed fails its
//! test with the command that installs it.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use languages::NamedValues;
use model::{Content, Gateway, GatewayKind, GeneratedText};
use rustls::version::{TLS12, TLS13};
use testbed::{Recipe, RunningSut, SutRequest, SutServer, WebVariant};

use crate::fixture::{READY_MAX, ask, directory, files, get, request, resumes, value};

/// A Python stand-in for Plimsoll's page generation, because the binary is not built when these tests run:
/// CGI when started by a web server, and `serve pages --listen ADDRESS`. The real one is covered by the tests
/// of the binary.
const STAND_IN: &str = r#"#!/usr/bin/python3
import os, sys
sys.dont_write_bytecode = True
sys.path.insert(0, "GATEWAYS")
from dyn import application
if "GATEWAY_INTERFACE" in os.environ:
    from wsgiref.handlers import CGIHandler
    os.environ["SCRIPT_NAME"] = ""
    os.environ["PATH_INFO"] = os.environ["REQUEST_URI"].split("?")[0]
    CGIHandler().run(application)
elif sys.argv[1:3] == ["serve", "pages"]:
    from wsgiref.simple_server import make_server
    host, port = sys.argv[sys.argv.index("--listen") + 1].split(":")
    make_server(host, int(port), application).serve_forever()
else:
    print("stand-in 1")
"#;

fn write_stand_in(directory: &Path) -> PathBuf {
    let gateways = directory.join("gateways");
    std::fs::create_dir(&gateways).unwrap();
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/../../gateways/dyn.py"), gateways.join("dyn.py"))
        .unwrap();
    let path = directory.join("stand-in");
    std::fs::write(&path, STAND_IN.replace("GATEWAYS", gateways.to_str().unwrap())).unwrap();
    std::fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    path
}

fn start(request: SutRequest) -> RunningSut {
    let mut sut = RunningSut::start(request).unwrap_or_else(|error| panic!("{error}"));
    sut.wait_ready(READY_MAX).unwrap_or_else(|error| panic!("{error}"));
    sut
}

/// Requests every file, in every profile and variant, and compares every byte.
fn check_files(name: &str) {
    let recipe = Recipe::load(name).unwrap();
    let base = directory();
    let files = files();
    let content = Content::new(files.content_seed);
    for profile in recipe.profile_names() {
        for name in recipe.variant_names() {
            let variant = WebVariant::named(name).unwrap();
            let server = SutServer::Recipe(Box::new(recipe.clone()));
            let profile = Some(profile.to_owned());
            let request = SutRequest {
                profile,
                variant: Some(name.to_owned()),
                ..request(server, base.path(), &files)
            };
            let sut = start(request);
            for file in &files.files {
                let body = get(&sut, &file.path);
                assert_eq!(body.len() as u64, file.bytes, "{}", file.path);
                assert!(content.matches(file.object, 0, &body), "{}", file.path);
            }
            assert_eq!(value(&sut.facts(), "transport"), variant.title());
            assert!(sut.url().starts_with(variant.scheme()), "{}", sut.url());
            if variant.is_tls() {
                assert!(resumes(&sut, &TLS12), "TLS 1.2, {variant}");
                assert!(resumes(&sut, &TLS13), "TLS 1.3, {variant}");
            }
        }
    }
}

/// Requests pages, besides files, through each gateway of the recipe that can be tested here.
fn check_gateways(name: &str) {
    let recipe = Recipe::load(name).unwrap();
    let base = directory();
    let files = files();
    let program = write_stand_in(base.path());
    // FastCGI needs Plimsoll itself.
    for kind in recipe.gateways.keys().copied().filter(|kind| *kind != GatewayKind::FastCgi) {
        let server = SutServer::Recipe(Box::new(recipe.clone()));
        let mut request = request(server, base.path(), &files);
        request.web.gateway = Some(Gateway { kind, workers: 2 });
        request.program.clone_from(&program);
        let mut sut = start(request);
        check_pages(&sut, kind);
        sut.reset().unwrap_or_else(|error| panic!("{error}"));
        check_pages(&sut, kind);
        assert_eq!(value(&sut.facts(), "kind"), kind.name());
    }
}

fn check_pages(sut: &RunningSut, kind: GatewayKind) {
    let pages = [
        ("/dyn?size=5&seed=1", 0, 5, 1),
        ("/dyn", 0, 1000, 0),
        ("/deep/page.dyn-send?size=100", 0, 100, 0),
        ("/cgi-bin/simple?seed=7&size=70", 50, 70, 7),
    ];
    for (path, prefix, bytes, seed) in pages {
        let body = get(sut, path);
        assert_eq!(body.len(), bytes, "{kind} {path}");
        assert_eq!(GeneratedText::new(seed).matches(&body[prefix..]), Ok(()), "{kind} {path}");
    }
    let (status, _) = ask(sut, "/dyn?size=x");
    assert!(status.contains(" 400"), "{kind}: {status}");
    assert_eq!(get(sut, "/small.html").len(), 500, "{kind}");
}

macro_rules! recipes {
    ($($module:ident $name:literal)*) => {$(
        mod $module {
            #[test]
            fn serves_files_in_every_profile_and_variant() {
                super::check_files($name);
            }

            #[test]
            fn serves_generated_pages() {
                super::check_gateways($name);
            }
        }
    )*};
}

recipes! {
    nginx "nginx"
    apache "apache"
    apache_prefork "apache-prefork"
    caddy "caddy"
    lighttpd "lighttpd"
}
