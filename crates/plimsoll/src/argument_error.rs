//! Reasons why values on the command line cannot be used.

use languages::{LoadListError, QuantityError};
use model::SettingValueError;
use observe::CpuListError;
use thiserror::Error;

/// A reason why the value of an argument cannot be used, as it is shown behind the argument and the value.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum ArgumentError {
    /// The value has another form, or is out of range.
    #[error("expected {0}")]
    Expected(String),
    /// The value is not the quantity that was expected.
    #[error("{0}\nhint: {hint}", hint = .0.hint)]
    Quantity(#[from] QuantityError),
    /// A list has a mistake.
    #[error("{}", with_pointer(list, error))]
    List {
        /// The list.
        list: String,
        /// The mistake, with its position.
        error: LoadListError,
    },
    /// The value is not a list of CPUs.
    #[error(transparent)]
    Cpus(#[from] CpuListError),
    /// The value is none of a setting.
    #[error(transparent)]
    Setting(#[from] SettingValueError),
}

impl ArgumentError {
    /// Makes the error of a value of another form than this.
    pub(crate) fn expected(form: impl Into<String>) -> ArgumentError {
        ArgumentError::Expected(form.into())
    }

    /// Returns what makes a mistake in a list the error of the whole.
    pub(crate) fn of_list(list: &str) -> impl FnOnce(LoadListError) -> ArgumentError {
        move |error| ArgumentError::List { list: list.to_owned(), error }
    }
}

/// Renders an error of a list with a pointer to its position in the list.
fn with_pointer(list: &str, error: &LoadListError) -> String {
    let before = list.get(..error.span.start).unwrap_or(list).chars().count();
    let inside = list.get(error.span.clone()).unwrap_or_default().chars().count().max(1);
    let pointer = format!("{}{}", " ".repeat(before), "^".repeat(inside));
    format!("{error}\n  {list}\n  {pointer}\nhint: {}", error.hint)
}
