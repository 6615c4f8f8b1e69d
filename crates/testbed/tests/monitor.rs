//! Monitoring of running servers.

use model::{Counter, Reading};
use observe::{LocalMachine, ResourceMonitor, ServiceStatus};
use testbed::{Recipe, ResourceLimits, RunningSut, SutRequest, SutServer};

use crate::fixture::{READY_MAX, directory, files, get, request};

fn start(request: SutRequest) -> RunningSut {
    let mut sut = RunningSut::start(request).unwrap_or_else(|error| panic!("{error}"));
    sut.wait_ready(READY_MAX).unwrap_or_else(|error| panic!("{error}"));
    sut
}

fn named(recipe: &str) -> SutServer {
    SutServer::Recipe(Box::new(Recipe::load(recipe).unwrap()))
}

fn read(monitor: &mut impl ResourceMonitor) -> Vec<Reading> {
    let mut readings = Vec::new();
    monitor.read(&mut readings).unwrap_or_else(|error| panic!("{error}"));
    readings
}

fn find(readings: &[Reading], counter: Counter, instance: &str) -> Option<u64> {
    let found = readings.iter().find(|one| one.counter == counter && one.instance == instance);
    found.map(|reading| reading.value)
}

#[track_caller]
fn value(readings: &[Reading], counter: Counter, instance: &str) -> u64 {
    find(readings, counter, instance).unwrap_or_else(|| panic!("no {counter} of `{instance}`: {readings:?}"))
}

/// Goal: the usage of a server is read from its group and its processes, and continues over a restart. One
/// CPU, one worker: two processes named nginx. Files are in memory, so disks are not checked.
#[test]
fn a_server_is_monitored_over_a_restart() {
    let base = directory();
    let files = files();
    let limits = ResourceLimits { quota: Some(0.9), memory: Some(256 << 20), ..ResourceLimits::default() };
    let mut sut = start(SutRequest { limits, ..request(named("nginx"), base.path(), &files) });
    let mut machine = LocalMachine::new(Some(sut.watched()));
    let before = read(&mut machine);
    assert_eq!(value(&before, Counter::ProcessCount, "nginx"), 2);
    assert_eq!(value(&before, Counter::SutProcesses, ""), 2);
    assert!(0 < value(&before, Counter::ProcessMemory, "nginx"));
    (0..50).for_each(|_| drop(get(&sut, "/large.html")));
    sut.reset().unwrap_or_else(|error| panic!("{error}"));
    let after = read(&mut machine);
    let port = sut.addr().port().to_string();
    if let Some(queue_max) = find(&after, Counter::AcceptQueueMax, &port) {
        assert!(100 < queue_max, "{queue_max}");
        assert_eq!(value(&after, Counter::AcceptQueue, &port), 0);
    }
    if sut.quota().is_some() {
        for counter in [Counter::SutCpu, Counter::SutCpuUser, Counter::SutPeriods, Counter::SutThrottled] {
            assert!(value(&before, counter, "") <= value(&after, counter, ""), "{counter}");
        }
        assert!(value(&before, Counter::SutCpu, "") < value(&after, Counter::SutCpu, ""));
        assert_eq!(value(&after, Counter::ProcessCount, "nginx"), 2);
        // Processes from before the restart are included.
        assert!(value(&before, Counter::ProcessCpu, "nginx") <= value(&after, Counter::ProcessCpu, "nginx"));
    }
    if let Some(limit) = sut.held().memory {
        assert_eq!(value(&after, Counter::SutMemoryMax, ""), limit);
        assert!((1..limit).contains(&value(&after, Counter::SutMemory, "")));
    }
}

/// Goal: nginx reports how busy it is. The requests so far and the monitor's own add up to all requests.
#[test]
fn nginx_reports_its_connections_and_requests() {
    let base = directory();
    let files = files();
    let sut = start(request(named("nginx"), base.path(), &files));
    let mut status = ServiceStatus::new(&sut.watched()).unwrap();
    let before = value(&read(&mut status), Counter::ServiceRequests, "");
    (0..5).for_each(|_| drop(get(&sut, "/small.html")));
    let after = read(&mut status);
    assert_eq!(value(&after, Counter::ServiceRequests, "") - before, 6, "five, and this request");
    // A connection that the server has not closed yet may still be open.
    assert!(value(&after, Counter::ServiceBusy, "") <= value(&after, Counter::ServiceConnections, ""));
    assert!(1000 < value(&after, Counter::ServiceWorkers, ""));
}

/// Goal: the same for Apache, whose page has a character for each possible worker. The number of existing
/// workers depends on the machine.
#[test]
fn apache_reports_its_workers() {
    for recipe in ["apache", "apache-prefork"] {
        let base = directory();
        let files = files();
        let sut = start(request(named(recipe), base.path(), &files));
        let readings = read(&mut ServiceStatus::new(&sut.watched()).unwrap());
        let [workers, busy, idle] = [Counter::ServiceWorkers, Counter::ServiceBusy, Counter::ServiceIdle]
            .map(|counter| value(&readings, counter, ""));
        assert!(busy + idle < workers && 1000 < workers, "{recipe}: {busy} + {idle} of {workers}");
    }
}

#[test]
fn a_status_page_behind_tls_or_of_another_profile_is_not_read() {
    let base = directory();
    let files = files();
    let tls = SutRequest { variant: Some("tls".into()), ..request(named("nginx"), base.path(), &files) };
    assert!(ServiceStatus::new(&start(tls).watched()).is_none());
    let profile = Some("default".to_owned());
    let other = SutRequest { profile, ..request(named("nginx"), base.path(), &files) };
    assert!(ServiceStatus::new(&start(other).watched()).is_none());
}
