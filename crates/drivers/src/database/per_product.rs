//! Values of which there is one for each product.

/// A value for each product.
#[derive(Debug)]
pub(crate) enum PerProduct<P, M> {
    PostgreSql(P),
    MariaDb(M),
}

/// Evaluates an expression with the value of the product.
macro_rules! each {
    ($value:expr, $name:ident => $result:expr) => {
        match $value {
            PerProduct::PostgreSql($name) => $result,
            PerProduct::MariaDb($name) => $result,
        }
    };
}

pub(crate) use each;
