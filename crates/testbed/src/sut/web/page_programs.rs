//! Programs that generate pages behind web servers.

use std::os::unix::fs::symlink;

use model::GatewayKind;

use crate::sut::SutError;
use crate::sut::values::Values;
use crate::sut::work_dir::WorkDir;

/// Writes the programs that a gateway runs.
pub(in crate::sut) fn write_page_programs(
    kind: GatewayKind,
    values: &Values,
    work_dir: &WorkDir,
) -> Result<(), SutError> {
    let write = |name: &str, text: &str| work_dir.write(&values.programs_dir().join(name), text);
    work_dir.make_directory(&values.programs_dir())?;
    match kind {
        GatewayKind::Cgi => {
            let path = values.cgi_program();
            symlink(&values.plimsoll, &path).map_err(|source| SutError::File {
                what: "CGI program",
                path,
                source,
            })
        }
        GatewayKind::PhpFpm => write("dyn.php", include_str!("../../../../../gateways/dyn.php")),
        GatewayKind::Wsgi => write("dyn.py", include_str!("../../../../../gateways/dyn.py")),
        GatewayKind::FastCgi | GatewayKind::Native | GatewayKind::Proxy => Ok(()),
    }
}
