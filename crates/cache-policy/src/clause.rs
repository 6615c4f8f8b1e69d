//! Reasons as enums: one table per enum gives the name of each case and the clause it follows.

/// Defines an enum of reasons from a table: case, name, and the clause it follows, if every reason follows one.
///
/// Adds `ALL`, `name()` and, with clauses, `clause()`. Names are lower case with dashes: they appear in logs, metrics
/// and `Cache-Status`, and never change.
#[macro_export]
macro_rules! reasons {
    (
        $(#[$about:meta])*
        $reason:ident { $($(#[$doc:meta])* $case:ident = $name:literal, $clause:literal;)+ }
    ) => {
        $crate::reasons! {
            $(#[$about])*
            $reason { $($(#[$doc])* $case = $name;)+ }
        }

        impl $reason {
            /// Returns the clause that the reason follows: `RFC 9111 §3.5`, for example.
            pub const fn clause(self) -> &'static str {
                match self {
                    $($reason::$case => $clause,)+
                }
            }
        }
    };
    (
        $(#[$about:meta])*
        $reason:ident { $($(#[$doc:meta])* $case:ident = $name:literal;)+ }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $reason {
            $($(#[$doc])* $case,)+
        }

        impl $reason {
            /// Every reason, in the order of the table.
            pub const ALL: &'static [$reason] = &[$($reason::$case,)+];

            /// Returns the reason's name in lower case with dashes, as logs and metrics show it.
            #[inline]
            pub const fn name(self) -> &'static str {
                match self {
                    $($reason::$case => $name,)+
                }
            }
        }
    };
}
