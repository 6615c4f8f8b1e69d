//! HTTP/1.x heads and body framing, without sockets or clocks.
