//! The application servers that Plimsoll brings along, in several languages.

use model::Family;

use super::SutError;
use super::recipe_selection::RecipeSelection;
use super::values::PlaceholderValues;
use super::work_dir::WorkDir;
use crate::recipe::Recipe;

/// Writes them for an application server that runs one.
///
/// # Errors
/// A file cannot be written.
pub(super) fn write_programs(
    recipe: &Recipe,
    _: &RecipeSelection,
    values: &PlaceholderValues,
    work_dir: &WorkDir,
) -> Result<(), SutError> {
    const PROGRAMS: [(&str, &str); 3] = [
        ("app.py", include_str!("../../../../gateways/app.py")),
        ("app.mjs", include_str!("../../../../gateways/app.mjs")),
        ("app.go", include_str!("../../../../gateways/app.go")),
    ];
    if !recipe.is_of(Family::App) || !recipe.names("gateway_dir") {
        return Ok(());
    }
    work_dir.make_directory(&values.programs_dir())?;
    PROGRAMS.iter().try_for_each(|(name, text)| work_dir.write(&values.programs_dir().join(name), text))
}
