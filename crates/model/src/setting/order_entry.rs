//! The settings of order-entry workloads.

use languages::NamedValues;
use orders::{DataScale, WAREHOUSES_MAX};

use super::configuration::{TIME_LIMIT, TLS, database_encryption, encryption_text};
use super::{Configuration, DefinitionKey, Setting, SettingAccess, SettingChoice, SettingKind, SettingValue};
use crate::{
    DataReset, DatabaseMode, OrderDelivery, OrderEntryWorkload, OrderMix, OrderPacing, OrderSql, PauseStart,
    Workload,
};

const WAREHOUSES: &str = "warehouses";
const DIVISOR: &str = "divisor";
const PACING: &str = "pacing";
const THINK_TIME: &str = "think-time";
const THINK_FROM: &str = "think-from";
const MIX: &str = "mix";
const DELIVERY: &str = "delivery";
pub(crate) const DATABASE: &str = "database";
pub(crate) const RESET: &str = "reset";
pub(crate) const SQL: &str = "sql";

pub(crate) const SETTINGS: &[Setting] = &[
    Setting {
        name: WAREHOUSES,
        title: "warehouses",
        about: "number of warehouses, to which users are assigned in turn",
        kind: SettingKind::Count { least: 1, most: WAREHOUSES_MAX },
        key: DefinitionKey::Optional("800"),
        access: SettingAccess::Whole {
            text: |configuration| Some(orders(configuration)?.scale.warehouses().to_string()),
            apply: |configuration, value| apply_to(configuration, WAREHOUSES, value),
        },
    },
    Setting {
        name: DIVISOR,
        title: "divisor of cardinalities",
        about: "divisor of the customers, orders and items of a warehouse, and of the ranges from which they are drawn",
        kind: SettingKind::Choice(&[
            SettingChoice::new(
                "1",
                "The cardinalities of the specification: 69 MB of rows for each warehouse",
            ),
            SettingChoice::new("2", "A half"),
            SettingChoice::new("4", "A quarter"),
            SettingChoice::new("5", "A fifth"),
            SettingChoice::new("10", "A tenth"),
            SettingChoice::new("20", "A twentieth"),
            SettingChoice::new("25", "A twenty-fifth"),
            SettingChoice::new("50", "A fiftieth"),
            SettingChoice::new("100", "A hundredth: 30 customers of each district, 1,000 items"),
        ]),
        key: DefinitionKey::Optional("100"),
        access: SettingAccess::Whole {
            text: |configuration| Some(orders(configuration)?.scale.divisor().to_string()),
            apply: |configuration, value| apply_to(configuration, DIVISOR, value),
        },
    },
    Setting {
        name: PACING,
        title: "pacing",
        about: "pauses of users",
        kind: SettingKind::Choice(&[
            SettingChoice::new("spec", "Keying and think times by type, for 10 users at each warehouse"),
            SettingChoice::new("bf", "No keying times, exponential think times of `think-time`"),
            SettingChoice::new("flat", "No pauses"),
        ]),
        key: DefinitionKey::Optional("bf"),
        access: SettingAccess::Whole {
            text: |configuration| Some(orders(configuration)?.pacing.name().to_owned()),
            apply: |configuration, value| apply_to(configuration, PACING, value),
        },
    },
    Setting {
        name: THINK_TIME,
        title: "mean think time",
        about: "mean think time of `pacing=bf`",
        kind: SettingKind::Time,
        key: DefinitionKey::Optional("270 ms"),
        access: SettingAccess::Whole {
            text: |configuration| Some(languages::time_text(orders(configuration)?.think_mean)),
            apply: |configuration, value| apply_to(configuration, THINK_TIME, value),
        },
    },
    Setting {
        name: THINK_FROM,
        title: "begin of think times",
        about: "moment from which think times of `pacing=bf` count",
        kind: SettingKind::Choice(&[
            SettingChoice::new("done", "The end of the previous transaction"),
            SettingChoice::new(
                "due",
                "The due time of the previous transaction, which makes them interarrival times",
            ),
        ]),
        key: DefinitionKey::Optional("done"),
        access: SettingAccess::Whole {
            text: |configuration| Some(orders(configuration)?.think_from.name().to_owned()),
            apply: |configuration, value| apply_to(configuration, THINK_FROM, value),
        },
    },
    Setting {
        name: MIX,
        title: "choice of transactions",
        about: "way in which users choose their next transaction",
        kind: SettingKind::Choice(&[
            SettingChoice::new("standard", "That of the pacing: a deck with `spec`, weights with the others"),
            SettingChoice::new(
                "weights",
                "At random: 45 % new-order, 43 % payment, 4 % each order-status, delivery and stock-level",
            ),
            SettingChoice::new("deck", "From a deck of 23 cards for each user: 10, 10, 1, 1, 1"),
        ]),
        key: DefinitionKey::Optional("standard"),
        access: SettingAccess::Whole {
            text: |configuration| Some(orders(configuration)?.mix.name().to_owned()),
            apply: |configuration, value| apply_to(configuration, MIX, value),
        },
    },
    Setting {
        name: DELIVERY,
        title: "time of deliveries",
        about: "time at which deliveries are made",
        kind: SettingKind::Choice(&[
            SettingChoice::new(
                "standard",
                "That of the pacing: deferred with `spec`, at once with the others",
            ),
            SettingChoice::new("direct", "At once: the terminal waits for them"),
            SettingChoice::new("deferred", "In the background: the terminal waits until they are queued"),
        ]),
        key: DefinitionKey::Optional("standard"),
        access: SettingAccess::Whole {
            text: |configuration| Some(orders(configuration)?.delivery.name().to_owned()),
            apply: |configuration, value| apply_to(configuration, DELIVERY, value),
        },
    },
    Setting {
        name: DATABASE,
        title: "database mode",
        about: "process in which the database runs",
        kind: SettingKind::Choice(&[
            SettingChoice::new("server", "A process of its own, behind a socket"),
            SettingChoice::new("embedded", "The load generator's, with SQLite: calls instead of requests"),
        ]),
        // A definition does not say which server is loaded.
        key: DefinitionKey::None,
        access: SettingAccess::Whole {
            text: |configuration| Some(orders(configuration)?.database.name().to_owned()),
            apply: |configuration, value| apply_to(configuration, DATABASE, value),
        },
    },
    Setting {
        name: RESET,
        title: "reset of the data",
        about: "state of the data before a load point",
        kind: SettingKind::Choice(&[
            SettingChoice::new("restore", "The initial state: restored from a copy, or loaded anew"),
            SettingChoice::new("none", "As they were left, in a database that is already running"),
        ]),
        // A definition does not say which server is loaded.
        key: DefinitionKey::None,
        access: SettingAccess::Whole {
            text: |configuration| Some(orders(configuration)?.reset.name().to_owned()),
            apply: |configuration, value| apply_to(configuration, RESET, value),
        },
    },
    Setting {
        name: SQL,
        title: "form of SQL",
        about: "form in which transactions reach the database; it follows from the server if that has only one",
        kind: SettingKind::Choice(&[
            SettingChoice::new("request", "One request of our own protocol for each transaction"),
            SettingChoice::new("client", "Statements one after another, each of one table"),
            SettingChoice::new("batched", "Statements of several rows each"),
            SettingChoice::new("stored", "One call of a stored procedure for each transaction"),
        ]),
        key: DefinitionKey::Optional("request"),
        access: SettingAccess::Whole {
            text: |configuration| Some(orders(configuration)?.sql.name().to_owned()),
            apply: |configuration, value| apply_to(configuration, SQL, value),
        },
    },
    database_encryption(
        "encryption of the connections to a database",
        SettingAccess::Whole {
            text: |configuration| Some(encryption_text(orders(configuration)?.is_encrypted)),
            apply: |configuration, value| apply_to(configuration, TLS, value),
        },
    ),
    TIME_LIMIT,
];

/// Gives a workload the value of a setting by its name.
pub(crate) fn apply(workload: &mut OrderEntryWorkload, name: &str, value: &SettingValue) {
    let scale = workload.scale;
    match (name, value) {
        (WAREHOUSES, SettingValue::Count(warehouses)) => {
            workload.scale = DataScale::new(*warehouses, scale.divisor()).unwrap_or(scale);
        }
        (DIVISOR, SettingValue::Choice(divisor, _)) => {
            let divided =
                divisor.parse().ok().and_then(|divisor| DataScale::new(scale.warehouses(), divisor).ok());
            workload.scale = divided.unwrap_or(scale);
        }
        (PACING, SettingValue::Choice(name, _)) => {
            workload.pacing = OrderPacing::named(name).unwrap_or(workload.pacing);
        }
        (THINK_TIME, SettingValue::Time(time)) => workload.think_mean = *time,
        (THINK_FROM, SettingValue::Choice(name, _)) => {
            workload.think_from = PauseStart::named(name).unwrap_or(workload.think_from);
        }
        (MIX, SettingValue::Choice(name, _)) => {
            workload.mix = OrderMix::named(name).unwrap_or(workload.mix);
        }
        (DELIVERY, SettingValue::Choice(name, _)) => {
            workload.delivery = OrderDelivery::named(name).unwrap_or(workload.delivery);
        }
        (DATABASE, SettingValue::Choice(name, _)) => {
            workload.database = DatabaseMode::named(name).unwrap_or(workload.database);
        }
        (RESET, SettingValue::Choice(name, _)) => {
            workload.reset = DataReset::named(name).unwrap_or(workload.reset);
        }
        (SQL, SettingValue::Choice(name, _)) => {
            workload.sql = OrderSql::named(name).unwrap_or(workload.sql);
        }
        (TLS, SettingValue::Choice(name, _)) => workload.is_encrypted = *name == "on",
        _ => {}
    }
}

fn apply_to(configuration: &mut Configuration, name: &str, value: &SettingValue) {
    if let Workload::OrderEntry(orders) = &mut configuration.workload {
        apply(orders, name, value);
    }
}

fn orders(configuration: &Configuration) -> Option<&OrderEntryWorkload> {
    if let Workload::OrderEntry(orders) = &configuration.workload { Some(orders) } else { None }
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::*;
    use crate::Family;

    #[test]
    fn choices_are_the_names_of_the_model() {
        let choices = |name: &str| -> Vec<&'static str> {
            let setting = SETTINGS.iter().find(|setting| setting.name == name).unwrap();
            let SettingKind::Choice(choices) = setting.kind else { panic!("{name}") };
            choices.iter().map(|choice| choice.name).collect()
        };
        assert_eq!(choices(PACING), OrderPacing::ALL.map(OrderPacing::name));
        assert_eq!(choices(THINK_FROM), PauseStart::ALL.map(PauseStart::name));
        assert_eq!(choices(MIX), OrderMix::ALL.map(OrderMix::name));
        assert_eq!(choices(DELIVERY), OrderDelivery::ALL.map(OrderDelivery::name));
        assert_eq!(choices(DATABASE), DatabaseMode::ALL.map(DatabaseMode::name));
        assert_eq!(choices(RESET), DataReset::ALL.map(DataReset::name));
        assert_eq!(choices(SQL), OrderSql::ALL.map(OrderSql::name));
        assert_eq!(choices(DIVISOR), orders::DIVISORS.map(|divisor| divisor.to_string()));
    }

    #[test]
    fn every_setting_has_an_effect() {
        let applied = |name: &str, value: &str| {
            let mut workload = OrderEntryWorkload::default();
            apply(&mut workload, name, Family::OrderEntry.choose_setting(name, value).unwrap().value());
            workload
        };
        assert_eq!(applied("warehouses", "10").scale, DataScale::new(10, 100).unwrap());
        assert_eq!(applied("divisor", "1").scale, DataScale::new(800, 1).unwrap());
        assert_eq!(applied("pacing", "spec").pacing, OrderPacing::Specified);
        assert_eq!(applied("think-time", "1 s").think_mean, Nanos::from_secs(1));
        assert_eq!(applied("think-from", "due").think_from, PauseStart::Due);
        assert_eq!(applied("mix", "deck").mix, OrderMix::Deck);
        assert_eq!(applied("delivery", "deferred").delivery, OrderDelivery::Deferred);
        assert_eq!(applied("database", "embedded").database, DatabaseMode::Embedded);
        assert_eq!(applied("reset", "none").reset, DataReset::Never);
        assert_eq!(applied("sql", "stored").sql, OrderSql::Stored);
        assert!(applied("tls", "on").is_encrypted && !applied("tls", "off").is_encrypted);
        let error = Family::OrderEntry.choose_setting("warehouses", "0").unwrap_err();
        assert_eq!(error.hint(), "write a whole number from 1 to 100000");
    }

    /// The values of a definition that leaves all settings out are those of the workload that it begins with.
    #[test]
    fn defaults_are_those_of_the_workload() {
        let mut workload = OrderEntryWorkload::default();
        for setting in SETTINGS {
            if let DefinitionKey::Optional(value) = setting.key {
                apply(&mut workload, setting.name, &setting.kind.parse(value).unwrap());
            }
        }
        assert_eq!(workload, OrderEntryWorkload::default());
    }
}
