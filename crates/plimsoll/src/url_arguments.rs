//! The flags that describe the requests of URLs, named as in curl.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// What is requested from a running server.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Requests to URLs")]
pub(crate) struct UrlArguments {
    /// Compare the servers of the URLs, two to eight: load them in turns, A B, B A, and say which is faster, by how much; in
    /// one and a half to four minutes
    #[arg(long)]
    pub compare: bool,
    /// Request the URLs in this file too, one per line, `-` for standard input; empty lines and lines that begin with `#` are
    /// skipped
    #[arg(long, value_name = "FILE")]
    pub urls: Option<PathBuf>,
    /// Request what the cURL commands in this file do, `-` for standard input: as browsers copy them, quoted for bash or for
    /// Windows' cmd. Several are made one after the other by each user. Credentials and bodies are neither printed nor
    /// stored; what is not taken of a command is named, and nothing in it is executed
    #[arg(long, value_name = "FILE")]
    pub curl: Option<PathBuf>,
    /// Header field of all requests: `-H 'Accept: text/html'`; a credential comes from an environment variable:
    /// `-H 'Authorization: Bearer {env:TOKEN}'`; may be repeated
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    pub headers: Vec<String>,
    /// Method of all requests; by default `GET`, or `POST` with a body
    #[arg(short = 'X', long = "request", value_name = "METHOD")]
    pub method: Option<String>,
    /// Body of all requests; `@FILE` reads it from a file, `@-` from standard input. It is neither printed nor stored
    #[arg(short = 'd', long = "data", value_name = "DATA", conflicts_with = "data_file")]
    pub data: Option<String>,
    /// File with the body of all requests
    #[arg(long, value_name = "FILE")]
    pub data_file: Option<PathBuf>,
    /// What is compared of replies with status 2xx, instead of what a few requests before the run suggest: equal bodies,
    /// their length, or the status alone
    #[arg(long, value_name = "WHAT")]
    pub check: Option<ReplyComparison>,
    /// Write the benchmark that is made of the URLs to this file as a definition, which `plimsoll run FILE` runs again
    #[arg(long, value_name = "FILE")]
    pub save_definition: Option<PathBuf>,
}

/// What is compared of replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReplyComparison {
    /// Every body with the first: a page that changes fails
    Body,
    /// The length of every body with that before the run
    Length,
    /// The status alone
    Status,
}

impl UrlArguments {
    /// Returns the first flag that was given and makes sense with URLs only.
    pub(crate) fn first_given(&self) -> Option<&'static str> {
        let others = [
            (self.compare, "--compare"),
            (self.curl.is_some(), "--curl"),
            (self.check.is_some(), "--check"),
            (self.save_definition.is_some(), "--save-definition"),
        ];
        let first = |(is_given, flag): (bool, &'static str)| is_given.then_some(flag);
        self.beside_curl().or_else(|| others.into_iter().find_map(first))
    }

    /// Returns the first flag that was given and that commands of cURL have themselves.
    pub(crate) fn beside_curl(&self) -> Option<&'static str> {
        let given = [
            (self.urls.is_some(), "--urls"),
            (!self.headers.is_empty(), "-H"),
            (self.method.is_some(), "-X"),
            (self.data.is_some(), "-d"),
            (self.data_file.is_some(), "--data-file"),
        ];
        given.into_iter().find_map(|(is_given, flag)| is_given.then_some(flag))
    }
}
