//! Connections to databases that speak SQL, whatever is executed on them.
//!
//! - `server`: a server as a run names it, and as users connect to it; `each`: a value for each product
//! - `socket`: the place of a server, as connections to it are made
//! - `connection`: a connection with prepared statements, and the values that go over it
//! - `row_scan`: the check of rows that are counted only
//! - `room`: the connections that a server has for a user
//! - `failure`: failures by their SQLSTATE; `error`: those of work beside the users
//! - `transaction`: what all transactions have in common; `driver`: the driver of a user
//! - `postgres`, `mariadb`: the products

pub(crate) mod connection;
pub(crate) mod driver;
pub(crate) mod error;
pub(crate) mod failure;
pub(crate) mod mariadb;
pub(crate) mod per_product;
pub(crate) mod postgres;
pub(crate) mod room;
pub(crate) mod row_scan;
pub(crate) mod server;
pub(crate) mod socket;
pub(crate) mod transaction;

pub use error::{DatabaseError, SessionProblem};
pub use room::{DatabaseConnections, KEPT_CONNECTIONS};
pub use server::{DatabaseEncryption, DatabasePassword, DatabasePlace, DatabaseServer, DatabaseSetupError};
