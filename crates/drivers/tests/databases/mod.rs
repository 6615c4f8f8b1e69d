//! The drivers of order entry on databases that speak SQL, against the servers of Debian's packages.

mod commits;
mod faults;
mod fixture;
mod forms;
mod hostile_mariadb;
mod hostile_postgres;
mod interference;
mod loading;
mod poolers;
mod recovery;
mod sampling;
mod terminals;
mod tls;
