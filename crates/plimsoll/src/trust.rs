//! Certificates that are accepted from a server that Plimsoll does not start.

use std::fmt::Display;
use std::path::Path;

use drivers::web::Target;
use drivers::{Authorities, Trust};
use model::CertificateCheck;

use crate::arguments::SutArguments;
use crate::exit::{Exit, Failure};

/// Returns the certificate check to record in the plan.
pub(crate) fn check(arguments: &SutArguments) -> CertificateCheck {
    match &arguments.ca {
        _ if arguments.insecure => CertificateCheck::Off,
        Some(path) => CertificateCheck::File(path.display().to_string()),
        None => CertificateCheck::System,
    }
}

/// Returns the certificates that are accepted from a target; without TLS, the result has no meaning. `is_encrypted` is
/// whether connections to it are encrypted.
///
/// # Errors
/// If authorities are needed and there are none, or if certificate flags are given for a target without TLS.
pub(crate) fn of_server(arguments: &SutArguments, is_encrypted: bool) -> Result<Trust, Failure> {
    let is_asked = arguments.insecure || arguments.ca.is_some();
    if !is_encrypted {
        return if is_asked {
            Err(Failure::usage("`--ca` and `--insecure` require TLS, but the target does not use it")
                .hint("use an `https://` target, or `--set tls=on` with a database"))
        } else {
            Ok(Trust::Any)
        };
    }
    match &arguments.ca {
        _ if arguments.insecure => Ok(Trust::Any),
        Some(path) => read(path).map(Trust::Authorities),
        None => system().map(Trust::Authorities),
    }
}

/// Does the same for a web server.
pub(crate) fn of_target(arguments: &SutArguments, target: &Target) -> Result<Trust, Failure> {
    of_server(arguments, target.secure)
}

fn read(path: &Path) -> Result<Authorities, Failure> {
    let unusable =
        |why: &dyn Display| Failure::usage(format!("certificate authorities `{}`: {why}", path.display()));
    let text = std::fs::read(path).map_err(|error| unusable(&error))?;
    Authorities::from_pem(&text).map_err(|error| unusable(&error))
}

/// Returns the certificate authorities that this machine trusts; Plimsoll brings no list of its own.
fn system() -> Result<Authorities, Failure> {
    let found = rustls_native_certs::load_native_certs();
    Authorities::new(found.certs.into_iter().map(|certificate| certificate.to_vec())).ok_or_else(|| {
        let why = found.errors.first().map(|error| format!(": {error}")).unwrap_or_default();
        Failure::new(Exit::Testbed, format!("this machine has no trusted certificate authorities{why}")).hint(
            "install them (Debian: `ca-certificates`), or name the target's authority with `--ca FILE`; `--insecure` accepts \
            any certificate, and the result notes it",
        )
    })
}
