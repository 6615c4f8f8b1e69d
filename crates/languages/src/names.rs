//! Names of choices: one table per enum, which all languages share.

use std::mem::discriminant;

/// A choice among values that people write by name: in TOML, as an argument, in stored plans.
///
/// [`names!`](crate::names) implements it for enums without fields; others list a value of each of their cases.
pub trait NamedValues: Clone + 'static {
    /// The values with their names, in the order in which they are listed; not empty.
    const NAMES: &'static [(&'static str, Self)];

    /// The descriptions of the values for JSON Schemas, each in lines, in the order of the names; empty if there are
    /// none.
    const ABOUTS: &'static [&'static [&'static str]] = &[];

    /// Returns the name of a value; values that differ only in their fields have the same.
    fn name(&self) -> &'static str {
        let is_same = |(_, value): &&(_, Self)| discriminant(value) == discriminant(self);
        Self::NAMES.iter().find(is_same).map_or("", |(name, _)| name)
    }

    /// Returns the value with a name.
    fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
    }
}

/// Defines an enum whose values have names, each written once: `Full = "full"`.
///
/// Adds `ALL`, `name()`, `Display` and [`NamedValues`]; the comments of the values are their descriptions in JSON
/// Schemas. The enum derives `Serialize` or `Deserialize`, which use the same names; one that is written and not
/// stored, `enum Choice without serde { … }`, derives neither. Names are stored and typed by users, so they never
/// change.
///
/// A value of the latter that only builds with a cargo feature says so: `Trial = "trial" if feature = "trials"`.
#[macro_export]
macro_rules! names {
    (
        $(#[$about:meta])*
        $vis:vis enum $choice:ident {
            $(
                $(#[doc = $doc:literal])+
                $(#[default $($default:tt)?])?
                $value:ident = $name:literal,
            )+
        }
    ) => {
        $(#[$about])*
        $vis enum $choice {
            $(
                $(#[doc = $doc])+
                $(#[default $($default)?])?
                #[serde(rename = $name)]
                $value,
            )+
        }

        $crate::names! { @named $vis $choice { $($value = $name [$($doc),+],)+ } }
    };
    (
        $(#[$about:meta])*
        $vis:vis enum $choice:ident without serde {
            $(
                $(#[doc = $doc:literal])+
                $(#[default $($default:tt)?])?
                $value:ident = $name:literal $(if feature = $feature:literal)?,
            )+
        }
    ) => {
        $(#[$about])*
        $vis enum $choice {
            $($(#[cfg(feature = $feature)])? $(#[doc = $doc])+ $(#[default $($default)?])? $value,)+
        }

        $crate::names! {
            @named $vis $choice { $($value = $name [$($doc),+] $(if feature = $feature)?,)+ }
        }
    };
    (@named $vis:vis $choice:ident {
        $($value:ident = $name:literal [$($doc:literal),+] $(if feature = $feature:literal)?,)+
    }) => {
        impl $choice {
            /// All values, in the order in which they are listed.
            $vis const ALL: [$choice; <$choice as $crate::NamedValues>::NAMES.len()] =
                [$($(#[cfg(feature = $feature)])? $choice::$value,)+];

            /// Returns the name, as it is written and stored.
            $vis const fn name(self) -> &'static str {
                match self {
                    $($(#[cfg(feature = $feature)])? $choice::$value => $name,)+
                }
            }
        }

        impl $crate::NamedValues for $choice {
            const NAMES: &'static [(&'static str, $choice)] =
                &[$($(#[cfg(feature = $feature)])? ($name, $choice::$value),)+];
            const ABOUTS: &'static [&'static [&'static str]] =
                &[$($(#[cfg(feature = $feature)])? &[$($doc),+],)+];
        }

        impl ::std::fmt::Display for $choice {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::{read_toml, toml_schema};
    use crate::spec::{choice, choice_among, choice_described};
    use serde::{Deserialize, Serialize};
    use serde_json::json;

    crate::names! {
        /// A version.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
        enum Version {
            /// The first.
            #[default]
            First = "1.0",
            /// The one
            /// after it.
            Second = "2-beta",
        }
    }

    crate::names! {
        /// The same, which is not stored.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        enum Written without serde {
            /// The first.
            First = "1.0",
        }
    }

    #[derive(Debug, Clone, PartialEq)]
    enum Lifetime {
        Once,
        Kept { requests_max: Option<u32> },
    }

    impl NamedValues for Lifetime {
        const NAMES: &'static [(&'static str, Lifetime)] =
            &[("once", Lifetime::Once), ("kept", Lifetime::Kept { requests_max: None })];
    }

    #[test]
    fn one_table_names_a_choice_in_every_language() {
        for (value, name) in Version::ALL.into_iter().zip(["1.0", "2-beta"]) {
            assert_eq!((value.name(), value.to_string().as_str()), (name, name));
            assert_eq!(Version::named(name), Some(value));
            assert_eq!(serde_json::to_value(value).unwrap(), name);
            assert_eq!(serde_json::from_value::<Version>(name.into()).unwrap(), value);
            let text = format!("version = \"{name}\"");
            let read = read_toml("a test", "t.toml", &text, |mut top| top.required("version", "", choice()));
            assert_eq!(read, Ok(value));
        }
        assert_eq!(Version::named("2.0"), None);
        assert_eq!(Written::ALL.map(Written::name), ["1.0"]);
    }

    #[test]
    fn the_schema_of_a_choice_has_the_descriptions_of_its_values() {
        let [first, second] = [("1.0", "The first."), ("2-beta", "The one after it.")]
            .map(|(name, about)| json!({ "description": about, "type": "string", "const": name }));
        for (spec, expected) in [
            (choice::<Version>(), json!([first, second])),
            (choice_described::<Version>(|version| *version == Version::Second), json!([second])),
            (choice_among::<Version>(|version| *version == Version::Second), json!([second])),
        ] {
            let schema = toml_schema("A test", |mut top| top.optional("version", "", spec));
            assert_eq!(schema["properties"]["version"], json!({ "oneOf": expected }));
        }
    }

    #[test]
    fn only_values_that_are_among_the_choice_are_read() {
        let read =
            |text, spec| read_toml("a test", "t.toml", text, |mut top| top.required("version", "", spec));
        let second = || choice_among::<Version>(|version| *version == Version::Second);
        assert_eq!(read("version = \"2-beta\"", second()).unwrap(), Version::Second);
        assert!(read("version = \"1.0\"", second()).is_err());
        let described = choice_described::<Version>(|version| *version == Version::Second);
        assert_eq!(read("version = \"1.0\"", described).unwrap(), Version::First);
    }

    #[test]
    fn another_name_is_answered_with_the_nearest() {
        let read = |text| {
            read_toml("a test", "t.toml", text, |mut top| top.required::<Version>("version", "", choice()))
        };
        insta::assert_snapshot!(read("version = \"2.beta\"").unwrap_err(), @r#"
        error: `version` is not valid
         --> t.toml:1:11
          |
        1 | version = "2.beta"
          |           ^^^^^^^^ expected `1.0` or `2-beta`, found `2.beta`
          |
          = hint: did you mean `2-beta`?
        "#);
    }

    #[test]
    fn values_that_differ_in_their_fields_have_the_same_name() {
        assert_eq!(
            [Lifetime::Once.name(), Lifetime::Kept { requests_max: Some(5) }.name()],
            ["once", "kept"]
        );
    }
}
