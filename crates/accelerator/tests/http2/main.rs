//! HTTP/2 as clients see it: replies, refusals of what could be read differently in HTTP/1, floods, and time limits.

mod floods;
mod frames;
mod life;
mod replies;
mod service;
mod smuggling;
