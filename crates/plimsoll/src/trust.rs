//! Which certificates are accepted from a server that is already there.

use std::path::Path;

use drivers::web::{Authorities, Target, Trust};
use model::CertificateCheck;

use crate::arguments::SutArguments;
use crate::exit::{Exit, Failure};

/// Returns what the plan says about certificates.
pub fn check(arguments: &SutArguments) -> CertificateCheck {
    match &arguments.ca {
        _ if arguments.insecure => CertificateCheck::Off,
        Some(path) => CertificateCheck::File(path.display().to_string()),
        None => CertificateCheck::System,
    }
}

/// Returns which certificates a target may show; without TLS of no meaning.
///
/// # Errors
/// If authorities are needed and there are none, or flags concern certificates and the target has none.
pub fn of_target(arguments: &SutArguments, target: &Target) -> Result<Trust, Failure> {
    let is_asked = arguments.insecure || arguments.ca.is_some();
    if !target.secure {
        return match is_asked {
            true => Err(Failure::usage("`--ca` and `--insecure` concern TLS, and the target is without it")
                .hint("name an `https://` target")),
            false => Ok(Trust::Any),
        };
    }
    match &arguments.ca {
        _ if arguments.insecure => Ok(Trust::Any),
        Some(path) => read(path).map(Trust::Authorities),
        None => system().map(Trust::Authorities),
    }
}

fn read(path: &Path) -> Result<Authorities, Failure> {
    let text = std::fs::read(path);
    let read = text.map_err(|error| error.to_string()).and_then(|text| Authorities::from_pem(&text));
    read.map_err(|error| Failure::usage(format!("authorities `{}`: {error}", path.display())))
}

/// Returns the authorities that this machine trusts; never a list of our own.
fn system() -> Result<Authorities, Failure> {
    let found = rustls_native_certs::load_native_certs();
    Authorities::new(found.certs.into_iter().map(|certificate| certificate.to_vec())).ok_or_else(|| {
        let why = found.errors.first().map(|error| format!(": {error}")).unwrap_or_default();
        Failure::new(Exit::Testbed, format!("this machine trusts no authority for certificates{why}")).hint(
            "install them (Debian: `ca-certificates`), or name those of the target with `--ca FILE`; `--insecure` accepts \
             any certificate, and the result says so",
        )
    })
}
