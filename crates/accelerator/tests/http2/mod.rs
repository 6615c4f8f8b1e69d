//! HTTP/2 from the clients' view: responses, refusals of ambiguous requests, floods, and time limits.

mod floods;
mod frames;
mod life;
mod responses;
mod service;
mod smuggling;
