//! The run during which the throttle is replaced, once the progress of Plimsoll says that a load point is over.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail, ensure};
use units::{Clock, Nanos, RealClock};

use super::MovingCase;
use super::sentence::agrees;
use crate::shell::line;
use crate::throttles::attempt::{Attempt, printed_run};
use crate::throttles::sample::order::{RunAim, command};
use crate::throttles::sample::scene::CaseScene;

/// The load point whose end is the end of the first throttle, as progress names it; the first has one user.
const FIRST_OVER: &str = "2/3";

/// The longest that the replacement of a throttle may take: it is over well before the end of the settle phase.
const SWITCH_MAX: Nanos = Nanos::from_millis(1500);

/// The result of a run whose throttle was replaced.
#[derive(Debug)]
pub(in crate::throttles::sample) struct MovingTrial {
    /// The load point under each throttle.
    pub phases: [Attempt; 2],
    /// The run's sentence about its bottleneck.
    pub sentence: String,
    /// The loads of all load points in users, with the bottlenecks that were named.
    named: Vec<(u32, String)>,
}

impl MovingTrial {
    /// Runs Plimsoll once, while the throttle is replaced.
    ///
    /// # Errors
    /// The server, the run or the replacement failed, or the replacement took too long to be over in the settle phase.
    pub(in crate::throttles::sample) fn run(
        case: &MovingCase,
        plimsoll: &Path,
        aim: RunAim,
    ) -> Result<MovingTrial> {
        let ([first, second], phase) = (case.settings(), &case.phases[0]);
        let mut scene = CaseScene::begin(phase, &first, plimsoll)?;
        let mut command = command(phase, &first, &scene, plimsoll, aim)?;
        let output = run_until(&mut command, FIRST_OVER, || {
            let clock = RealClock::start();
            scene.switch(&first, &second)?;
            let took = clock.now();
            ensure!(took <= SWITCH_MAX, "the throttle was replaced in {:.2} s", took.as_secs_f64());
            Ok(())
        })?;
        let printed = printed_run(&command, &output)?;
        let loads = [1, first.users - 1, first.users];
        let points: [Attempt; 3] = match Attempt::of_each_point(&printed)?.try_into() {
            Ok(points) => points,
            Err(points) => bail!("{} load points instead of three", points.len()),
        };
        let named = loads.into_iter().zip(points.iter().map(|point| point.named.clone())).collect();
        let [_, first, second] = points;
        let sentence = printed["bottleneck"].as_str().unwrap_or_default().to_owned();
        Ok(MovingTrial { phases: [first, second], sentence, named })
    }

    /// Returns whether the run's sentence says the same as its load points.
    pub(super) fn agrees(&self) -> bool {
        let named: Vec<(u32, &str)> = self.named.iter().map(|(load, name)| (*load, name.as_str())).collect();
        agrees(&self.sentence, &named)
    }

    /// Returns whether the load points under both throttles have a right name, and the run's sentence agrees.
    pub(in crate::throttles::sample) fn is_right(&self, case: &MovingCase) -> bool {
        let mut phases = case.phases.iter().zip(&self.phases);
        phases.all(|(phase, attempt)| phase.is_right(&attempt.named)) && self.agrees()
    }
}

/// Runs a command of Plimsoll, and acts when its progress says that the load point called `over` is over.
///
/// # Errors
/// It cannot be run, the act fails, or there was no such load point.
fn run_until(command: &mut Command, over: &str, act: impl FnOnce() -> Result<()>) -> Result<Output> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("cannot start `{}`", line(command)))?;
    let mut stdout = child.stdout.take().context("it is piped")?;
    let stderr = BufReader::new(child.stderr.take().context("it is piped")?);
    let printed = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        stdout.read_to_end(&mut bytes).map(|_| bytes)
    });
    let mut said = String::new();
    let mut act = Some(act);
    for line in stderr.lines() {
        let line = line?;
        if line.split_whitespace().next() == Some(over)
            && let Some(act) = act.take()
            && let Err(error) = act()
        {
            child.kill()?;
            child.wait()?;
            return Err(error);
        }
        said += &line;
        said.push('\n');
    }
    let status = child.wait()?;
    let stdout = printed.join().ok().context("the reader of the output ended")??;
    ensure!(act.is_none(), "no load point `{over}` was over: {said}");
    Ok(Output { status, stdout, stderr: said.into_bytes() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    /// Goal: the act falls between two load points: what the program prints afterwards waits for it here.
    #[test]
    fn the_act_follows_the_end_of_its_load_point() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("mark");
        let script = format!(
            "echo 'Server: x' >&2; echo '   1/3   1 user' >&2; echo '   2/3  15 users' >&2; \
             while [ ! -e {} ]; do sleep 0.01; done; echo '   3/3  16 users' >&2; echo '{{}}'",
            mark.display()
        );
        let output = run_until(&mut shell(&script), FIRST_OVER, || Ok(std::fs::write(&mark, "")?)).unwrap();
        assert_eq!(output.stdout, b"{}\n");
        assert!(output.stderr.ends_with(b"  3/3  16 users\n") && output.status.success());
    }

    #[test]
    fn a_run_without_the_load_point_and_an_act_that_fails_are_errors() {
        let error = run_until(&mut shell("echo 'error: refused' >&2"), FIRST_OVER, || Ok(())).unwrap_err();
        assert_eq!(error.to_string(), "no load point `2/3` was over: error: refused\n");
        let mut endless = shell("echo '  2/3  x' >&2; while :; do sleep 1; done");
        let error = run_until(&mut endless, FIRST_OVER, || bail!("no rights")).unwrap_err();
        assert_eq!(error.to_string(), "no rights");
    }
}
