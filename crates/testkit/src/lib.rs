//! Simulated servers with a known law, fixtures, redaction.
