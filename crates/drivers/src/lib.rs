//! How an operation travels: one module per protocol family.
