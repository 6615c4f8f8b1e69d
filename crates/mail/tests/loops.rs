//! Users who go through scripts.

use std::collections::BTreeMap;

use mail::{
    CountedItem, InvitationChoice, MailAction, MailAnswer, MailLoad, MailOperation, MailPacing, MailScript,
    MailStart, MailStep, MailUser, MailWait, MessageKind, PAGE_ENTRIES,
};
use units::Nanos;

const PAGE: MailAnswer = MailAnswer::Page { n: 20, invitations: 0b1000 };

fn load(script: MailScript) -> MailLoad {
    MailLoad { script, pacing: MailPacing::default(), seed: 1, epoch: 2, n_users: 1000 }
}

/// Answers as a server does that has everything.
fn answer(operation: &MailOperation) -> MailAnswer {
    match operation.action {
        MailAction::OpenView(_) => MailAnswer::View(100),
        MailAction::ReadPage(..) => PAGE,
        _ => MailAnswer::Done,
    }
}

/// The operations and waits of a user in a number of loops.
#[derive(Default)]
struct Transcript {
    operations: Vec<MailOperation>,
    waits: Vec<(MailWait, Nanos)>,
    loops: Vec<bool>,
}

fn follow(
    user: &mut MailUser,
    n_loops: usize,
    mut answer: impl FnMut(&MailOperation) -> MailAnswer,
) -> Transcript {
    let mut transcript = Transcript::default();
    let mut last = None;
    while transcript.loops.len() < n_loops {
        match user.next(last.take()) {
            MailStep::Wait(kind, time) => transcript.waits.push((kind, time)),
            MailStep::Perform(operation) => {
                last = Some(answer(&operation));
                transcript.operations.push(operation);
            }
            MailStep::LoopEnd { ok } => transcript.loops.push(ok),
        }
    }
    transcript
}

fn counts(operations: &[MailOperation]) -> BTreeMap<CountedItem, u32> {
    let mut counts = BTreeMap::new();
    for operation in operations {
        *counts.entry(operation.item).or_default() += 1;
    }
    counts
}

/// In 24 loops, which all cadences divide, every item comes exactly as often as the script says.
#[test]
fn every_item_comes_as_often_as_its_script_says() {
    for script in MailScript::ALL {
        for number in [0, 1, 17] {
            let mut user = load(script).user(number);
            let transcript = follow(&mut user, 24, answer);
            let counts = counts(&transcript.operations);
            for item in script.items() {
                let once = script.first_steps().iter().filter(|step| step.item == item).count();
                let expected = (script.per_loop(item) * 24.0).round() as usize + once;
                assert_eq!(counts.get(&item).copied().unwrap_or(0) as usize, expected, "{script:?} {item:?}");
            }
            assert_eq!(transcript.loops, [true; 24]);
            assert_eq!((user.n_loops(), counts.len()), (24, script.items().count()));
        }
    }
}

/// The first loop of a user who sends in it, as the published script has its commands.
#[test]
fn a_mail_loop_is_in_the_order_of_the_script() {
    let mut user = load(MailScript::Mail).user(6);
    let lines: Vec<String> =
        follow(&mut user, 1, answer).operations.iter().map(|operation| operation.to_string()).collect();
    let expected = [
        "open mailbox: INBOX",
        "open view: INBOX",
        "read page: 20 from 0 of INBOX",
        "read document: entry A",
        "read document: entry B",
        "read document: entry C",
        "read document: entry D",
        "read document: entry E",
        "update document: entry A",
        "update document: entry B",
        "send memo: 0",
        "make appointment: 1",
        "invite: 2",
        "respond: entry 3",
        "add document: 4",
        "add document: 5",
        "delete document: entry E",
        "delete document: entry D",
        "scroll: 20 from 20 of INBOX",
        "close mailbox: INBOX",
    ];
    let entries: Vec<&str> = lines[3..8].iter().map(|line| line.rsplit(' ').next().unwrap()).collect();
    let named = expected.map(|line| {
        let letters = ["A", "B", "C", "D", "E"].into_iter().zip(&entries);
        letters.fold(line.to_owned(), |line, (letter, entry)| {
            line.replace(&format!("entry {letter}"), &format!("entry {entry}"))
        })
    });
    assert_eq!(lines, named);
}

/// At most four loops an hour: the waiting of each loop is exactly a quarter of an hour, or its part at another pace.
#[test]
fn the_waiting_of_a_loop_is_exact() {
    for (script, pace) in
        [(MailScript::Mail, 1), (MailScript::MailDb, 1), (MailScript::Mail, 16), (MailScript::Web, 3)]
    {
        let pacing = MailPacing { pace, ..MailPacing::default() };
        let mut user = MailLoad { pacing, ..load(script) }.user(3);
        let mut last = None;
        let mut waited = Vec::new();
        let mut sum = 0;
        while waited.len() < 5 {
            match user.next(last.take()) {
                MailStep::Wait(MailWait::Start, time) => {
                    assert!(time <= Nanos(Nanos::from_secs(900).0 / u64::from(pace)))
                }
                MailStep::Wait(MailWait::Between, time) => {
                    waited.push(sum + time.0);
                    sum = 0;
                }
                MailStep::Wait(_, time) => sum += time.0,
                MailStep::Perform(operation) => last = Some(answer(&operation)),
                MailStep::LoopEnd { ok } => assert!(ok),
            }
        }
        let whole = Nanos::from_secs(900).0 / u64::from(pace);
        // Each wait is rounded down to a nanosecond.
        assert!(waited.iter().all(|sum| sum.abs_diff(whole) < 20), "{script:?} at {pace}: {waited:?}");
    }
}

/// Means of 20,000 draws, within four standard errors: a range of width w has the deviation w ÷ √12.
#[test]
fn waits_within_a_loop_are_drawn_evenly_from_their_ranges() {
    let mut user = load(MailScript::SharedDb).user(0);
    let waits = follow(&mut user, 5_000, answer).waits;
    let between: Vec<f64> = waits
        .iter()
        .filter(|(kind, _)| *kind == MailWait::Between)
        .map(|(_, time)| time.as_secs_f64())
        .collect();
    let mean = between.iter().sum::<f64>() / between.len() as f64;
    assert!((mean - 360.0).abs() < 4.0 * 240.0 / 12.0_f64.sqrt() / (between.len() as f64).sqrt(), "{mean}");
    assert!(between.iter().all(|time| (240.0..=480.0).contains(time)));
    let reading: f64 =
        waits.iter().filter(|(kind, _)| *kind == MailWait::Reading).map(|(_, time)| time.as_secs_f64()).sum();
    assert!((reading / 5_000.0 - 80.5).abs() < 1.0, "{reading}");
}

#[test]
fn a_beginning_as_scripted_is_staggered_and_settles() {
    let pacing = MailPacing { pace: 1, start: MailStart::Scripted };
    let first_wait = |script, number| {
        let mut user = MailLoad { pacing, ..load(script) }.user(number);
        match user.next(None) {
            MailStep::Wait(MailWait::Start, time) => time.as_secs_f64(),
            other => panic!("{other:?}"),
        }
    };
    for number in 0..200 {
        assert!((480.0..=900.0).contains(&first_wait(MailScript::Mail, number)));
        assert!((0.0..=300.0).contains(&first_wait(MailScript::SharedDb, number)));
    }
}

/// Of six users, one sends in each loop.
#[test]
fn sending_is_even_over_the_users() {
    let mut users: Vec<MailUser> = (0..6).map(|number| load(MailScript::Mail).user(number)).collect();
    for _ in 0..12 {
        let sent: u32 = users
            .iter_mut()
            .map(|user| {
                counts(&follow(user, 1, answer).operations).get(&CountedItem::SendMemo).copied().unwrap_or(0)
            })
            .sum();
        assert_eq!(sent, 1);
    }
}

#[test]
fn an_invitation_of_the_page_is_answered_before_one_that_is_not_there() {
    let respond = |page: MailAnswer| {
        let mut user = load(MailScript::Mail).user(0);
        let transcript = follow(&mut user, 1, |operation| match operation.action {
            MailAction::ReadPage(..) => page,
            _ => answer(operation),
        });
        let found =
            transcript.operations.into_iter().find(|operation| operation.item == CountedItem::Respond);
        match found.unwrap().action {
            MailAction::Respond(choice, _) => choice,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(respond(MailAnswer::Page { n: 20, invitations: 0b1010_0000 }), InvitationChoice::Entry(5));
    for page in [MailAnswer::Page { n: 20, invitations: 0 }, MailAnswer::Page { n: 2, invitations: 0b100 }] {
        let InvitationChoice::Number(meeting) = respond(page) else { panic!("it is not on the page") };
        assert!(meeting.user < 1000);
    }
}

/// A document is read before it is filed or deleted, and nothing is done with a deleted one.
#[test]
fn documents_are_read_before_anything_else_is_done_with_them() {
    for script in MailScript::ALL {
        for n in [0, 1, 2, 4, 5, 20] {
            let mut user = load(script).user(24);
            for _ in 0..8 {
                let transcript = follow(&mut user, 1, |operation| match operation.action {
                    MailAction::ReadPage(..) => MailAnswer::Page { n, invitations: 0 },
                    _ => answer(operation),
                });
                let mut read = Vec::new();
                let mut deleted = Vec::new();
                for operation in transcript.operations {
                    let entry = match operation.action {
                        MailAction::Read(entry) => {
                            assert!(entry < u32::from(n) && !read.contains(&entry));
                            read.push(entry);
                            continue;
                        }
                        MailAction::Categorize(entry) | MailAction::Answer(entry, _) => entry,
                        MailAction::Delete(entry) | MailAction::Move(entry, _) => {
                            assert!(
                                !deleted.contains(&entry) || script == MailScript::Mail8,
                                "{script:?} {n}"
                            );
                            deleted.push(entry);
                            entry
                        }
                        _ => continue,
                    };
                    assert!(read.contains(&entry), "{script:?} {n} {operation}");
                }
            }
        }
    }
}

#[test]
fn after_an_error_a_user_waits_and_begins_its_loop_again() {
    let mut user = load(MailScript::Imap).user(0);
    let mut n_pages = 0;
    let transcript = follow(&mut user, 3, |operation| match operation.item {
        CountedItem::ReadPage => {
            n_pages += 1;
            [MailAnswer::Failed, MailAnswer::SessionLost, PAGE][n_pages - 1]
        }
        _ => answer(operation),
    });
    assert_eq!(transcript.loops, [false, false, true]);
    let lines: Vec<&str> = transcript.operations.iter().map(|operation| operation.item.name()).collect();
    let begin = ["list mailboxes", "open mailbox", "read page"];
    assert_eq!(lines[..7], [&begin[..], &["read page"], &begin].concat());
    let back_offs: Vec<f64> = transcript
        .waits
        .iter()
        .filter(|(kind, _)| *kind == MailWait::BackOff)
        .map(|(_, time)| time.as_secs_f64())
        .collect();
    assert_eq!(back_offs.len(), 2);
    assert!(back_offs.iter().all(|time| (60.0..=120.0).contains(time)));
}

#[test]
fn an_error_at_log_on_is_no_loop() {
    let mut user = load(MailScript::Imap).user(0);
    let mut n = 0;
    let transcript = follow(&mut user, 1, |operation| {
        n += 1;
        if n < 4 { MailAnswer::Failed } else { answer(operation) }
    });
    assert_eq!(
        (transcript.loops, &transcript.operations[..4]),
        (vec![true], &[transcript.operations[0]; 4][..])
    );
}

#[test]
fn users_are_the_same_in_every_run_and_differ_from_each_other() {
    let transcript = |seed, number| {
        let mut user = MailLoad { seed, ..load(MailScript::MailDb) }.user(number);
        let transcript = follow(&mut user, 3, answer);
        (transcript.operations, transcript.waits)
    };
    assert_eq!(transcript(1, 5), transcript(1, 5));
    assert_ne!(transcript(1, 5).1, transcript(1, 6).1);
    assert_ne!(transcript(2, 5).1, transcript(1, 5).1);
}

/// What happened in a loop has no influence on the random choices of the next.
#[test]
fn loops_do_not_depend_on_answers_to_earlier_ones() {
    let third = |n| {
        let mut user = load(MailScript::Mail).user(5);
        let before = follow(&mut user, 2, |operation| match operation.action {
            MailAction::ReadPage(..) => MailAnswer::Page { n, invitations: 0 },
            _ => answer(operation),
        });
        assert_eq!(before.loops, [true, true]);
        follow(&mut user, 1, answer).waits.split_off(1)
    };
    assert_eq!(third(20), third(2));
}

/// Numbers of messages are a user's own, without gaps, and in the load point's epoch.
#[test]
fn messages_are_numbered() {
    let mut user = load(MailScript::MailDb).user(6);
    let operations = follow(&mut user, 12, answer).operations;
    let mut numbers: Vec<u32> = Vec::new();
    for operation in operations {
        match (operation.message(), operation.action) {
            (Some(message), _) => {
                assert_eq!((message.message.user, message.epoch), (6, 2));
                assert!(message.kind != MessageKind::Populated);
                numbers.push(message.message.number);
            }
            (None, MailAction::Respond(_, number)) => numbers.push(number.number),
            _ => {}
        }
    }
    assert_eq!(numbers, (0..user.n_messages()).collect::<Vec<_>>());
}

/// 100,000 users are to take little memory.
#[test]
fn a_user_is_small() {
    assert!(size_of::<MailUser>() <= 200, "{}", size_of::<MailUser>());
    assert!(size_of::<MailOperation>() <= 40, "{}", size_of::<MailOperation>());
    assert_eq!(PAGE_ENTRIES, 20);
}
