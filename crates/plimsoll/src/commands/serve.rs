//! `serve`: the built-in servers.

use std::io::Read;

use servers::web::{FaultPlan, WebOptions, serve};
use units::Ratio;

use crate::arguments::{ServeArguments, ServeCommand, ServeWebArguments};
use crate::benchmark;
use crate::exit::{Exit, Failure};

/// Runs a built-in server until standard input ends.
pub fn perform(arguments: &ServeArguments) -> Result<Exit, Failure> {
    match &arguments.server {
        ServeCommand::Web(arguments) => web(arguments),
    }
}

fn web(arguments: &ServeWebArguments) -> Result<Exit, Failure> {
    let files = benchmark::file_set(&arguments.files)?;
    let faults = FaultPlan::parse(arguments.fault.iter().map(String::as_str)).map_err(Failure::usage)?;
    let options = WebOptions {
        listen: arguments.listen,
        cpu_allowance: arguments.cpu_allowance.map(Ratio),
        faults,
        ..WebOptions::new(files)
    };
    testbed::raise_open_files();
    let (hang_up, hung_up) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        wait_for_end_of_input();
        // The server may have ended by itself.
        let _ = hang_up.send(());
    });
    let ready = |address: std::net::SocketAddr| {
        let line = serde_json::json!({ "ready": { "address": address.to_string() } });
        // Whoever started us and does not read this has gone; the end of input follows.
        let _ = super::print(&line.to_string());
    };
    let stop = async {
        let _ = hung_up.await;
    };
    match serve(&options, ready, stop) {
        Ok(_) => Ok(Exit::Valid),
        Err(error) => {
            Err(Failure::new(Exit::Testbed, format!("web server at {}: {error}", arguments.listen)))
        }
    }
}

fn wait_for_end_of_input() {
    let mut buffer = [0; 256];
    let mut input = std::io::stdin().lock();
    while !matches!(input.read(&mut buffer), Ok(0) | Err(_)) {}
}
