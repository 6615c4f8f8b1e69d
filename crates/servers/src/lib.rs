//! Built-in servers: the web origin with its allowance of CPU.
