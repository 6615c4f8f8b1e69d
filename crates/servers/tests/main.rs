//! The built-in servers and generators of pages, over sockets.

mod common;
mod frames;

mod app;
mod faults;
mod gateway;
mod http2;
mod mail;
mod orders;
mod pages;
mod scripts;
mod tls;
mod web;
