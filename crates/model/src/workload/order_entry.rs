//! Order-entry workloads: users at the terminals of a wholesale supplier enter orders and payments, ask for the status
//! of orders and the level of stock, and have orders delivered, all in one database.
//!
//! The transactions, their inputs and their data are in [`orders`]; here is what a run counts of them.

use languages::names;
use orders::{
    CustomerSelector, DISTRICTS, DataScale, OrderTable, Pacing, TransactionInput, TransactionKind,
    TransactionMix, TransactionType,
};
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos};

use super::app::OUTCOMES;
use super::family_workload::{FamilyWorkload, IN_FLIGHT_MAX, SESSIONS_MAX};
use crate::{
    Catalog, ExpectedMeasure, Family, HasKind, InputBand, InputCount, Limit, Measure, MeasureUnit, Noun,
    OperationKind, Outcome, PauseKind, PauseStart, RateTime, Score, SizingRule, ThinkTime, Words,
    parse_limits, with_serde,
};

/// The measures of a transaction besides its response time, by their indexes in the catalog. Transactions in SQL do
/// without the last two; those on an embedded database without round trips and bytes.
pub mod order_measure {
    use super::{CustomerSelector, TransactionInput};

    /// The requests that were sent for it and answered.
    pub const ROUND_TRIPS: usize = 0;
    /// The number of times that it was begun again with the same input.
    pub const RETRIES: usize = 1;
    /// The lines of an order that was placed.
    pub const LINES: usize = 2;
    /// Those that another warehouse supplies.
    pub const REMOTE_LINES: usize = 3;
    /// The bytes sent.
    pub const SENT_BYTES: usize = 4;
    /// The bytes received.
    pub const RECEIVED_BYTES: usize = 5;
    /// 1 of a payment whose customer belongs to another warehouse, else 0.
    pub const REMOTE_PAYMENTS: usize = 6;
    /// 1 of a payment whose customer is named by last name, else 0.
    pub const PAYMENTS_BY_LAST_NAME: usize = 7;
    /// The time that the request waited in the server's queue.
    pub const QUEUE: usize = 8;
    /// The time of its service.
    pub const SERVICE: usize = 9;

    /// Returns the slot of a measure in a reply: those that all transactions have come first, with the times of queue and
    /// service where the server states them, and then those of what was entered.
    pub const fn slot(measure: usize, has_server_times: bool) -> usize {
        let first_of_input = if has_server_times { 6 } else { 4 };
        match measure {
            SENT_BYTES => 2,
            RECEIVED_BYTES => 3,
            QUEUE => 4,
            SERVICE => 5,
            LINES | REMOTE_PAYMENTS => first_of_input,
            REMOTE_LINES | PAYMENTS_BY_LAST_NAME => first_of_input + 1,
            // Round trips and retries.
            first => first,
        }
    }

    /// Returns the measures of what was entered, with their values: of an order that is placed and of a payment; `None`
    /// of other transactions.
    pub fn of_input(input: &TransactionInput) -> Option<[(usize, u64); 2]> {
        match input {
            TransactionInput::NewOrder(order) if !order.is_rolled_back => {
                Some([(LINES, order.items.len() as u64), (REMOTE_LINES, order.n_remote_lines() as u64)])
            }
            TransactionInput::Payment(payment) => {
                let is_by_name = matches!(payment.customer, CustomerSelector::LastName(_));
                Some([
                    (REMOTE_PAYMENTS, payment.is_remote().into()),
                    (PAYMENTS_BY_LAST_NAME, is_by_name.into()),
                ])
            }
            _ => None,
        }
    }
}

/// The footer of every report. Source: the fair-use rules of the TPC.
const NOTICE: &str = "Derived from the TPC-C specification; not a TPC-C result and not comparable with published TPC-C results.";

/// The seed of the rows before the first transaction: a constant of the benchmark's version, so that runs with
/// different seeds have the same data.
const POPULATION_SEED: u64 = 1;

/// The deviation of a kind from its share, as a part of it, beyond which another mix was measured.
const SHARE_GAP_MAX: f64 = 0.05;

/// The same of new orders that are rolled back: 0.9 to 1.1 % of all. Source: the audit of TPC-C revision 5.11, clause
/// 9.
const ROLLED_BACK_GAP_MAX: f64 = 0.1;

/// The least new orders per minute of a warehouse whose terminals the server carries. Source: TPC-C revision 5.11, clause
/// 4.2.
const WAREHOUSE_FLOOR: f64 = 9.0;

names! {
    /// The pauses of users around a transaction.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum OrderPacing {
        /// Keying and think times by type, as in the specification.
        Specified = "spec",
        /// No keying times, and think times of one mean, as Benchmark Factory has them.
        Exponential = "bf",
        /// None.
        Flat = "flat",
    }
}

names! {
    /// The choice of a user's next transaction.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum OrderMix {
        /// That of the pacing: a deck of cards with `spec`, weights with the others.
        Standard = "standard",
        /// At random by weight.
        Weighted = "weights",
        /// From a deck of cards, without putting them back.
        Deck = "deck",
    }
}

names! {
    /// The time at which deliveries are made.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum OrderDelivery {
        /// That of the pacing: deferred with `spec`, at once with the others.
        #[default]
        Standard = "standard",
        /// At once: the terminal waits for them.
        Direct = "direct",
        /// In the background: the terminal waits until they are queued.
        Deferred = "deferred",
    }
}

names! {
    /// The form in which transactions reach the database: it moves work between the two sides.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum OrderSql {
        /// A request of our own protocol, performed by prepared statements within the server.
        Request = "request",
        /// Statements one after another, each of which reads or writes one table.
        Client = "client",
        /// Statements that read or write several rows, and return what they have changed.
        Batched = "batched",
        /// A call of a stored procedure.
        Stored = "stored",
    }
}

names! {
    /// The process in which a database runs.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum DatabaseMode {
        /// A process of its own, behind a socket.
        #[default]
        Server = "server",
        /// The load generator's, with SQLite: calls instead of requests.
        Embedded = "embedded",
    }
}

names! {
    /// The state of the data before a load point.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum DataReset {
        /// The initial state: restored from a copy, or loaded anew.
        #[default]
        Restored = "restore",
        /// That in which they were left.
        Never = "none",
    }
}

names! {
    /// A database that speaks SQL over a protocol of its own.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum DatabaseProduct {
        /// PostgreSQL.
        PostgreSql = "PostgreSQL",
        /// MariaDB.
        MariaDb = "MariaDB",
    }
}

impl DatabaseProduct {
    /// Returns the forms in which transactions can reach it, the standard one first.
    pub fn forms(self) -> &'static [OrderSql] {
        match self {
            DatabaseProduct::PostgreSql | DatabaseProduct::MariaDb => {
                &[OrderSql::Stored, OrderSql::Batched, OrderSql::Client]
            }
        }
    }
}

impl OrderSql {
    /// Returns whether replies state the times of queue and service: those of a database do not.
    pub fn has_server_times(self) -> bool {
        self == OrderSql::Request
    }

    /// Returns the form in reports.
    fn text(self) -> &'static str {
        match self {
            OrderSql::Request => "one request per transaction, prepared statements in the server",
            OrderSql::Client => "client statements one by one, prepared",
            OrderSql::Batched => "batched client statements, prepared",
            OrderSql::Stored => "one call of a stored procedure per transaction",
        }
    }
}

/// The transactions of a benchmark and the data that they need.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrderEntryWorkload {
    /// The size of the data.
    #[serde(with = "stored_scale")]
    pub scale: DataScale,
    /// The seed of the rows before the first transaction.
    pub population_seed: u64,
    /// The pauses of users.
    pub pacing: OrderPacing,
    /// The mean think time of [`OrderPacing::Exponential`].
    #[serde(rename = "think_mean_ns", with = "with_serde::nanos")]
    pub think_mean: Nanos,
    /// The moment from which that think time counts.
    pub think_from: PauseStart,
    /// The choice of transactions.
    pub mix: OrderMix,
    /// The time at which deliveries are made.
    #[serde(default)]
    pub delivery: OrderDelivery,
    /// The process in which the database runs.
    #[serde(default)]
    pub database: DatabaseMode,
    /// The state of its data before a load point.
    #[serde(default)]
    pub reset: DataReset,
    /// The form in which they reach the database, where it is a server.
    pub sql: OrderSql,
    /// Whether connections to the database are encrypted.
    #[serde(rename = "tls", default)]
    pub is_encrypted: bool,
    /// Whether remote payments and those by last name are measured: runs of earlier builds did not.
    #[serde(default)]
    pub measures_payments: bool,
}

impl Default for OrderEntryWorkload {
    /// The workload of the ProLiant report.
    fn default() -> OrderEntryWorkload {
        OrderEntryWorkload {
            scale: DataScale::new(800, 100).expect("a size that data can have"),
            population_seed: POPULATION_SEED,
            pacing: OrderPacing::Exponential,
            think_mean: Nanos::from_millis(270),
            think_from: PauseStart::Done,
            mix: OrderMix::Standard,
            delivery: OrderDelivery::Standard,
            database: DatabaseMode::Server,
            reset: DataReset::Restored,
            sql: OrderSql::Request,
            is_encrypted: false,
            measures_payments: true,
        }
    }
}

/// One transaction of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderRequest {
    /// Its input.
    pub input: TransactionInput,
}

impl HasKind for OrderRequest {
    fn kind(&self) -> u16 {
        self.input.kind() as u16
    }
}

impl OrderEntryWorkload {
    /// Returns the pacing with its times.
    pub fn pacing(&self) -> Pacing {
        match self.pacing {
            OrderPacing::Specified => Pacing::Specified,
            OrderPacing::Exponential => Pacing::Exponential { mean: self.think_mean },
            OrderPacing::Flat => Pacing::Flat,
        }
    }

    /// Returns the way in which transactions are chosen.
    pub fn transaction_mix(&self) -> TransactionMix {
        match (self.mix, self.pacing) {
            (OrderMix::Deck, _) | (OrderMix::Standard, OrderPacing::Specified) => TransactionMix::Deck,
            (OrderMix::Weighted | OrderMix::Standard, _) => TransactionMix::Weighted,
        }
    }

    /// Returns whether deliveries are queued by terminals, and made in the background.
    pub fn defers_deliveries(&self) -> bool {
        match self.delivery {
            OrderDelivery::Standard => self.pacing == OrderPacing::Specified,
            OrderDelivery::Direct => false,
            OrderDelivery::Deferred => true,
        }
    }

    /// Returns the index of the pause before a transaction of a type in the catalog; `None` without keying times.
    pub fn keying_pause(&self, kind: TransactionType) -> Option<u16> {
        (self.pacing == OrderPacing::Specified).then_some(kind as u16)
    }

    /// Returns the index of the pause after a transaction of a type in the catalog; `None` without think times.
    pub fn think_pause(&self, kind: TransactionType) -> Option<u16> {
        match self.pacing {
            OrderPacing::Specified => Some(TransactionType::ALL.len() as u16 + kind as u16),
            OrderPacing::Exponential => Some(0),
            OrderPacing::Flat => None,
        }
    }

    /// Returns the moment from which think times count.
    pub fn think_from(&self) -> PauseStart {
        match self.pacing {
            OrderPacing::Exponential => self.think_from,
            OrderPacing::Specified | OrderPacing::Flat => PauseStart::Done,
        }
    }

    /// Returns the pauses of a user from one transaction to the next, in one: with keying times, of their mean in sum.
    pub(crate) fn think(&self) -> ThinkTime {
        match self.pacing {
            OrderPacing::Flat => ThinkTime::None,
            OrderPacing::Exponential => ThinkTime::Exponential(self.think_mean),
            OrderPacing::Specified => {
                let cycle = self.pacing().mean_cycle(self.transaction_mix().shares());
                ThinkTime::Exponential(Nanos::from_secs_f64(cycle))
            }
        }
    }

    /// Describes the data.
    pub(crate) fn data_text(&self) -> String {
        let warehouses = self.scale.warehouses();
        let divisor = self.scale.divisor();
        let rows: u64 = OrderTable::ALL.into_iter().map(|table| self.scale.rows(table)).sum();
        let noun = if warehouses == 1 { "warehouse" } else { "warehouses" };
        let divided =
            if divisor == 1 { String::new() } else { format!(", cardinalities divided by {divisor}") };
        let raw = Bytes(self.scale.raw_bytes());
        format!("{warehouses} {noun}{divided}: about {rows} rows, {raw} without indexes")
    }

    /// Describes what figures of the workload must not be shown without.
    pub(crate) fn mode_text(&self) -> String {
        let mix = match self.transaction_mix() {
            TransactionMix::Deck => "a deck of 23 cards per user",
            TransactionMix::Weighted => "weights of 45/43/4/4/4",
        };
        let pacing = match (self.pacing, self.think_from()) {
            (OrderPacing::Exponential, PauseStart::Due) => "bf as interarrival times".to_owned(),
            (pacing, _) => pacing.to_string(),
        };
        let deliveries = if self.defers_deliveries() { "deferred" } else { "at once" };
        let tls = if self.is_encrypted { ", over TLS" } else { "" };
        let database = match self.database {
            DatabaseMode::Server => self.sql.text(),
            DatabaseMode::Embedded => {
                "SQLite in one process with the load generator, so that no network is in the response time; prepared statements"
            }
        };
        let data = match self.reset {
            DataReset::Restored => "",
            DataReset::Never => ", data as they were left",
        };
        format!("{database}{tls}; pacing {pacing}, {mix}, deliveries {deliveries}{data}")
    }

    /// Returns what a run of the workload counts and measures.
    pub fn catalog(&self) -> Catalog {
        let shares = TransactionKind::ALL.into_iter().zip(self.transaction_mix().kind_shares());
        let measures = self.measures();
        let times = measures.iter().enumerate().filter(|(_, one)| one.unit == MeasureUnit::Nanoseconds);
        Catalog {
            kinds: shares.map(|(kind, share)| self.operation_kind(kind, share)).collect(),
            units: Vec::new(),
            pauses: self.pauses(),
            response_parts: times.map(|(index, _)| index).collect(),
            measures,
            transferred: match self.database {
                DatabaseMode::Server => vec![order_measure::SENT_BYTES, order_measure::RECEIVED_BYTES],
                DatabaseMode::Embedded => Vec::new(),
            },
            notices: Vec::new(),
            bands: self.bands(),
            codes: Vec::new(),
            in_flight: None,
            sizing: self.sizing(),
            outcomes: OUTCOMES
                .into_iter()
                .chain([Outcome::NotCommitted])
                .chain(self.is_encrypted.then_some(Outcome::TlsFailed))
                .collect(),
            score: Score::Rate { kinds: NEW_ORDERS.map(|kind| kind as usize).into(), per: RateTime::Minute },
            words: Words {
                score: "new orders per minute".to_owned(),
                score_heading: "NOPM".to_owned(),
                ..Words::of_rate("transaction", "user")
            },
        }
    }

    /// Returns the new orders per minute of a warehouse with all of its terminals; `None` of other pauses than those of the
    /// specification.
    ///
    /// At most 60 · terminals · share ÷ cycle, with the share of new orders and the mean cycle (s) of a terminal whose
    /// transactions take no time. At least [`WAREHOUSE_FLOOR`].
    fn sizing(&self) -> Option<SizingRule> {
        let shares = self.transaction_mix().shares();
        let cycle = self.pacing().mean_cycle(shares);
        (self.pacing == OrderPacing::Specified).then(|| SizingRule {
            part: Noun::regular("warehouse"),
            n_parts: self.scale.warehouses(),
            users: DISTRICTS,
            floor: WAREHOUSE_FLOOR,
            ceiling: RateTime::Minute.seconds() * f64::from(DISTRICTS) * shares[0] / cycle,
        })
    }

    /// Returns the ranges of the figures of inputs, those of the specification's audit, and the minimum shares of the
    /// mix where the declared ones are above them.
    fn bands(&self) -> Vec<InputBand> {
        let mut bands = vec![
            InputBand {
                name: "new orders rolled back".to_owned(),
                part: InputCount::Kinds(vec![TransactionKind::NewOrderRolledBack as usize]),
                whole: InputCount::Kinds(NEW_ORDERS.map(|kind| kind as usize).into()),
                ..percent_band(1.0, 0.1)
            },
            InputBand {
                name: "lines per order".to_owned(),
                part: InputCount::Measure(order_measure::LINES),
                whole: InputCount::Kinds(vec![TransactionKind::NewOrder as usize]),
                least: 9.5,
                most: 10.5,
                // Uniform from 5 to 15: (11² − 1) ÷ 12 = 10.
                deviation: 10.0_f64.sqrt(),
                decides: false,
            },
        ];
        let payments = |name: &str, measure, band| InputBand {
            name: name.to_owned(),
            part: InputCount::Measure(measure),
            whole: InputCount::Kinds(vec![TransactionKind::Payment as usize]),
            ..band
        };
        let has_others = 1 < self.scale.warehouses();
        if has_others {
            bands.push(InputBand {
                name: "lines of other warehouses".to_owned(),
                part: InputCount::Measure(order_measure::REMOTE_LINES),
                whole: InputCount::Measure(order_measure::LINES),
                ..percent_band(1.0, 0.05)
            });
        }
        if has_others && self.measures_payments {
            let band = percent_band(15.0, 1.0);
            bands.push(payments("payments of other warehouses", order_measure::REMOTE_PAYMENTS, band));
        }
        if self.measures_payments {
            let band = percent_band(60.0, 3.0);
            bands.push(payments("payments by last name", order_measure::PAYMENTS_BY_LAST_NAME, band));
        }
        let shares = TransactionKind::ALL.into_iter().zip(self.transaction_mix().kind_shares());
        bands.extend(shares.filter_map(|(kind, share)| minimum_share(kind, share)));
        bands
    }

    /// Returns the measures in the order of [`order_measure`]. Nothing goes over a network to an embedded database.
    fn measures(&self) -> Vec<Measure> {
        let always = Measure::always;
        let of_server =
            |name, unit| Measure { is_always: self.database == DatabaseMode::Server, ..always(name, unit) };
        let time = |name| Measure { has_spread: true, ..always(name, MeasureUnit::Nanoseconds) };
        let of_input =
            |name, part_of| Measure { is_always: false, part_of, ..always(name, MeasureUnit::Count) };
        let mut measures = vec![
            of_server("round trips", MeasureUnit::Count),
            always("retries", MeasureUnit::Count),
            of_input("order lines", None),
            of_input("remote lines", Some(order_measure::LINES)),
            of_server("sent bytes", MeasureUnit::Bytes),
            of_server("received bytes", MeasureUnit::Bytes),
        ];
        if self.measures_payments {
            measures.extend([of_input("remote payments", None), of_input("payments by last name", None)]);
        }
        if self.sql.has_server_times() {
            measures.extend([time("queue"), time("service")]);
        }
        measures
    }

    fn operation_kind(&self, kind: TransactionKind, share: f64) -> OperationKind {
        let is_rolled_back = kind == TransactionKind::NewOrderRolledBack;
        OperationKind {
            name: kind.name().to_owned(),
            share: Some(share),
            share_gap_max: Some(if is_rolled_back { ROLLED_BACK_GAP_MAX } else { SHARE_GAP_MAX }),
            limits: limits(kind),
            measures: self.kind_measures(kind),
            expected: expected(kind),
        }
    }

    /// Returns the measures of the transactions of a kind, in the order of [`order_measure::slot`].
    fn kind_measures(&self, kind: TransactionKind) -> Vec<usize> {
        use order_measure::{
            LINES, PAYMENTS_BY_LAST_NAME, QUEUE, RECEIVED_BYTES, REMOTE_LINES, REMOTE_PAYMENTS, RETRIES,
            ROUND_TRIPS, SENT_BYTES, SERVICE,
        };
        if !self.measures_payments {
            // A reply has slots for all that such plans measure.
            return Vec::new();
        }
        let times: &[usize] = if self.sql.has_server_times() { &[QUEUE, SERVICE] } else { &[] };
        let of_input: &[usize] = match kind {
            TransactionKind::NewOrder => &[LINES, REMOTE_LINES],
            TransactionKind::Payment => &[REMOTE_PAYMENTS, PAYMENTS_BY_LAST_NAME],
            _ => &[],
        };
        [&[ROUND_TRIPS, RETRIES, SENT_BYTES, RECEIVED_BYTES], times, of_input].concat()
    }

    fn pauses(&self) -> Vec<PauseKind> {
        let pacing = self.pacing();
        match self.pacing {
            OrderPacing::Flat => Vec::new(),
            OrderPacing::Exponential => vec![PauseKind {
                name: "think time".to_owned(),
                time: ThinkTime::Exponential(self.think_mean),
                from: self.think_from(),
            }],
            OrderPacing::Specified => {
                let keying = |kind: TransactionType| {
                    (format!("keying time of {}", kind.name()), ThinkTime::Fixed(pacing.keying(kind)))
                };
                let think = |kind: TransactionType| {
                    let time = ThinkTime::Exponential(pacing.think_mean(kind));
                    (format!("think time after {}", kind.name()), time)
                };
                let all = TransactionType::ALL.map(keying).into_iter().chain(TransactionType::ALL.map(think));
                all.map(|(name, time)| PauseKind { name, time, from: PauseStart::Done }).collect()
            }
        }
    }
}

/// The kinds that the score counts: a new order that is rolled back is completed, too.
const NEW_ORDERS: [TransactionKind; 2] = [TransactionKind::NewOrder, TransactionKind::NewOrderRolledBack];

/// Makes the band of a percentage, as far on both sides of it, that leads to a remark; its name and counts are to be
/// filled in.
fn percent_band(percent: f64, half: f64) -> InputBand {
    let share = percent / 100.0;
    InputBand {
        name: String::new(),
        part: InputCount::Kinds(Vec::new()),
        whole: InputCount::Kinds(Vec::new()),
        least: (percent - half) / 100.0,
        most: (percent + half) / 100.0,
        deviation: (share * (1.0 - share)).sqrt(),
        decides: false,
    }
}

/// Returns the band of the share of a kind from its minimum to as far above what is declared; `None` of a kind without
/// one, and where the minimum is declared, so that chance goes below it half of the time.
///
/// Source: TPC-C revision 5.11, clause 5.2.3.
fn minimum_share(kind: TransactionKind, share: f64) -> Option<InputBand> {
    let least = match kind {
        TransactionKind::NewOrder | TransactionKind::NewOrderRolledBack => return None,
        TransactionKind::Payment => 43.0,
        TransactionKind::OrderStatus | TransactionKind::Delivery | TransactionKind::StockLevel => 4.0,
    };
    let percent = 100.0 * share;
    (least + 1e-6 < percent).then(|| InputBand {
        name: format!("share of {}", kind.name()),
        part: InputCount::Kinds(vec![kind as usize]),
        whole: InputCount::Kinds((0..TransactionKind::ALL.len()).collect()),
        decides: true,
        ..percent_band(percent, percent - least)
    })
}

/// Returns the limit of the 90th percentile of response times. Source: TPC-C revision 5.11, clause 5.2.5.7.
fn limits(kind: TransactionKind) -> Vec<Limit> {
    let limit = match kind {
        TransactionKind::StockLevel => "p90<=20s",
        // One percent of the new orders: too few to judge by themselves.
        TransactionKind::NewOrderRolledBack => return Vec::new(),
        _ => "p90<=5s",
    };
    parse_limits(limit).expect("a limit that makes sense")
}

/// Returns what is known beforehand of each operation: 5 to 15 lines of an order that is placed.
fn expected(kind: TransactionKind) -> Vec<ExpectedMeasure> {
    if kind != TransactionKind::NewOrder {
        return Vec::new();
    }
    let least = u64::from(orders::LINES_MIN);
    let most = u64::from(orders::LINES_MAX);
    let mean = (least + most) as f64 / 2.0;
    vec![ExpectedMeasure { measure: order_measure::LINES, least, most, mean }]
}

/// The stored form of a size, which is one that data can have.
mod stored_scale {
    use orders::DataScale;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Stored {
        warehouses: u32,
        divisor: u32,
    }

    /// Writes the size.
    pub(super) fn serialize<S: Serializer>(scale: &DataScale, serializer: S) -> Result<S::Ok, S::Error> {
        Stored { warehouses: scale.warehouses(), divisor: scale.divisor() }.serialize(serializer)
    }

    /// Reads the size.
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<DataScale, D::Error> {
        let Stored { warehouses, divisor } = Stored::deserialize(deserializer)?;
        DataScale::new(warehouses, divisor).map_err(D::Error::custom)
    }
}

impl FamilyWorkload for OrderEntryWorkload {
    fn family(&self) -> Family {
        Family::OrderEntry
    }

    fn in_flight_max(&self) -> u32 {
        if self.sql == OrderSql::Request { IN_FLIGHT_MAX } else { SESSIONS_MAX }
    }

    fn catalog(&self) -> Catalog {
        OrderEntryWorkload::catalog(self)
    }

    fn think(&self) -> ThinkTime {
        OrderEntryWorkload::think(self)
    }

    fn has_user_state(&self) -> bool {
        // A user has a home, and perhaps a deck of cards.
        true
    }

    fn is_encrypted(&self) -> bool {
        self.is_encrypted
    }

    fn has_one_writer(&self, sut: &str) -> bool {
        self.database == DatabaseMode::Embedded || sut == "built-in"
    }

    fn grows_with_load(&self) -> bool {
        false
    }

    fn data_text(&self) -> Option<String> {
        Some(OrderEntryWorkload::data_text(self))
    }

    fn mode_text(&self) -> Option<String> {
        Some(OrderEntryWorkload::mode_text(self))
    }

    fn notice(&self) -> Option<&'static str> {
        Some(NOTICE)
    }
}

#[cfg(test)]
mod tests {
    use orders::{Cents, DistrictKey, NewOrderInput, OrderedItem, OrderedItems, PaymentInput};

    use super::*;
    use crate::{CatalogFault, Headline};

    #[test]
    fn catalogs_are_valid_and_have_the_pauses_of_the_pacing() {
        for (pacing, n_pauses) in
            [(OrderPacing::Specified, 10), (OrderPacing::Exponential, 1), (OrderPacing::Flat, 0)]
        {
            let workload = OrderEntryWorkload { pacing, ..OrderEntryWorkload::default() };
            let catalog = workload.catalog();
            assert_eq!(catalog.check(), Ok(()), "{pacing}");
            assert_eq!(catalog.pauses.len(), n_pauses, "{pacing}");
        }
    }

    /// By hand: half of the band of lines is 0.5 and their deviation √10: (3 · √10 ÷ 0.5)² = 360. Of rolled-back orders
    /// it is 0.001, with a variance of 0.0099: 9 · 0.0099 ÷ 10⁻⁶ = 89,100; of remote lines 0.0005: 356,400. Of remote
    /// payments 9 · 0.15 · 0.85 ÷ 0.01² = 11,475; of those by last name 9 · 0.6 · 0.4 ÷ 0.03² = 2,400. The deck has 10
    /// payments of 23 cards: 9 · 0.245747 ÷ 0.00478261² = 96,695.
    #[test]
    fn bands_are_judged_from_samples_in_which_chance_stays_within() {
        let samples = |mix, warehouses| {
            let scale = DataScale::new(warehouses, 100).unwrap();
            let catalog = OrderEntryWorkload { mix, scale, ..OrderEntryWorkload::default() }.catalog();
            assert_eq!(catalog.check(), Ok(()));
            catalog.bands.iter().map(|band| (band.name.clone(), band.sample_min())).collect::<Vec<_>>()
        };
        let weighted = samples(OrderMix::Weighted, 10);
        let expected = [
            ("new orders rolled back", 89_100),
            ("lines per order", 360),
            ("lines of other warehouses", 356_400),
            ("payments of other warehouses", 11_475),
            ("payments by last name", 2_400),
        ];
        assert_eq!(weighted, expected.map(|(name, n)| (name.to_owned(), n)));
        // Of one warehouse nothing is remote.
        let alone = samples(OrderMix::Weighted, 1);
        assert_eq!(alone, [0, 1, 4].map(|index| weighted[index].clone()));
        let deck = samples(OrderMix::Deck, 10);
        assert_eq!((deck.len(), deck[5].0.as_str()), (9, "share of payment"));
        assert!((96_690..=96_700).contains(&deck[5].1), "{deck:?}");
    }

    #[test]
    fn pauses_of_types_are_those_of_the_catalog() {
        let spec = OrderEntryWorkload { pacing: OrderPacing::Specified, ..OrderEntryWorkload::default() };
        let named = |index: Option<u16>| spec.catalog().pauses[usize::from(index.unwrap())].clone();
        let keying = named(spec.keying_pause(TransactionType::NewOrder));
        assert_eq!(
            (keying.name.as_str(), keying.time),
            ("keying time of new-order", ThinkTime::Fixed(Nanos::from_secs(18)))
        );
        let think = named(spec.think_pause(TransactionType::OrderStatus));
        let expected = ThinkTime::Exponential(Nanos::from_secs(10));
        assert_eq!((think.name.as_str(), think.time), ("think time after order-status", expected));
        let bf = OrderEntryWorkload::default();
        assert_eq!(
            (bf.keying_pause(TransactionType::Payment), bf.think_pause(TransactionType::Payment)),
            (None, Some(0))
        );
    }

    /// Golden check 9.5: new orders per minute of the ten terminals of a warehouse.
    #[test]
    fn the_terminals_of_a_warehouse_have_a_ceiling() {
        let sizing = |pacing, mix| {
            let catalog = OrderEntryWorkload { pacing, mix, ..OrderEntryWorkload::default() }.catalog();
            assert_eq!(catalog.check(), Ok(()));
            catalog.sizing
        };
        for (mix, ceiling) in [(OrderMix::Standard, 12.60504), (OrderMix::Weighted, 12.86327)] {
            let rule = sizing(OrderPacing::Specified, mix).unwrap();
            assert_eq!((rule.part.one.as_str(), rule.n_parts, rule.users), ("warehouse", 800, 10));
            assert!((rule.ceiling - ceiling).abs() < 5e-6 && rule.floor == 9.0, "{rule:?}");
        }
        assert_eq!(sizing(OrderPacing::Exponential, OrderMix::Standard), None);
        assert_eq!(sizing(OrderPacing::Flat, OrderMix::Standard), None);
    }

    /// A sizing rule is about the family's score, and its numbers come from a file.
    #[test]
    fn scaling_rules_are_checked() {
        let spec = OrderEntryWorkload { pacing: OrderPacing::Specified, ..OrderEntryWorkload::default() };
        let catalog = spec.catalog();
        assert_eq!(Headline::NewOrderRate.applied(catalog.clone()).sizing, catalog.sizing);
        assert_eq!(Headline::TransactionRate.applied(catalog.clone()).sizing, None);
        // Words of new orders are not those of all transactions.
        for (headline, expected) in [
            (Headline::OperationRate, "transactions per second"),
            (Headline::HarmonicRate, "weighted transactions per second"),
            (Headline::NewOrderRate, "new orders per minute"),
        ] {
            assert_eq!(headline.applied(catalog.clone()).words.score, expected);
        }
        let rule = catalog.sizing.clone().unwrap();
        let noun = Noun { one: "a\u{1b}[1m".to_owned(), many: "warehouses".to_owned() };
        for broken in [
            SizingRule { part: noun, ..rule.clone() },
            SizingRule { n_parts: 0, ..rule.clone() },
            SizingRule { users: 0, ..rule.clone() },
            SizingRule { floor: rule.ceiling, ..rule.clone() },
            SizingRule { ceiling: f64::INFINITY, ..rule.clone() },
        ] {
            let broken = Catalog { sizing: Some(broken), ..catalog.clone() };
            assert_eq!(broken.check(), Err(CatalogFault::Sizing), "{:?}", broken.sizing);
        }
        let score = Score::Throughput { measures: vec![order_measure::SENT_BYTES] };
        assert_eq!(Catalog { score, ..catalog }.check(), Err(CatalogFault::Sizing));
    }

    /// Golden check 9.5: 20.69565 s from the deck, 20.99 s by weight.
    #[test]
    fn the_standard_mix_follows_the_pacing() {
        let mean = |pacing, mix| {
            let workload = OrderEntryWorkload { pacing, mix, ..OrderEntryWorkload::default() };
            workload.think().mean().as_secs_f64()
        };
        assert!((mean(OrderPacing::Specified, OrderMix::Standard) - 20.69565).abs() < 5e-6);
        assert!((mean(OrderPacing::Specified, OrderMix::Weighted) - 20.99).abs() < 5e-6);
        assert_eq!(mean(OrderPacing::Exponential, OrderMix::Standard), 0.27);
        assert_eq!(mean(OrderPacing::Flat, OrderMix::Standard), 0.0);
        assert_eq!(OrderEntryWorkload::default().transaction_mix(), TransactionMix::Weighted);
    }

    #[test]
    fn a_database_says_nothing_of_its_queue() {
        for sql in OrderSql::ALL {
            let n_measures = if sql == OrderSql::Request { 10 } else { 8 };
            let workload = OrderEntryWorkload { sql, ..OrderEntryWorkload::default() };
            let catalog = workload.catalog();
            assert_eq!(catalog.check(), Ok(()), "{sql}");
            assert_eq!(catalog.measures.len(), n_measures, "{sql}");
            assert_eq!(catalog.response_parts.is_empty(), sql != OrderSql::Request);
            for kind in &catalog.kinds {
                let slot = |measure: &usize| order_measure::slot(*measure, sql.has_server_times());
                assert!(kind.measures.iter().map(slot).eq(0..kind.measures.len()), "{sql}: {kind:?}");
            }
            assert!(workload.mode_text().starts_with(sql.text()));
        }
    }

    /// An embedded database has the measures of the built-in server but for those of a network, and its plan says in which
    /// process it was.
    #[test]
    fn an_embedded_database_is_told_from_a_server() {
        let embedded =
            OrderEntryWorkload { database: DatabaseMode::Embedded, ..OrderEntryWorkload::default() };
        let catalog = embedded.catalog();
        let served = OrderEntryWorkload::default().catalog();
        assert_eq!((catalog.check(), catalog.transferred.len()), (Ok(()), 0));
        let measures = catalog.measures.iter().zip(&served.measures).enumerate();
        let absent = measures.filter(|(_, (one, other))| one.is_always != other.is_always);
        assert_eq!(
            absent.map(|(index, _)| index).collect::<Vec<_>>(),
            [order_measure::ROUND_TRIPS, order_measure::SENT_BYTES, order_measure::RECEIVED_BYTES]
        );
        assert!(embedded.mode_text().starts_with("SQLite in one process with the load generator"));
        let mut stored = serde_json::to_value(embedded).unwrap();
        assert_eq!(stored["database"], "embedded");
        // Plans of earlier builds may not have it.
        stored.as_object_mut().unwrap().remove("database");
        assert_eq!(
            serde_json::from_value::<OrderEntryWorkload>(stored).unwrap(),
            OrderEntryWorkload::default()
        );
    }

    /// The catalog of a run of an earlier build is that of its workload, so that its file passes the audit.
    #[test]
    fn plans_of_earlier_builds_measure_no_payments() {
        for sql in [OrderSql::Request, OrderSql::Client] {
            let workload = OrderEntryWorkload { sql, ..OrderEntryWorkload::default() };
            let mut stored = serde_json::to_value(workload).unwrap();
            stored.as_object_mut().unwrap().remove("measures_payments");
            let catalog = serde_json::from_value::<OrderEntryWorkload>(stored).unwrap().catalog();
            assert_eq!((catalog.check(), catalog.bands.len()), (Ok(()), 3));
            let names: Vec<&str> = catalog.measures.iter().map(|measure| measure.name.as_str()).collect();
            assert_eq!(names[4..6], ["sent bytes", "received bytes"]);
            let times: Vec<&str> = catalog.response_parts.iter().map(|part| names[*part]).collect();
            assert_eq!((&names[6..], &times[..]), (&times[..], &names[6..]));
            assert_eq!(times.len(), if sql == OrderSql::Request { 2 } else { 0 });
        }
    }

    /// A payment of another warehouse by last name, one of the own by number, an order that is rolled back.
    #[test]
    fn inputs_are_measured_where_their_kind_has_a_band() {
        let district = DistrictKey { warehouse: 1, district: 1 };
        let payment = |warehouse, customer| {
            let customer_district = DistrictKey { warehouse, district: 2 };
            let input = PaymentInput { district, customer_district, customer, amount: Cents(1) };
            order_measure::of_input(&TransactionInput::Payment(input)).unwrap().map(|(_, value)| value)
        };
        assert_eq!(payment(2, CustomerSelector::LastName(7)), [1, 1]);
        assert_eq!(payment(1, CustomerSelector::Number(7)), [0, 0]);
        let item = |supply_warehouse| OrderedItem { item: 1, supply_warehouse, quantity: 1 };
        let order = |is_rolled_back| {
            let items = OrderedItems::new(&[item(1), item(2), item(1)]).unwrap();
            let order = NewOrderInput { district, customer: 1, items, is_rolled_back };
            order_measure::of_input(&TransactionInput::NewOrder(order))
        };
        assert_eq!(order(false), Some([(order_measure::LINES, 3), (order_measure::REMOTE_LINES, 1)]));
        assert_eq!(order(true), None);
    }

    #[test]
    fn a_stored_size_is_one_that_data_can_have() {
        let mut stored = serde_json::to_value(OrderEntryWorkload::default()).unwrap();
        assert_eq!(stored["scale"], serde_json::json!({ "warehouses": 800, "divisor": 100 }));
        let read = |stored: &serde_json::Value| serde_json::from_value::<OrderEntryWorkload>(stored.clone());
        assert_eq!(read(&stored).unwrap(), OrderEntryWorkload::default());
        stored["scale"]["divisor"] = 3.into();
        assert!(read(&stored).is_err());
    }

    /// 549,889,200 bytes of rows, 2.5 times of which are 1311 MiB.
    #[test]
    fn the_size_of_the_data_is_told() {
        let workload = OrderEntryWorkload::default();
        assert_eq!(workload.scale.disk_bytes() >> 20, 1311);
        let text = workload.data_text();
        assert!(text.starts_with("800 warehouses, cardinalities divided by 100: about "), "{text}");
    }
}
