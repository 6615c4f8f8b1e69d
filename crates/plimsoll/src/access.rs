//! The way to a running web server: `--resolve`, `--connect-to`, `--unix-socket`, `--cert`.

use std::path::Path;

use drivers::web::{ConnectTo, Target};
use drivers::{ClientIdentity, ClientIdentityError};
use languages::{HttpUrl, foreign_text};

use crate::arguments::SutArguments;
use crate::connect_to::ConnectToArgument;
use crate::exit::Failure;

/// Returns the first flag that was given and concerns connections to a running web server.
pub(crate) fn first_given(arguments: &SutArguments) -> Option<&'static str> {
    let given = [
        (!arguments.resolve.is_empty(), "--resolve"),
        (!arguments.connect_to.is_empty(), "--connect-to"),
        (arguments.unix_socket.is_some(), "--unix-socket"),
        (arguments.cert.is_some(), "--cert"),
    ];
    given.into_iter().find_map(|(is_given, flag)| is_given.then_some(flag))
}

/// Returns these flags as they stand on a command line, each behind a space.
pub(crate) fn flags_text(arguments: &SutArguments) -> String {
    let paths = [
        ("unix-socket", &arguments.unix_socket),
        ("ca", &arguments.ca),
        ("cert", &arguments.cert),
        ("key", &arguments.key),
    ];
    let paths =
        paths.into_iter().filter_map(|(flag, path)| Some((flag, path.as_ref()?.display().to_string())));
    // `--resolve` says no more than this.
    let places = arguments.connect_to.iter().chain(&arguments.resolve);
    let places = places.map(|place| ("connect-to", place.to_string()));
    places.chain(paths).map(|(flag, value)| format!(" --{flag} {}", foreign_text(&value))).collect()
}

/// Reads the URL of a web server, with the way to connect to it that flags name.
///
/// # Errors
/// The URL is not valid, or flags do not fit it.
pub(crate) fn web_target(url: &str, arguments: &SutArguments) -> Result<Target, Failure> {
    let mut target: Target = url.parse().map_err(Failure::usage)?;
    apply(&mut target, arguments)?;
    Ok(target)
}

/// Gives a target the way to connect to it that flags name.
///
/// # Errors
/// A flag is for another server, contradicts the URL, or names a certificate that cannot be used.
pub(crate) fn apply(target: &mut Target, arguments: &SutArguments) -> Result<(), Failure> {
    let is_socket = target.socket().is_some();
    if is_socket && let Some(flag) = first_given(arguments) {
        let error = format!("`{flag}` cannot be used with the URL of a Unix socket");
        return Err(Failure::usage(error)
            .hint("name the socket by `--unix-socket FILE`, beside an `http://` or `https://` URL"));
    }
    if let Some(path) = &arguments.unix_socket {
        target.access.connect_to = ConnectTo::Socket(path.clone());
    }
    for place in arguments.connect_to.iter().chain(&arguments.resolve) {
        connect_to(target, place)?;
    }
    if let Some(certificate) = &arguments.cert {
        if !target.secure {
            let error = "`--cert` requires TLS, but the target does not use it";
            return Err(Failure::usage(error).hint("use an `https://` URL"));
        }
        let key = arguments.key.as_ref().unwrap_or(certificate);
        target.access.identity = Some(read_identity(certificate, key)?);
    }
    Ok(())
}

/// Connects to another place, if the flag is for this target.
fn connect_to(target: &mut Target, place: &ConnectToArgument) -> Result<(), Failure> {
    let (host, port) = target.connect_host_and_port();
    if !place.matches((host, port)) {
        let error = format!("`{place}` does not match this server, which is at `{host}:{port}`");
        return Err(Failure::usage(error)
            .hint(format!("write it with the host and the port of the URL: `{host}:{port}:…`")));
    }
    let (to_host, to_port) = &place.to;
    let host = to_host.clone().unwrap_or_else(|| host.to_owned());
    target.access.connect_to = ConnectTo::Address { host, port: to_port.unwrap_or(port) };
    Ok(())
}

fn read_identity(certificate: &Path, key: &Path) -> Result<ClientIdentity, Failure> {
    let read = |path: &Path| {
        std::fs::read(path)
            .map_err(|error| Failure::usage(format!("cannot read `{}`: {error}", path.display())))
    };
    let certificate_text = read(certificate)?;
    let key_text = read(key)?;
    ClientIdentity::from_pem(&certificate_text, &key_text).map_err(|problem| {
        let names = if certificate == key {
            format!("`{}`", certificate.display())
        } else {
            format!("`{}` and `{}`", certificate.display(), key.display())
        };
        let failure = Failure::usage(format!("client certificate in {names}: {problem}"));
        if matches!(problem, ClientIdentityError::NoKey) && certificate == key {
            failure.hint("name the file of the private key by `--key FILE`")
        } else {
            failure
        }
    })
}

/// Takes a `Host` field out of header fields and returns the target that it names, where the URL names only the place to
/// connect to, as in curl.
///
/// # Errors
/// The field is no host, or is there twice.
pub(crate) fn take_host(headers: &mut Vec<String>, target: &Target) -> Result<Option<Target>, Failure> {
    let is_host_field =
        |text: &str| text.split_once(':').is_some_and(|(name, _)| name.trim().eq_ignore_ascii_case("host"));
    let (hosts, others): (Vec<String>, Vec<String>) =
        std::mem::take(headers).into_iter().partition(|text| is_host_field(text));
    *headers = others;
    let value = match hosts.as_slice() {
        [] => return Ok(None),
        [one] => one.split_once(':').map_or("", |(_, value)| value.trim()),
        _ => return Err(Failure::usage("`-H Host: …` is given twice")),
    };
    let named: Option<HttpUrl> = value.parse().ok();
    let Some(named) = named.filter(|url| url.scheme.is_none() && url.target.is_empty()) else {
        let error = format!("`-H Host: {}`: expected a host, or host and port", foreign_text(value));
        return Err(Failure::usage(error).hint("write it as `-H 'Host: shop.example'`"));
    };
    let implied = if target.secure { 443 } else { 80 };
    Ok(Some(Target { host: named.host, port: named.port.unwrap_or(implied), ..target.clone() }))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Words {
        #[command(flatten)]
        sut: SutArguments,
    }

    fn applied(url: &str, words: &[&str]) -> Result<Target, String> {
        let words = Words::try_parse_from(["x"].iter().chain(words)).map_err(|error| error.to_string())?;
        web_target(url, &words.sut).map_err(|failure| failure.message().to_owned())
    }

    #[test]
    fn connections_go_where_curl_would_make_them() {
        let url = "https://shop.example/";
        for (words, host, port) in [
            (&[][..], "shop.example", 443),
            (&["--resolve", "shop.example:443:127.0.0.1"], "127.0.0.1", 443),
            (&["--resolve", "SHOP.example:443:::1"], "[::1]", 443),
            (&["--connect-to", "shop.example:443:127.0.0.1:8443"], "127.0.0.1", 8443),
            (&["--connect-to", "::[::1]:"], "[::1]", 443),
            (&["--connect-to", ":::8443"], "shop.example", 8443),
            (&["--connect-to", "::origin:8443", "--resolve", "origin:8443:10.0.0.1"], "10.0.0.1", 8443),
        ] {
            let target = applied(url, words).unwrap();
            assert_eq!(target.connect_host_and_port(), (host, port), "{words:?}");
            assert_eq!(
                (target.to_string().as_str(), target.authority().as_str()),
                ("https://shop.example:443/", "shop.example")
            );
        }
        let at_socket = applied("http://shop/", &["--unix-socket", "/run/app.sock"]).unwrap();
        assert_eq!(at_socket.socket(), Some(Path::new("/run/app.sock")));
    }

    #[test]
    fn places_that_are_not_for_the_target_are_refused() {
        let url = "https://shop.example/";
        for (words, said) in [
            (
                ["--resolve", "shop.example:80:127.0.0.1"],
                "does not match this server, which is at `shop.example:443`",
            ),
            (["--connect-to", "other:::8443"], "does not match this server"),
            (["--resolve", "shop.example:443"], "expected `HOST:PORT:ADDRESS`"),
            (["--resolve", "shop.example:443:elsewhere"], "expected `HOST:PORT:ADDRESS`"),
            (["--resolve", "shop.example:443:127.0.0.1,127.0.0.2"], "with one address"),
            (["--resolve", "shop.example:0:127.0.0.1"], "expected a port from 1 to 65535"),
            (["--connect-to", "a:b"], "expected `HOST:PORT:HOST:PORT`"),
            (["--cert", "/does/not/exist"], "cannot read `/does/not/exist`"),
        ] {
            let error = applied(url, &words).unwrap_err();
            assert!(error.contains(said), "{words:?}: {error}");
        }
        let plain = applied("http://shop/", &["--cert", "/does/not/exist"]).unwrap_err();
        assert_eq!(plain, "`--cert` requires TLS, but the target does not use it");
        let twice = applied("http+unix://%2Fa/", &["--unix-socket", "/b"]).unwrap_err();
        assert_eq!(twice, "`--unix-socket` cannot be used with the URL of a Unix socket");
        assert!(
            applied(url, &["--key", "/a"]).unwrap_err().contains("--cert"),
            "a key without a certificate"
        );
    }

    /// Goal: the server is asked by the name in `Host`, and connections go to the URL.
    #[test]
    fn a_host_field_names_the_server() {
        let url: Target = "http://127.0.0.1:8080/".parse().unwrap();
        let named = |value: &str| {
            let mut headers = vec!["Accept: a/b".to_owned(), value.to_owned()];
            let target = take_host(&mut headers, &url).map_err(|failure| failure.message().to_owned())?;
            assert_eq!(headers, ["Accept: a/b"]);
            Ok::<_, String>(target.unwrap().to_string())
        };
        assert_eq!(named("host: shop.example").as_deref(), Ok("http://shop.example:80/"));
        assert_eq!(named("Host:shop.example:81").as_deref(), Ok("http://shop.example:81/"));
        for wrong in ["Host: http://shop/", "Host: shop/a", "Host:", "Host: a b"] {
            assert!(named(wrong).unwrap_err().contains("expected a host"), "{wrong}");
        }
        assert_eq!(take_host(&mut vec!["Accept: a/b".to_owned()], &url).unwrap(), None);
    }
}
