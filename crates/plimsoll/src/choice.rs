//! Arguments that are one of several names.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use languages::NamedValues;

/// Returns a parser of the names of a choice; `about` describes each value in the help.
pub(crate) fn choice<T: NamedValues + Send + Sync>(
    about: fn(&T) -> Option<&'static str>,
) -> impl TypedValueParser<Value = T> {
    let names = T::NAMES.iter().map(|(name, value)| PossibleValue::new(*name).help(about(value)));
    PossibleValuesParser::new(names).map(|name| T::named(&name).expect("one of the possible values"))
}
