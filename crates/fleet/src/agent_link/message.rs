//! The messages between the controller and a load agent.
//!
//! A message is a frame: its length in four bytes, lowest first, and so many bytes, whose first number is its kind. An agent
//! begins with [`GREETING`], so that a shell or a banner that prints something else is recognized, and then says who it is.
//! Plans and records travel as [`runfile::wire`] has them.
//!
//! | the controller says | the agent answers | |
//! |---|---|---|
//! | – | `Hello` | at once; it ends if the answer is another program |
//! | `Hello` | – | |
//! | `SetUp` | `Done` or `Failed` | once for each run: plan, secrets, data |
//! | `Probe` | `Reached` or `Failed` | the name of the server is resolved and checked there |
//! | `Prepare` | `Ready` or `Failed` | sessions are open |
//! | `Go` | `Begun`, `Record` and `Example` as they come, `Over` or `Failed` | |
//! | `Abandon` | `Over` | the load point that was prepared does not begin |
//! | `Stop` | – | the load point ends early, with `Over` |
//! | `Ping` | `Pong` | at any time, at once; it says how many records of the load point the controller has |
//! | `Heartbeat` | – | where the controller has nothing else to say |

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use engine::OpenedSessions;
use model::{Arrivals, DataTable, Example, Load, LoadPoint, Outcome, Secrets};
use units::Nanos;

use crate::agent_error::{AgentFailureKind, FAILURE_KINDS};
use crate::checked::CheckedRow;
use crate::family::ServerForm;
use crate::family_counts::FamilyCounts;
use crate::form::{FormError, FormReader, FormWriter};
use crate::reply_changes::ReplyChange;

/// The first bytes of an agent: its name, and the version of this protocol.
pub(crate) const GREETING: &[u8; 16] = b"plimsoll agent 2";

/// The greatest length of a message of an agent: a record, and what is around it.
pub(crate) const FROM_AGENT_BYTES_MAX: usize = runfile::wire::RECORD_BYTES_MAX + 4096;

/// The greatest length of a message to an agent: a plan with all its data.
pub(crate) const TO_AGENT_BYTES_MAX: usize = 1 << 30;

/// The greatest length of a text of an agent that is kept, in bytes.
const TEXT_BYTES_MAX: usize = 4096;

/// The most counts, changes and rows that an agent may send of a load point, each.
const ROWS_MAX: usize = 4096;

/// The program of an agent and its machine, as it says itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentHello {
    /// Name and version of the program.
    pub program: String,
    /// The build: the same only for the same executable.
    pub build: String,
    /// The CPUs that it may use.
    pub cpus: u32,
    /// The most files that it may have open.
    pub open_files_max: u64,
    /// The ports that its kernel assigns to outgoing connections.
    pub ports: u32,
    /// The facts of its machine, by name.
    pub facts: BTreeMap<String, String>,
}

/// A message of the controller.
#[derive(Debug, Clone)]
pub(crate) enum ToAgent {
    /// The program and the build of the controller.
    Hello {
        program: String,
        build: String,
    },
    /// A run: its number, the index of the agent in its plan, the plan as bytes, and what it does not hold.
    SetUp {
        run: u32,
        agent: u32,
        plan: Vec<u8>,
        secrets: Secrets,
    },
    Probe {
        run: u32,
        server: ServerForm,
    },
    Prepare {
        run: u32,
        server: ServerForm,
        point: LoadPoint,
    },
    /// The start of the load point that was prepared, on the clock of the agent.
    Go {
        origin: Nanos,
    },
    Abandon,
    Stop,
    /// A question for the time, and the number of records of the load point that were taken so far.
    Ping {
        number: u32,
        acknowledged: u64,
    },
    Heartbeat,
}

/// A message of an agent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FromAgent {
    Hello(AgentHello),
    Done,
    /// The server was found and checked, at an address.
    Reached {
        address: Option<SocketAddr>,
    },
    Ready(OpenedSessions),
    /// The time by which the start had passed when the agent was told of it.
    Begun {
        late: Nanos,
    },
    /// A record of all its threads, as bytes; records are numbered from 0 at each load point.
    Record {
        number: u64,
        record: Vec<u8>,
    },
    Example(Example),
    /// The end of a load point, and the number of its records.
    Over {
        records: u64,
        counts: FamilyCounts,
    },
    Failed {
        kind: AgentFailureKind,
        text: String,
    },
    /// The answer to the ping of this number, with the time on the clock of the agent.
    Pong {
        number: u32,
        at: Nanos,
    },
}

impl ToAgent {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut form = FormWriter::default();
        match self {
            ToAgent::Hello { program, build } => {
                form.number(0_u64);
                form.text(program);
                form.text(build);
            }
            ToAgent::SetUp { run, agent, plan, secrets } => {
                form.number(1_u64);
                form.number(*run);
                form.number(*agent);
                form.bytes(plan);
                put_secrets(secrets, &mut form);
            }
            ToAgent::Probe { run, server } => {
                form.number(2_u64);
                form.number(*run);
                form.bytes(server.bytes());
            }
            ToAgent::Prepare { run, server, point } => {
                form.number(3_u64);
                form.number(*run);
                form.bytes(server.bytes());
                put_point(*point, &mut form);
            }
            ToAgent::Go { origin } => {
                form.number(4_u64);
                form.number(origin.0);
            }
            ToAgent::Abandon => form.number(5_u64),
            ToAgent::Stop => form.number(6_u64),
            ToAgent::Ping { number, acknowledged } => {
                form.number(7_u64);
                form.number(*number);
                form.number(*acknowledged);
            }
            ToAgent::Heartbeat => form.number(8_u64),
        }
        form.finish()
    }

    /// Reads a message. Any bytes are safe to pass.
    pub(crate) fn decode(bytes: &[u8]) -> Result<ToAgent, FormError> {
        let mut form = FormReader::new(bytes);
        let form = &mut form;
        let message = match form.u64()? {
            0 => ToAgent::Hello { program: form.text("program")?, build: form.text("build")? },
            1 => ToAgent::SetUp {
                run: form.number("run")?,
                agent: form.number("agent")?,
                plan: form.bytes()?.to_owned(),
                secrets: secrets(form)?,
            },
            2 => ToAgent::Probe { run: form.number("run")?, server: ServerForm::from_bytes(form.bytes()?) },
            3 => ToAgent::Prepare {
                run: form.number("run")?,
                server: ServerForm::from_bytes(form.bytes()?),
                point: point(form)?,
            },
            4 => ToAgent::Go { origin: Nanos(form.u64()?) },
            5 => ToAgent::Abandon,
            6 => ToAgent::Stop,
            7 => ToAgent::Ping { number: form.number("number of a ping")?, acknowledged: form.u64()? },
            8 => ToAgent::Heartbeat,
            _ => return Err(FormError::Impossible("kind of message")),
        };
        finished(form)?;
        Ok(message)
    }
}

impl FromAgent {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut form = FormWriter::default();
        match self {
            FromAgent::Hello(hello) => {
                form.number(0_u64);
                form.text(&hello.program);
                form.text(&hello.build);
                form.number(hello.cpus);
                form.number(hello.open_files_max);
                form.number(hello.ports);
                form.list(hello.facts.iter(), |form, (name, value)| {
                    form.text(name);
                    form.text(value);
                });
            }
            FromAgent::Done => form.number(1_u64),
            FromAgent::Ready(sessions) => {
                form.number(2_u64);
                form.number(sessions.n_open);
                form.number(sessions.n_failed);
                form.optional(sessions.first_failure.as_deref(), FormWriter::text);
            }
            FromAgent::Begun { late } => {
                form.number(3_u64);
                form.number(late.0);
            }
            FromAgent::Record { number, record } => {
                form.number(4_u64);
                form.number(*number);
                form.bytes(record);
            }
            FromAgent::Example(example) => {
                form.number(5_u64);
                form.number(example.load_point);
                form.number(example.at.0);
                form.number(example.kind);
                form.number(example.outcome as u64);
                form.text(&example.text);
            }
            FromAgent::Over { records, counts } => {
                form.number(6_u64);
                form.number(*records);
                put_counts(counts, &mut form);
            }
            FromAgent::Failed { kind, text } => {
                form.number(7_u64);
                form.number(*kind as u64);
                form.text(text);
            }
            FromAgent::Pong { number, at } => {
                form.number(8_u64);
                form.number(*number);
                form.number(at.0);
            }
            FromAgent::Reached { address } => {
                form.number(9_u64);
                form.optional(*address, |form, address| form.text(&address.to_string()));
            }
        }
        form.finish()
    }

    /// Reads a message. Any bytes are safe to pass.
    pub(crate) fn decode(bytes: &[u8]) -> Result<FromAgent, FormError> {
        let mut form = FormReader::new(bytes);
        let form = &mut form;
        let message = match form.u64()? {
            0 => FromAgent::Hello(AgentHello {
                program: text(form)?,
                build: text(form)?,
                cpus: form.number("number of CPUs")?,
                open_files_max: form.u64()?,
                ports: form.number("number of ports")?,
                facts: form.list(|form| Ok((text(form)?, text(form)?)))?.into_iter().take(ROWS_MAX).collect(),
            }),
            1 => FromAgent::Done,
            2 => FromAgent::Ready(OpenedSessions {
                n_open: form.number("number of sessions")?,
                n_failed: form.number("number of sessions")?,
                first_failure: form.optional(text)?,
            }),
            3 => FromAgent::Begun { late: Nanos(form.u64()?) },
            4 => FromAgent::Record { number: form.u64()?, record: form.bytes()?.to_owned() },
            5 => FromAgent::Example(Example {
                load_point: form.number("load point")?,
                at: Nanos(form.u64()?),
                kind: form.number("kind of operations")?,
                outcome: Outcome::from_number(form.number("outcome")?)
                    .ok_or(FormError::Impossible("outcome"))?,
                text: text(form)?,
            }),
            6 => FromAgent::Over { records: form.u64()?, counts: counts(form)? },
            7 => FromAgent::Failed {
                kind: *FAILURE_KINDS
                    .get(form.number::<usize>("kind of failure")?)
                    .ok_or(FormError::Impossible("kind of failure"))?,
                text: text(form)?,
            },
            8 => FromAgent::Pong { number: form.number("number of a ping")?, at: Nanos(form.u64()?) },
            9 => FromAgent::Reached { address: form.optional(address)? },
            _ => return Err(FormError::Impossible("kind of message")),
        };
        finished(form)?;
        Ok(message)
    }
}

fn address(form: &mut FormReader<'_>) -> Result<SocketAddr, FormError> {
    text(form)?.parse().map_err(|_| FormError::Impossible("address"))
}

fn finished(form: &mut FormReader<'_>) -> Result<(), FormError> {
    std::mem::replace(form, FormReader::new(&[])).finish()
}

/// Reads a text of an agent: of one that is too long, the beginning.
fn text(form: &mut FormReader<'_>) -> Result<String, FormError> {
    let mut text = form.text("text")?;
    text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
    Ok(text)
}

fn put_point(point: LoadPoint, form: &mut FormWriter) {
    form.number(point.index);
    match point.load {
        Load::Users(users) => {
            form.number(0_u64);
            form.number(users);
        }
        Load::Rate { per_second, arrivals, in_flight_max } => {
            form.number(1_u64);
            form.number(per_second.to_bits());
            form.flag(arrivals == Arrivals::Poisson);
            form.number(in_flight_max);
        }
    }
}

fn point(form: &mut FormReader<'_>) -> Result<LoadPoint, FormError> {
    let index = form.number("load point")?;
    let load = match form.u64()? {
        0 => Load::Users(form.number("number of users")?),
        1 => {
            let per_second = f64::from_bits(form.u64()?);
            let is_poisson = form.flag("distribution of arrivals")?;
            let arrivals = if is_poisson { Arrivals::Poisson } else { Arrivals::Constant };
            if !per_second.is_finite() || per_second <= 0.0 {
                return Err(FormError::Impossible("rate"));
            }
            Load::Rate { per_second, arrivals, in_flight_max: form.number("number of operations in flight")? }
        }
        _ => return Err(FormError::Impossible("load")),
    };
    Ok(LoadPoint { index, load })
}

fn put_secrets(secrets: &Secrets, form: &mut FormWriter) {
    form.list(secrets.entries(), |form, (kind, key, value)| {
        form.number(kind as u64);
        form.text(key);
        form.text(value);
    });
    form.list(secrets.data().iter(), |form, table| {
        form.list(table.columns().iter(), |form, column| form.text(column));
        form.number(table.rows());
        table.values().for_each(|value| form.text(value));
    });
}

fn secrets(form: &mut FormReader<'_>) -> Result<Secrets, FormError> {
    let mut secrets = Secrets::default();
    let entries = form.list(|form| Ok((form.number("request")?, form.text("key")?, form.text("value")?)))?;
    entries.into_iter().for_each(|(kind, key, value)| secrets.insert_entry(kind, key, value));
    secrets.set_data(form.list(|form| table(form).map(Arc::new))?);
    Ok(secrets)
}

fn table(form: &mut FormReader<'_>) -> Result<DataTable, FormError> {
    let columns = form.list(|form| form.text("column"))?;
    let rows = form.u64()?;
    let n = rows.saturating_mul(columns.len() as u64);
    let values = (0..n).map(|_| form.text("value")).collect::<Result<Vec<_>, _>>()?;
    let table = DataTable::from_values(columns, values.iter().map(String::as_str));
    table.map_err(|_| FormError::Impossible("data table"))
}

fn put_counts(counts: &FamilyCounts, form: &mut FormWriter) {
    form.list(counts.iter(), |form, (name, n)| {
        form.text(name);
        form.number(n);
    });
    form.list(counts.changes.iter(), |form, (kind, change)| {
        form.text(kind);
        form.optional(change.at, |form, at| form.number(at.0));
        form.number(change.first);
        form.number(change.other);
        form.number(change.n);
        form.flag(change.is_mixed);
        form.flag(change.is_of_load);
    });
    form.list(counts.of_load.iter(), |form, (name, holds, found)| {
        form.text(name);
        form.flag(*holds);
        form.text(found);
    });
}

fn counts(form: &mut FormReader<'_>) -> Result<FamilyCounts, FormError> {
    let mut counts = FamilyCounts::default();
    for (name, n) in at_most(form.list(|form| Ok((text(form)?, form.u64()?)))?)? {
        counts.add_named(name.into(), n);
    }
    for (kind, change) in at_most(form.list(change)?)? {
        counts.changes.add_one(&kind, change);
    }
    let row = |form: &mut FormReader<'_>| -> Result<CheckedRow, FormError> {
        Ok((text(form)?, form.flag("result of a check")?, text(form)?))
    };
    counts.of_load = at_most(form.list(row)?)?;
    Ok(counts)
}

fn change(form: &mut FormReader<'_>) -> Result<(String, ReplyChange), FormError> {
    let kind = text(form)?;
    let change = ReplyChange {
        at: form.optional(|form| Ok(Nanos(form.u64()?)))?,
        first: form.u64()?,
        other: form.u64()?,
        n: form.u64()?,
        is_mixed: form.flag("mark of a change")?,
        is_of_load: form.flag("mark of a change")?,
    };
    Ok((kind, change))
}

/// Returns a list that is not too long to be recorded.
fn at_most<T>(list: Vec<T>) -> Result<Vec<T>, FormError> {
    if ROWS_MAX < list.len() { Err(FormError::Impossible("number of rows")) } else { Ok(list) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn messages_of_agents_come_back() {
        let mut counts = FamilyCounts::from([("orders placed", 7)]);
        let change =
            ReplyChange { at: Some(Nanos(5)), first: 1, other: 2, n: 3, is_mixed: true, is_of_load: false };
        counts.changes.add_one("GET /", change);
        counts.of_load.push(("records complete".to_owned(), false, "one is missing".to_owned()));
        let facts = [("processor".to_owned(), "Xeon".to_owned())].into();
        let hello = AgentHello {
            program: "plimsoll 1".to_owned(),
            build: "abc".to_owned(),
            cpus: 4,
            open_files_max: 1024,
            ports: 28_232,
            facts,
        };
        let sessions = OpenedSessions { n_open: 3, n_failed: 1, first_failure: Some("refused".to_owned()) };
        let example = Example {
            load_point: 1,
            at: Nanos(2),
            kind: 3,
            outcome: Outcome::Reset,
            text: "reset".to_owned(),
        };
        let failed = |kind| FromAgent::Failed { kind, text: "no".to_owned() };
        let messages = [
            FromAgent::Hello(hello),
            FromAgent::Done,
            FromAgent::Reached { address: None },
            FromAgent::Reached { address: Some("[::1]:80".parse().unwrap()) },
            FromAgent::Ready(sessions),
            FromAgent::Begun { late: Nanos(4) },
            FromAgent::Record { number: 3, record: vec![1, 2] },
            FromAgent::Example(example),
            FromAgent::Over { records: 9, counts },
            FromAgent::Pong { number: 1, at: Nanos(2) },
        ];
        for message in messages.into_iter().chain(FAILURE_KINDS.map(failed)) {
            assert_eq!(FromAgent::decode(&message.encode()), Ok(message));
        }
    }

    /// Goal: secrets and data arrive whole; nothing else of the message repeats them.
    #[test]
    fn what_a_run_needs_arrives() {
        let mut secrets = Secrets::default();
        secrets.insert_entry(2, "headers.Authorization".to_owned(), "Bearer abc".to_owned());
        let data = DataTable::from_csv("user,password\nann,\"p,w\"\nbob,\n").unwrap();
        secrets.set_data(vec![Arc::new(data)]);
        let message = ToAgent::SetUp { run: 3, agent: 1, plan: vec![7], secrets: secrets.clone() };
        assert!(!format!("{message:?}").contains("abc"));
        let ToAgent::SetUp { run: 3, agent: 1, plan, secrets: read } =
            ToAgent::decode(&message.encode()).unwrap()
        else {
            panic!()
        };
        assert_eq!((plan, read), (vec![7], secrets));
        for load in [
            Load::Users(7),
            Load::Rate { per_second: 2.5, arrivals: Arrivals::Poisson, in_flight_max: 9 },
            Load::Rate { per_second: 1e4, arrivals: Arrivals::Constant, in_flight_max: 9 },
        ] {
            let point = LoadPoint { index: 4, load };
            let server = ServerForm::from_bytes(&[7]);
            let message = ToAgent::Prepare { run: 1, server, point };
            let ToAgent::Prepare { point: read, .. } = ToAgent::decode(&message.encode()).unwrap() else {
                panic!()
            };
            assert_eq!(read, point);
        }
    }

    #[test]
    fn a_ping_says_what_is_acknowledged() {
        let ping = ToAgent::Ping { number: 7, acknowledged: u64::MAX };
        let read = ToAgent::decode(&ping.encode()).unwrap();
        assert!(matches!(read, ToAgent::Ping { number: 7, acknowledged: u64::MAX }), "{read:?}");
        assert!(matches!(ToAgent::decode(&ToAgent::Heartbeat.encode()), Ok(ToAgent::Heartbeat)));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_message_or_an_error(kind in 0..11_u64, rest in prop::collection::vec(any::<u8>(), 0..200)) {
            let bytes = [kind.to_le_bytes().as_slice(), &rest].concat();
            if let Ok(message) = FromAgent::decode(&bytes) {
                prop_assert_eq!(FromAgent::decode(&message.encode()), Ok(message));
            }
            let _ = ToAgent::decode(&bytes);
        }
    }
}
