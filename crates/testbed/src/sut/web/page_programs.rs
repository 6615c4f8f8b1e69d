//! Programs that generate pages behind web servers.

use std::os::unix::fs::symlink;

use model::{Gateway, GatewayKind};

use crate::recipe::Recipe;
use crate::sut::SutError;
use crate::sut::recipe_selection::RecipeSelection;
use crate::sut::values::PlaceholderValues;
use crate::sut::work_dir::WorkDir;

/// Writes the programs that the gateway of a server runs, if it has one.
///
/// # Errors
/// A file cannot be written.
pub(in crate::sut) fn write_programs(
    _: &Recipe,
    choice: &RecipeSelection,
    values: &PlaceholderValues,
    work_dir: &WorkDir,
) -> Result<(), SutError> {
    let Some(Gateway { kind, .. }) = choice.web.asked() else { return Ok(()) };
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
