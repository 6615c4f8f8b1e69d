//! Faults between the controller and load agents in this process: links that are interrupted, and one side that says nothing.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use engine::{OpenedSessions, StopRequest};
use model::{AgentPlan, IntervalRecord, LoadPoint, Plan, RecordSource, Secrets};
use testkit::{closed_plan, phases};
use units::{Nanos, RealClock};

use super::controller::UNACKNOWLEDGED_MAX;
use super::remote::{NamedTarget, RemoteLoad};
use super::serve::{AgentEnd, AgentHost, SILENCE_MAX, ServeSettings, serve_with};
use super::tests::{
    BUILD, CollectedRecords, PROGRAM, SomeServer, agent, fleet, plan, point, recorded_here, run_point,
};
use crate::agent_error::AgentFailureKind;
use crate::agent_link::{FromAgent, GREETING, TO_AGENT_BYTES_MAX, ToAgent, read_frame, write_frame};
use crate::error::{FleetError, LoadError};
use crate::family::ExternalServer;
use crate::family_counts::FamilyCounts;
use crate::load::LoadSide;
use crate::record::missing_text;
use crate::seconds::MissingRecord;
use crate::thread::Message;

/// Begins an agent behind a relay, which passes a message on when a function has returned that is told of it; returns the
/// controller's end.
fn relayed(
    mut to_agent: impl FnMut(&ToAgent) + Send + 'static,
    mut from_agent: impl FnMut(&FromAgent) + Send + 'static,
) -> UnixStream {
    let (agent, _) = agent();
    let (controller, relay) = UnixStream::pair().unwrap();
    let (mut input, mut output) = (relay.try_clone().unwrap(), agent.try_clone().unwrap());
    std::thread::spawn(move || {
        while let Ok(bytes) = read_frame(&mut input, TO_AGENT_BYTES_MAX) {
            to_agent(&ToAgent::decode(&bytes).unwrap());
            if write_frame(&mut output, &bytes).is_err() {
                break;
            }
        }
        drop(output.shutdown(Shutdown::Both));
    });
    let (mut input, mut output) = (agent, relay);
    std::thread::spawn(move || {
        let mut greeting = [0; GREETING.len()];
        input.read_exact(&mut greeting).unwrap();
        output.write_all(&greeting).unwrap();
        while let Ok(bytes) = read_frame(&mut input, TO_AGENT_BYTES_MAX) {
            from_agent(&FromAgent::decode(&bytes).unwrap());
            if write_frame(&mut output, &bytes).is_err() {
                break;
            }
        }
    });
    controller
}

/// Runs a load point of two agents. What the second one says behind its first two records is held until the controller has
/// acknowledged all records of the first one, which for its part waits until those two are acknowledged.
fn interrupted(plan: &Plan) -> CollectedRecords {
    let (begin, begun) = channel();
    let n_records = Arc::new(AtomicU64::new(u64::MAX));
    let n_acknowledged = Arc::clone(&n_records);
    let (restore, restored) = channel();
    let undisturbed = relayed(
        move |message| {
            if let ToAgent::Ping { acknowledged, .. } = message
                && n_acknowledged.load(Ordering::Relaxed) == *acknowledged
            {
                let _ = restore.send(());
            }
        },
        move |message| match message {
            FromAgent::Record { number: 2, .. } => begun.recv().unwrap(),
            FromAgent::Over { records, .. } => n_records.store(*records, Ordering::Relaxed),
            _ => {}
        },
    );
    let interrupted = relayed(
        move |message| {
            if let ToAgent::Ping { acknowledged: 2, .. } = message {
                let _ = begin.send(());
            }
        },
        move |message| {
            if matches!(message, FromAgent::Record { number: 2, .. }) {
                restored.recv().unwrap();
            }
        },
    );
    let streams = [undisturbed, interrupted];
    let mut load = RemoteLoad::<SomeServer>::simulated(&fleet(&streams), Arc::new(plan.clone()));
    let (collected, result) = run_point(&mut load, &SomeServer, point(0, 14), &AtomicBool::new(false));
    result.unwrap();
    drop(load);
    streams.iter().for_each(|stream| drop(stream.shutdown(Shutdown::Both)));
    collected
}

fn bytes(records: &[IntervalRecord]) -> Vec<Vec<u8>> {
    records.iter().map(runfile::wire::encode).collect()
}

/// Goal: an interruption costs nothing while it is shorter than the watermark, and a longer one only the seconds that are named.
/// Method: time is simulated, so that the rest of a load point of 8 s or of 30 s passes at once; all bytes of all seconds.
///
/// By hand: of agent 1 come seconds 0 and 1. The others end at 8 s, 5 s after second 2, or at 30 s or a little later, when all
/// seconds that ended by 20 s are closed: 2 to 19.
#[test]
fn an_interruption_costs_the_seconds_that_are_closed_meanwhile() {
    for (steady, n_missing) in [(8, 0), (30, 18)] {
        let of_agents = |n| Plan { phases: phases(0, steady), ..plan(n) };
        let expected = recorded_here(of_agents(1), &[(0, 14)]);
        let found = interrupted(&of_agents(2));
        let of = RecordSource { agent: 1, thread: None };
        let missing = (2..2 + n_missing)
            .map(|index| MissingRecord { of, index, start: Nanos::from_secs(index.into()) })
            .collect::<Vec<_>>();
        assert_eq!(found.missing, missing, "{steady} s");
        assert_eq!(found.records.len(), expected.len());
        let pairs = bytes(&found.records).into_iter().zip(bytes(&expected)).enumerate();
        for (index, (found, expected)) in pairs {
            let is_whole = missing.iter().all(|missing| missing.index as usize != index);
            assert_eq!(found == expected, is_whole, "{steady} s, second {index}");
        }
        if 0 < n_missing {
            let text = "load agent 1 has sent no record of interval 2, which began at 2.00 s; 18 records are missing";
            assert_eq!(missing_text(&found.missing), text);
        }
    }
}

/// Says something to an agent.
fn say(mut stream: &UnixStream, messages: &[ToAgent]) {
    for message in messages {
        write_frame(&mut stream, &message.encode()).unwrap();
    }
}

/// Returns all that makes an agent begin a load point of one user, whose steady phase has so many seconds.
fn beginning(steady: u64) -> [ToAgent; 4] {
    let server = SomeServer.server().unwrap();
    let agents = vec![AgentPlan::only(1)];
    let plan = Plan { agents, ..closed_plan(7, &[1], phases(0, steady)) };
    let plan = runfile::wire::encode_plan(&plan);
    [
        ToAgent::Hello { program: PROGRAM.to_owned(), build: BUILD.to_owned() },
        ToAgent::SetUp { run: 0, agent: 0, plan, secrets: Secrets::default() },
        ToAgent::Prepare { run: 0, server, point: point(0, 1) },
        ToAgent::Go { origin: Nanos::ZERO },
    ]
}

/// Goal: an agent whose records are not acknowledged ends its load, and says why. Method: a controller that is heard, takes
/// what it gets and acknowledges none of the 100 seconds of a simulated load point.
#[test]
fn records_that_are_not_acknowledged_end_the_load() {
    let (mut controller, serving) = agent();
    say(&controller, &beginning(100));
    let mut greeting = [0; GREETING.len()];
    controller.read_exact(&mut greeting).unwrap();
    let mut n_records = 0;
    let (kind, text) = loop {
        let bytes = read_frame(&mut controller, TO_AGENT_BYTES_MAX).unwrap();
        match FromAgent::decode(&bytes).unwrap() {
            FromAgent::Record { .. } => n_records += 1,
            FromAgent::Failed { kind, text } => break (kind, text),
            FromAgent::Over { .. } => panic!("it has ended as planned"),
            _ => {}
        }
    };
    assert_eq!((n_records, kind), (UNACKNOWLEDGED_MAX, AgentFailureKind::Unacknowledged));
    assert!(text.contains("the controller has not taken its last 60 records"), "{text}");
    controller.shutdown(Shutdown::Both).unwrap();
    serving.join().unwrap().unwrap();
}

/// A host of load that goes on until it is stopped, and says when it begins and ends.
struct EndlessHost {
    begun: Sender<()>,
    ended: Sender<()>,
}

struct EndlessLoad {
    begun: Sender<()>,
    ended: Sender<()>,
    records: Option<Sender<Message>>,
}

impl AgentHost for EndlessHost {
    type Load = EndlessLoad;

    fn load(&self, _: Arc<Plan>, _: u32, _: RealClock) -> EndlessLoad {
        EndlessLoad { begun: self.begun.clone(), ended: self.ended.clone(), records: None }
    }

    fn resolve(
        &self,
        _: &ExternalServer,
        _: Secrets,
        _: RealClock,
        _: &AtomicBool,
    ) -> Result<(), FleetError> {
        Ok(())
    }

    fn address(&self, (): &()) -> Option<std::net::SocketAddr> {
        None
    }

    fn probe(&self, (): &(), _: &Plan, _: RealClock, _: &AtomicBool) -> Result<(), FleetError> {
        Ok(())
    }
}

impl LoadSide for EndlessLoad {
    type Target = ();

    fn sources(&self) -> Vec<RecordSource> {
        Vec::new()
    }

    fn prepare(
        &mut self,
        (): &(),
        _: LoadPoint,
        records: Sender<Message>,
        _: &AtomicBool,
    ) -> Result<OpenedSessions, LoadError> {
        self.records = Some(records);
        Ok(OpenedSessions::default())
    }

    fn lead(&mut self) -> Nanos {
        Nanos::ZERO
    }

    fn go(&mut self, _: Nanos) {}

    fn abandon(&mut self) {
        self.records = None;
    }

    fn collect(&mut self, stop: &impl StopRequest) -> Result<FamilyCounts, LoadError> {
        let _ = self.begun.send(());
        let (_open, nothing): (Sender<()>, Receiver<()>) = channel();
        while !stop.is_requested() {
            assert_eq!(nothing.recv_timeout(Duration::from_millis(1)), Err(RecvTimeoutError::Timeout));
        }
        self.records = None;
        let _ = self.ended.send(());
        Ok(FamilyCounts::default())
    }
}

/// Says something to an agent, and then nothing for a time after which it ends by itself; returns whether load had begun, which
/// then has ended, too.
fn ends_by_silence(messages: &[ToAgent], silence_max: Nanos) -> bool {
    let (controller, stream) = UnixStream::pair().unwrap();
    let output = stream.try_clone().unwrap();
    let settings = ServeSettings { silence_max, ..ServeSettings::of(PROGRAM, BUILD) };
    let ((begun, has_begun), (ended, has_ended)) = (channel(), channel());
    let host = EndlessHost { begun, ended };
    say(&controller, messages);
    let serving = std::thread::spawn(move || serve_with(host, stream, output, settings));
    let end = serving.join().unwrap().unwrap_err();
    assert!(matches!(end, AgentEnd::Silent { silence } if silence_max < silence), "{end}");
    let has_begun = has_begun.try_recv().is_ok();
    assert_eq!(has_ended.try_recv().is_ok(), has_begun);
    has_begun
}

/// Goal: an agent that hears nothing of its controller ends, and its load before it, although its input does not: so it is with
/// a controller that is killed behind a network that is interrupted. Method: a limit of 0.2 s in place of the real one; before a
/// run, before the start of a load point, and while load runs, which goes on as long as nobody stops it.
#[test]
fn an_agent_ends_when_its_controller_is_silent() {
    assert_eq!(SILENCE_MAX, Nanos::from_secs(60), "the real limit");
    let messages = beginning(3);
    let mut silence_max = Nanos::from_millis(200);
    for n_messages in [1, 3] {
        assert!(!ends_by_silence(&messages[..n_messages], silence_max), "{n_messages} messages");
    }
    // On a busy machine load may take longer to begin.
    while !ends_by_silence(&messages, silence_max) {
        silence_max = Nanos(4 * silence_max.0);
        assert!(silence_max < Nanos::from_secs(60), "the load does not begin");
    }
    let text = AgentEnd::Silent { silence: Nanos::from_secs(61) }.to_string();
    assert_eq!(text, "the controller has been silent for 61 s");
}
