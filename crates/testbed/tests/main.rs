//! Servers that are started, loaded with data, limited and stopped.

mod fixture;

mod accelerators;
mod companions;
mod data;
mod databases;
mod file_and_mail;
mod monitor;
mod recipes;
mod sut;
