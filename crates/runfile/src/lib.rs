//! The run file: one SQLite file per run, append-only while running.
