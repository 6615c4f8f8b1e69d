//! The golden checks of the specification that need no server, by their numbers.

use mail::{CountedItem, LoopEndWait, LoopModel, MailScript, R6_MAIL_MIX};

fn assert_near(found: f64, expected: f64, within: f64) {
    assert!((found - expected).abs() <= within, "{found} instead of {expected}");
}

/// Golden checks 5 and 6, and all four published rows of the two systems: users, printed rate per minute, and response
/// time in s. The first value is what the specification computes, the second what was printed.
#[test]
fn published_rates_follow_from_the_model() {
    let mail = LoopModel::PUBLISHED_MAIL;
    let mail_db = LoopModel::PUBLISHED_MAIL_DB;
    for (model, users, response, computed, printed) in [
        (mail, 2200.0, 0.360, 2916.5, 2917.0),
        (mail, 1795.0, 0.704, 2355.6, 2356.0),
        (mail_db, 1700.0, 1.427, 3913.8, 3914.0),
        (mail_db, 1400.0, 1.670, 3202.9, 3203.0),
    ] {
        let rate = model.weighted_per_minute(users, response);
        assert_near(rate, computed, 0.05);
        assert_near(rate, printed, 1.0);
    }
}

/// Golden check 7. 1,000 · 20.1 ÷ 15.
#[test]
fn a_server_that_takes_no_time_is_limited_by_the_waits() {
    assert_near(LoopModel::PUBLISHED_MAIL.weighted_per_minute(1000.0, 0.0), 1340.0, 1e-9);
    assert_near(LoopModel::of(MailScript::Mail, 1).weighted_per_minute(1000.0, 0.0), 1333.333, 0.001);
    assert_near(LoopModel::of(MailScript::Mail, 16).weighted_per_minute(1000.0, 0.0), 21_333.333, 0.001);
}

/// Golden check 8, item by item as in section 1.8.
#[test]
fn a_mail_loop_weighs_20_and_one_with_the_shared_mailbox_36() {
    let expected = [
        (CountedItem::OpenMailbox, 3.0),
        (CountedItem::OpenView, 1.0),
        (CountedItem::ReadPage, 1.0),
        (CountedItem::Scroll, 1.0),
        (CountedItem::ReadDocument, 5.0),
        (CountedItem::UpdateDocument, 2.0),
        (CountedItem::AddDocument, 2.0),
        (CountedItem::DeleteDocument, 2.0),
        (CountedItem::CloseMailbox, 1.0),
        (CountedItem::SendMemo, 1.0),
        (CountedItem::OpenShared, 3.0),
        (CountedItem::OpenSharedView, 1.0),
        (CountedItem::ReadSharedPage, 3.0),
        (CountedItem::MarkUnread, 1.0),
        (CountedItem::ReadUnread, 3.0),
        (CountedItem::AddShared, 2.0),
        (CountedItem::DeleteShared, 2.0),
        (CountedItem::CloseShared, 1.0),
    ];
    for (item, weight) in expected {
        assert_near(MailScript::MailDb.per_loop(item) * f64::from(item.weight()), weight, 1e-9);
    }
    // Appointment, invitation and response weigh 6 together, in a loop of six.
    let calendar = [CountedItem::MakeAppointment, CountedItem::Invite, CountedItem::Respond];
    let weight: f64 =
        calendar.iter().map(|item| MailScript::Mail.per_loop(*item) * f64::from(item.weight())).sum();
    assert_near(weight, 1.0, 1e-9);
    assert_near(MailScript::Mail.weight_per_loop(), 20.0, 1e-9);
    assert_near(MailScript::MailDb.weight_per_loop(), 36.0, 1e-9);
    assert_near(MailScript::SharedDb.weight_per_loop(), 16.0, 1e-9);
}

/// Golden check 9: 15 min of waiting and 1 min of work, every sixth loop.
#[test]
fn a_user_sends_every_96_minutes() {
    let minutes_between = |loop_minutes: f64| loop_minutes / MailScript::Mail.per_loop(CountedItem::SendMemo);
    assert_near(minutes_between(16.0), 96.0, 1e-9);
    assert_near(minutes_between(15.0), 90.0, 1e-9);
    let model = LoopModel::of(MailScript::Mail, 1);
    let response = 60.0 / model.operations;
    assert_near(minutes_between(model.loop_seconds(response) / 60.0), 96.0, 1e-9);
}

/// Golden checks 10 and 11. 7.5 + 2 · 6.5 + 3 · 20 + 360 = 440.5, and 300 + 300.
#[test]
fn the_waits_of_scripts_have_the_means_of_their_sources() {
    assert_near(MailScript::SharedDb.waiting().1, 440.5, 1e-9);
    assert_near(MailScript::SmtpPop.waiting().1, 600.0, 1e-9);
    for script in MailScript::ALL {
        if script.end_wait() == LoopEndWait::FillUpTo(900) {
            assert_near(script.waiting().1, 900.0, 1e-9);
        }
    }
}

/// Golden check 13; 12 is tested beside the profile.
#[test]
fn the_published_mix_of_r6_sums_to_99_9_percent() {
    assert_eq!(R6_MAIL_MIX.iter().map(|(_, tenths)| tenths).sum::<u32>(), 999);
}

#[test]
fn shares_sum_to_the_whole() {
    for script in MailScript::ALL {
        let sum: f64 = script.items().map(|item| script.share(item)).sum();
        assert_near(sum, 1.0, 1e-9);
        let names: Vec<&str> = script.items().map(CountedItem::name).collect();
        assert!(!names.is_empty(), "{script:?}");
    }
}

#[test]
fn names_of_our_figures_are_not_the_protected_ones() {
    let items = CountedItem::ALL.into_iter().map(CountedItem::name);
    for name in MailScript::ALL.into_iter().map(MailScript::name).chain(items) {
        let lower = name.to_ascii_lowercase();
        assert!(!lower.contains("notesmark") && !lower.contains("notesbench"), "{name}");
    }
}
