//! The application servers that Plimsoll brings along, in several languages.

use super::SutError;
use super::values::Values;
use super::work_dir::WorkDir;

/// Writes them for a server that runs one.
pub(super) fn write_app_servers(values: &Values, work_dir: &WorkDir) -> Result<(), SutError> {
    const PROGRAMS: [(&str, &str); 3] = [
        ("app.py", include_str!("../../../../gateways/app.py")),
        ("app.mjs", include_str!("../../../../gateways/app.mjs")),
        ("app.go", include_str!("../../../../gateways/app.go")),
    ];
    work_dir.make_directory(&values.programs_dir())?;
    PROGRAMS.iter().try_for_each(|(name, text)| work_dir.write(&values.programs_dir().join(name), text))
}
