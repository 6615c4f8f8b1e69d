//! One run from its probe to the end of its run file, load point by load point, so that several can take turns.

use std::sync::atomic::{AtomicBool, Ordering};

use analysis::LoadPointResult;
use analysis::find_max::{self, FindMax};
use analysis::refinement::{self, AddedLoad};
use model::{CheckMoment, LoadPoint, Plan, RunEnding, Workload};
use runfile::Header;
use units::wall;

use crate::checked::recorded;
use crate::disk_use::DiskUse;
use crate::error::{FleetError, INTERRUPTED};
use crate::event::{Event, Observer};
use crate::family::profile;
use crate::family_counts::FamilyCounts;
use crate::laboratory::Laboratory;
use crate::order::{PointStep, SetupStep};
use crate::record::{PointRecorder, RunRecord};
use crate::request::RunRequest;
use crate::stop::{StopSwitch, go_on_unless};

/// A run that has begun: its server was started and checked, its run file is open.
pub(crate) struct RunSession<L> {
    lab: L,
    /// The search that says which load point comes next, where the plan has one.
    search: Option<FindMax>,
    /// The results so far, where the plan may be refined by them.
    results: Vec<LoadPointResult>,
    n_begun: u32,
    record: RunRecord,
    /// Whether the system under test is in its first state.
    is_fresh: bool,
}

impl<L: Laboratory> RunSession<L> {
    /// Does what the order of the family wants once, and creates the run file.
    ///
    /// # Errors
    /// The reason; there is no run file then.
    pub(crate) fn open(
        mut lab: L,
        request: &RunRequest<'_>,
        observer: &mut impl Observer,
        stop: &AtomicBool,
    ) -> Result<RunSession<L>, FleetError> {
        for step in lab.order().once {
            set_up(&mut lab, *step, true, observer, stop)?;
            go_on_unless(stop)?;
        }
        let machines = lab.watch(request, observer)?;
        let (address, server) = lab.described();
        observer.event(Event::Ready { address, server });
        let disclosed = lab.disclose(request);
        let header = Header {
            program: request.program.clone(),
            created: wall(),
            command_line: disclosed.command_line,
            // The limits in force stand beside it.
            plan: Plan { sut: request.plan.sut.clone(), ..lab.plan().clone() },
            testbed: disclosed.testbed,
        };
        let search = find_max::begin(lab.plan()).transpose()?;
        let mut record = RunRecord::new(lab.create(request.run_file, &header)?, lab.plan());
        lab.limits_in_force().iter().try_for_each(|limit| record.limit_in_force(limit))?;
        machines.iter().try_for_each(|machine| record.machine(machine))?;
        lab.remarks().iter().try_for_each(|remark| record.event(remark))?;
        Ok(RunSession { lab, search, results: Vec::new(), n_begun: 0, record, is_fresh: true })
    }

    /// Returns the files that users have on the disk of its server.
    pub(crate) fn disk_use(&self) -> Option<&DiskUse> {
        self.lab.disk_use()
    }

    /// Returns the load point that comes next; `None` if all were run and none is added, or the search is over.
    pub(crate) fn next_point(&self) -> Option<LoadPoint> {
        let plan = self.lab.plan();
        let load = match &self.search {
            Some(search) => find_max::next_load(search, plan)?,
            None => match plan.load_points.get(self.n_begun as usize) {
                Some(planned) => planned.load,
                None => self.added_load()?.load,
            },
        };
        Some(LoadPoint { index: self.n_begun, load })
    }

    /// Returns the load that is added to those of the plan after the results so far; `None` if none is.
    fn added_load(&self) -> Option<AddedLoad> {
        refinement::next_load(self.lab.plan(), &self.results)
    }

    /// Runs the load point that comes next, with the steps before and after it in the order of the family. Returns
    /// `false` if `stop` was set.
    ///
    /// # Errors
    /// An error that makes further load points useless; all that was recorded until then stays.
    pub(crate) fn load_point<O: Observer + Send>(
        &mut self,
        point: LoadPoint,
        observer: &mut O,
        stop: &AtomicBool,
    ) -> Result<bool, FleetError> {
        if let Some(added) = self.added_load() {
            observer.event(Event::Adding(added));
        }
        let order = self.lab.order();
        for step in order.before {
            let done = set_up(&mut self.lab, *step, self.is_fresh, observer, stop);
            if stop.load(Ordering::Relaxed) {
                return Ok(false);
            }
            done?;
            self.lab.remarks().iter().try_for_each(|remark| self.record.event(remark))?;
        }
        self.is_fresh = false;
        observer.event(Event::LoadPoint(point));
        self.n_begun += 1;
        self.record.begin(point)?;
        if let Some(status) = self.record.status(point.index) {
            observer.event(Event::Status(&status));
        }
        order.begun.iter().try_for_each(|step| self.step(*step, point, &FamilyCounts::default(), stop))?;
        let switch = StopSwitch::new(stop);
        let mut watched = PointRecorder::new(point.index, &mut self.record, observer, &switch);
        self.lab.go();
        let counts = self.lab.collect(&mut watched, &switch);
        let counts = counts.and_then(|counts| self.store_counts(point, counts));
        // The first error, and not one that follows from it: a file that takes no record takes no counts, either.
        if let Some(error) = self.record.error.take() {
            return Err(error);
        }
        let counts = counts?;
        self.lab.remarks().iter().try_for_each(|remark| self.record.event(remark))?;
        if !stop.load(Ordering::Relaxed) {
            order.after.iter().try_for_each(|step| self.step(*step, point, &counts, stop))?;
        }
        if let Some(status) = self.record.final_status(point.index, stop.load(Ordering::Relaxed)) {
            observer.event(Event::Status(&status));
        }
        self.take_result(point.index);
        Ok(!stop.load(Ordering::Relaxed))
    }

    /// Stores what the family counted and found at a load point; returns it.
    fn store_counts(&mut self, point: LoadPoint, counts: FamilyCounts) -> Result<FamilyCounts, FleetError> {
        self.record.counts(point, &counts)?;
        let rows = counts.changes.rows().into_iter().chain(counts.of_load.iter().cloned());
        let checks = recorded(rows, point, CheckMoment::After);
        checks.into_iter().try_for_each(|check| self.record.check(check))?;
        Ok(counts)
    }

    /// Passes the result of a load point to what decides the next ones, where it matters.
    fn take_result(&mut self, index: u32) {
        let plan = self.lab.plan();
        if self.search.is_none() && plan.refinement.is_none() {
            return;
        }
        let Some(result) = self.record.result(index) else { return };
        match &mut self.search {
            Some(search) => find_max::observe(search, plan, &result),
            None => self.results.push(result),
        }
    }

    /// Takes a step of a load point that has begun, with what the family has counted there so far.
    fn step(
        &mut self,
        step: PointStep,
        point: LoadPoint,
        counts: &FamilyCounts,
        stop: &AtomicBool,
    ) -> Result<(), FleetError> {
        match step {
            PointStep::Quiet => self.lab.quiet(stop),
            PointStep::Check(moment) => {
                let checks = self.lab.check(point, moment, counts, stop)?;
                checks.into_iter().try_for_each(|check| self.record.check(check))?;
            }
            PointStep::Prepare => {
                let sessions = self.lab.prepare(point, stop)?;
                self.record.sessions(point, sessions)?;
            }
        }
        Ok(())
    }

    /// Has the server rest while other runs have their turns, if it must be alone on the machine.
    pub(crate) fn rest(&mut self) {
        self.is_fresh &= !self.lab.rest();
    }

    /// Stores results and ending and closes the run file; the server goes. The file of a run that failed before its first
    /// load point is removed.
    ///
    /// # Errors
    /// The error that ended the run: it says more than that its file could then not be closed either.
    pub(crate) fn close(self, result: Result<RunEnding, FleetError>) -> Result<RunEnding, FleetError> {
        let finished = match &result {
            Ok(ending) => self.record.finish(ending),
            Err(_) if self.n_begun == 0 => {
                self.record.discard();
                Ok(())
            }
            Err(error) => self.record.finish(&RunEnding::Stopped(error.to_string())),
        };
        self.lab.stop();
        let ending = result?;
        finished?;
        Ok(ending)
    }
}

/// Takes a step of the laboratory.
fn set_up(
    lab: &mut impl Laboratory,
    step: SetupStep,
    is_fresh: bool,
    observer: &mut impl Observer,
    stop: &AtomicBool,
) -> Result<(), FleetError> {
    match step {
        SetupStep::Quiet => lab.quiet(stop),
        SetupStep::Reset if is_fresh => {}
        SetupStep::Reset => lab.reset(observer, stop)?,
        SetupStep::CheckGolden => lab.check_golden(observer, stop)?,
        SetupStep::Warm => lab.warm(observer, stop)?,
        SetupStep::Probe => {
            observer.event(Event::Probing(&probe_text(&lab.plan().workload)));
            lab.probe(observer, stop)?;
        }
    }
    Ok(())
}

/// Names the check of one operation of each kind.
fn probe_text(workload: &Workload) -> String {
    let things = profile(workload.family()).checked_things;
    match workload.web().map(|web| web.requests.len()) {
        Some(1) => "fetching the page once".to_owned(),
        Some(_) => "fetching a page of every kind once".to_owned(),
        None => format!("checking {things} of every kind"),
    }
}

/// Returns how a run ends that its user interrupted.
pub(crate) fn interrupted() -> RunEnding {
    RunEnding::Stopped(INTERRUPTED.into())
}
