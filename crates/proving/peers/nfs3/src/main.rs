//! Clients of NFS 3 by the crate `nfs3_client`, which do one thing as fast as they can.
//!
//! `nfs3-peer EXPORT getattr|read CLIENTS SECONDS FILE_BYTES` mounts an export of 127.0.0.1, whose ports it asks for. Each client
//! has a connection and a file of its own, with one call in flight: it asks for the attributes of the file, or reads pages at
//! random places of it. All are tasks of one thread. It prints the number of calls and the CPU time that they took, in s.

use std::error::Error;
use std::time::{Duration, Instant};

use nfs3_client::tokio::{TokioConnector, TokioIo};
use nfs3_client::{Nfs3Connection, Nfs3ConnectionBuilder};
use nfs3_types::nfs3::{
    CREATE3args, FSINFO3args, GETATTR3args, Nfs3Option, Nfs3Result, READ3args, WRITE3args, createhow3,
    diropargs3, filename3, nfs_fh3, sattr3, stable_how,
};
use nfs3_types::rpc::{auth_unix, opaque_auth};
use nfs3_types::xdr_codec::Opaque;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// The bytes of a read.
const PAGE_BYTES: u32 = 4096;

/// The bytes of a write, of those that fill a file.
const BLOCK_BYTES: u64 = 1 << 16;

/// Calls between two looks at the clock.
const CALLS_PER_LOOK: u64 = 64;

type Failure = Box<dyn Error + Send + Sync>;
type Connection = Nfs3Connection<TokioIo<TcpStream>>;

/// What the clients do.
#[derive(Debug, Clone, Copy)]
enum Call {
    GetAttr,
    Read,
}

/// A client with its file.
struct Client {
    connection: Connection,
    file: nfs_fh3,
    file_bytes: u64,
    /// The state of the generator of places; never 0.
    state: u64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [export, call, n_clients, seconds, file_bytes] = &arguments[..] else {
        return Err("expected EXPORT getattr|read CLIENTS SECONDS FILE_BYTES".into());
    };
    let call = match call.as_str() {
        "getattr" => Call::GetAttr,
        "read" => Call::Read,
        other => return Err(format!("expected `getattr` or `read`, found `{other}`").into()),
    };
    let (n_clients, seconds, file_bytes) = (n_clients.parse::<u64>()?, seconds.parse()?, file_bytes.parse()?);
    let mut clients = Vec::new();
    for number in 0..n_clients {
        clients.push(Client::open(export, number, file_bytes).await?);
    }
    let cpu_before = cpu_seconds()?;
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut tasks: JoinSet<Result<u64, Failure>> = JoinSet::new();
    clients.into_iter().for_each(|client| drop(tasks.spawn(client.repeat(call, end))));
    let mut n_calls = 0;
    while let Some(ended) = tasks.join_next().await {
        n_calls += ended??;
    }
    println!("{n_calls} {}", cpu_seconds()? - cpu_before);
    Ok(())
}

impl Client {
    /// Connects, and fills a file.
    async fn open(export: &str, number: u64, file_bytes: u64) -> Result<Client, Failure> {
        let user =
            auth_unix { stamp: 0, machinename: Opaque::borrowed(b"peer"), uid: 0, gid: 0, gids: Vec::new() };
        let builder = Nfs3ConnectionBuilder::new(TokioConnector, "127.0.0.1", export);
        let builder = builder.credential(opaque_auth::auth_unix(&user)).connect_from_privileged_port(false);
        let mut connection = builder.mount().await?;
        let root = connection.root_nfs_fh3();
        answer(connection.fsinfo(&FSINFO3args { fsroot: root.clone() }).await?)?;
        let name = format!("peer{number}").into_bytes();
        let where_ = diropargs3 { dir: root, name: filename3::from(name) };
        let create = CREATE3args { where_, how: createhow3::UNCHECKED(sattr3::default()) };
        let Nfs3Option::Some(file) = answer(connection.create(&create).await?)?.obj else {
            return Err("the server did not tell the handle of a new file".into());
        };
        for offset in (0..file_bytes).step_by(BLOCK_BYTES as usize) {
            let data = Opaque::owned(vec![number as u8; BLOCK_BYTES as usize]);
            let (file, count) = (file.clone(), BLOCK_BYTES as u32);
            let write = WRITE3args { file, offset, count, stable: stable_how::UNSTABLE, data };
            answer(connection.write(&write).await?)?;
        }
        Ok(Client { connection, file, file_bytes, state: number + 1 })
    }

    /// Makes calls until a time; returns their number.
    async fn repeat(mut self, call: Call, end: Instant) -> Result<u64, Failure> {
        let mut n_calls = 0;
        while Instant::now() < end {
            for _ in 0..CALLS_PER_LOOK {
                self.make(call).await?;
            }
            n_calls += CALLS_PER_LOOK;
        }
        Ok(n_calls)
    }

    async fn make(&mut self, call: Call) -> Result<(), Failure> {
        let file = self.file.clone();
        match call {
            Call::GetAttr => {
                let found = answer(self.connection.getattr(&GETATTR3args { object: file }).await?)?;
                expect(self.file_bytes, found.obj_attributes.size)
            }
            Call::Read => {
                let offset = self.draw() % (self.file_bytes / u64::from(PAGE_BYTES)) * u64::from(PAGE_BYTES);
                let read = READ3args { file, offset, count: PAGE_BYTES };
                let found = answer(self.connection.read(&read).await?)?;
                expect(PAGE_BYTES.into(), found.data.len() as u64)
            }
        }
    }

    /// Draws a number. Source: G. Marsaglia, Xorshift RNGs, 2003: a triple for 64 bits.
    fn draw(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state >> 11
    }
}

fn expect(expected: u64, found: u64) -> Result<(), Failure> {
    if found == expected { Ok(()) } else { Err(format!("expected {expected} bytes, found {found}").into()) }
}

/// Returns what the server answered, unless it refused.
fn answer<T, E>(result: Nfs3Result<T, E>) -> Result<T, Failure> {
    match result {
        Nfs3Result::Ok(found) => Ok(found),
        Nfs3Result::Err((status, _)) => Err(format!("the server answered {status}").into()),
    }
}

/// Returns the CPU time of the process in s. Source: Linux, Documentation/scheduler/sched-stats.rst: the first field of
/// `schedstat` is the time on the CPU, in ns. The process has one thread.
fn cpu_seconds() -> Result<f64, Failure> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanos: f64 = text.split(' ').next().unwrap_or_default().parse()?;
    Ok(nanos / 1e9)
}
