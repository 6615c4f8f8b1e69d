//! The store, on small data: 300 customers and 1,000 items per warehouse.

mod consistency;
mod crash;
mod fixture;
mod load;
mod sharing;
mod transactions;
