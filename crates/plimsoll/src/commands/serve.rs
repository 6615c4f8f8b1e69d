//! `serve`: runs a built-in server.

use std::env::VarError;
use std::io::Read;
use std::ops::ControlFlow;

use orders::{DataScale, OrderTable};
use orderstore::Synchronous;
use servers::FrameFaultPlan;
use servers::app::{AppOptions, AppServer};
use servers::gateway::{FastCgiGateway, GatewayOptions};
use servers::mail::{MailFaultPlan, MailServer, MailServerError, MailServerOptions};
use servers::orders::{OrderOptions, OrderServer};
use servers::web::{FaultPlan, Identity, PagesOptions, PagesServer, WebOptions, serve};
use tokio::signal::unix::{SignalKind, signal};
use units::Ratio;

use crate::arguments::{
    ServeAppArguments, ServeArguments, ServeCommand, ServeGatewayArguments, ServeMailArguments,
    ServeOrdersArguments, ServePagesArguments, ServeWebArguments, SynchronousArgument,
};
use crate::benchmark;
use crate::exit::{Exit, Failure};
use crate::stderr::eprint;

/// Number of rows from which on loading says how far it is: some ten seconds.
const LONG_LOADING_ROWS: u64 = 1_000_000;

/// The variable with the password of the users of a mail server.
const PASSWORD: &str = "PLIMSOLL_PASSWORD";

/// Their password if there is none, on loopback.
const LOOPBACK_PASSWORD: &str = "plimsoll";

/// Runs a built-in server until standard input is closed.
pub(super) fn perform(arguments: &ServeArguments) -> Result<Exit, Failure> {
    match &arguments.server {
        ServeCommand::Web(arguments) => web(arguments),
        ServeCommand::Gateway(arguments) => gateway(arguments),
        ServeCommand::Pages(arguments) => pages(arguments),
        ServeCommand::App(arguments) => app(arguments),
        ServeCommand::Orders(arguments) => order_entry(arguments),
        ServeCommand::Mail(arguments) => mail(arguments),
    }
}

fn web(arguments: &ServeWebArguments) -> Result<Exit, Failure> {
    let files = benchmark::file_set(&arguments.files)?;
    let faults = FaultPlan::parse(arguments.fault.iter().map(String::as_str)).map_err(Failure::usage)?;
    let identity = arguments.tls_certificate.clone().zip(arguments.tls_key.clone());
    let defaults = WebOptions::new(files);
    let options = WebOptions {
        listen: arguments.listen,
        backlog: arguments.backlog.unwrap_or(defaults.backlog),
        cpu_allowance: arguments.cpu_allowance.map(Ratio),
        faults,
        identity: identity.map(|(certificate, key)| Identity { certificate, key }),
        http2: arguments.http2,
        ..defaults
    };
    units::raise_open_files();
    let (input_closed, is_input_closed) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        wait_for_end_of_input();
        // The server may have stopped already.
        let _ = input_closed.send(());
    });
    let stop = async {
        let _ = is_input_closed.await;
    };
    match serve(&options, |address| print_ready(&address), stop) {
        Ok(_) => Ok(Exit::Valid),
        Err(error) => {
            Err(Failure::new(Exit::Testbed, format!("web server at {}: {error}", arguments.listen)))
        }
    }
}

fn gateway(arguments: &ServeGatewayArguments) -> Result<Exit, Failure> {
    let options = GatewayOptions { listen: arguments.listen.clone(), workers: arguments.workers };
    let gateway = FastCgiGateway::start(&options)
        .map_err(|error| Failure::new(Exit::Testbed, format!("gateway at {}: {error}", arguments.listen)))?;
    print_ready(gateway.address());
    wait_for_end_of_input();
    gateway.stop();
    Ok(Exit::Valid)
}

fn pages(arguments: &ServePagesArguments) -> Result<Exit, Failure> {
    units::raise_open_files();
    let failure =
        |error| Failure::new(Exit::Testbed, format!("page server at {}: {error}", arguments.listen));
    let options = PagesOptions { listen: arguments.listen, workers: arguments.workers };
    let server = PagesServer::start(&options).map_err(failure)?;
    print_ready(&server.address());
    wait_for_end_of_input();
    server.stop().map_err(failure)?;
    Ok(Exit::Valid)
}

fn app(arguments: &ServeAppArguments) -> Result<Exit, Failure> {
    units::raise_open_files();
    let names = arguments.fault.iter().map(String::as_str);
    let faults = FrameFaultPlan::parse(&servers::app::FAULTS, names).map_err(Failure::usage)?;
    let options = AppOptions {
        listen: arguments.listen,
        service_threads: arguments.threads,
        queue_max: arguments.queue_max,
        clients_max: arguments.clients_max,
        file_bytes_max: arguments.file_max,
        append_bytes_max: arguments.append_max,
        directory: arguments.directory.clone(),
        cpu_allowance: arguments.cpu_allowance.map(Ratio),
        faults,
    };
    let server = AppServer::start(options).map_err(|error| {
        Failure::new(Exit::Testbed, format!("application server at {}: {error}", arguments.listen))
    })?;
    serve_until_stopped(|| print_ready(&server.address()))?;
    server.stop()?;
    Ok(Exit::Valid)
}

fn order_entry(arguments: &ServeOrdersArguments) -> Result<Exit, Failure> {
    units::raise_open_files();
    let names = arguments.fault.iter().map(String::as_str);
    let faults = FrameFaultPlan::parse(&servers::orders::FAULTS, names).map_err(Failure::usage)?;
    let scale = DataScale::new(arguments.warehouses, arguments.divisor).map_err(Failure::usage)?;
    let options = OrderOptions {
        listen: arguments.listen,
        scale,
        seed: arguments.seed,
        directory: arguments.directory.clone(),
        readers: arguments.readers,
        synchronous: match arguments.synchronous {
            SynchronousArgument::Off => Synchronous::Off,
            SynchronousArgument::Normal => Synchronous::Normal,
            SynchronousArgument::Full => Synchronous::Full,
        },
        queue_max: arguments.queue_max,
        terminals_max: arguments.terminals_max,
        cpu_allowance: arguments.cpu_allowance.map(Ratio),
        faults,
    };
    let server = OrderServer::start(options, loading_progress(&scale)).map_err(|error| {
        Failure::new(Exit::Testbed, format!("order-entry server at {}: {error}", arguments.listen))
    })?;
    serve_until_stopped(|| print_ready(&server.address()))?;
    server.stop()?;
    Ok(Exit::Valid)
}

fn mail(arguments: &ServeMailArguments) -> Result<Exit, Failure> {
    units::raise_open_files();
    let faults = MailFaultPlan::parse(arguments.fault.iter().map(String::as_str)).map_err(Failure::usage)?;
    let options = MailServerOptions {
        imap: arguments.listen,
        submission: arguments.submission,
        lmtp: arguments.lmtp,
        domain: arguments.domain.clone(),
        threads: arguments.threads,
        connections_max: arguments.connections_max,
        account_bytes_max: arguments.account_max,
        message_bytes_max: arguments.message_max,
        cpu_allowance: arguments.cpu_allowance.map(Ratio),
        faults,
        ..MailServerOptions::new(arguments.users, mail_password(arguments)?)
    };
    let server = MailServer::start(options).map_err(mail_failure)?;
    let addresses = server.addresses();
    serve_until_stopped(|| {
        print_addresses(&serde_json::json!({
            "address": addresses.imap.to_string(),
            "submission": addresses.submission.to_string(),
            "lmtp": addresses.lmtp.to_string(),
        }));
    })?;
    server.stop()?;
    Ok(Exit::Valid)
}

/// Returns the failure of a mail server that cannot be started: of the names of users, only the domain is the user's.
fn mail_failure(error: MailServerError) -> Failure {
    match error {
        MailServerError::Directory(error) => Failure::usage(format!("`--domain`: {error}"))
            .hint("write a domain such as `--domain example.test`"),
        error => Failure::new(Exit::Testbed, format!("mail server: {error}")),
    }
}

/// Returns the password of all users.
///
/// # Errors
/// There is none, and others than the users of this machine could log on; or there is one that nobody can type.
fn mail_password(arguments: &ServeMailArguments) -> Result<String, Failure> {
    let refused = |why: &str| {
        Err(Failure::usage(format!("`{PASSWORD}` {why}"))
            .hint(format!("set `{PASSWORD}` to the password of all users")))
    };
    let is_local = [arguments.listen, arguments.submission, arguments.lmtp]
        .iter()
        .all(|address| address.ip().is_loopback());
    match std::env::var(PASSWORD) {
        Ok(password) if password.is_empty() => refused("is set, and empty"),
        Ok(password) => Ok(password),
        Err(VarError::NotUnicode(_)) => refused("is not UTF-8"),
        Err(VarError::NotPresent) if is_local => Ok(LOOPBACK_PASSWORD.to_owned()),
        Err(VarError::NotPresent) => refused("is not set, and the server would listen beyond loopback"),
    }
}

/// Returns a callback that gets the number of rows loaded, and prints every tenth of a long loading.
fn loading_progress(scale: &DataScale) -> impl FnMut(u64) -> ControlFlow<()> + use<> {
    let n_rows: u64 = OrderTable::ALL.into_iter().map(|table| scale.rows(table)).sum();
    let mut printed = 0;
    move |loaded| {
        // The number of order lines is random, so that there may be some rows more.
        let tenths = (loaded * 10 / n_rows).min(10);
        if LONG_LOADING_ROWS <= n_rows && printed < tenths {
            printed = tenths;
            eprint(format!("Loading order-entry data: {tenths}0 %."));
        }
        ControlFlow::Continue(())
    }
}

/// Says that a server is ready, and waits until standard input is closed or a signal asks to stop: for servers that have
/// something to remove.
fn serve_until_stopped(say_ready: impl FnOnce()) -> std::io::Result<()> {
    let (input_closed, is_input_closed) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        wait_for_end_of_input();
        // A signal may have come first.
        let _ = input_closed.send(());
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        say_ready();
        tokio::select! {
            _ = is_input_closed => {}
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        Ok(())
    })
}

fn print_ready(address: &impl ToString) {
    print_addresses(&serde_json::json!({ "address": address.to_string() }));
}

/// Says that a server listens on these addresses, by name.
fn print_addresses(addresses: &serde_json::Value) {
    let line = serde_json::json!({ "ready": addresses });
    // A parent process that does not read this has exited; the end of input follows.
    let _ = super::print(&line.to_string());
}

fn wait_for_end_of_input() {
    let mut buffer = [0; 256];
    let mut input = std::io::stdin().lock();
    while !matches!(input.read(&mut buffer), Ok(0) | Err(_)) {}
}
