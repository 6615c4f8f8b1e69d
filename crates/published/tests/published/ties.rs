//! Ties of cells to other printed figures: written down by reading the reports, not by asking the laws.
//!
//! A change of a cell contradicts something else that is printed, unless one of these says otherwise.

use published::{CalendarDate, PrintedNumber, PublishedReport};

use super::mutations::Change;

/// A tie of the cells of some columns to other printed figures.
pub(super) struct Tie {
    pub(super) table: &'static str,
    /// Ids of columns, separated by spaces; `*` for all.
    pub(super) columns: &'static str,
    /// The first row, from 0.
    from: usize,
    how: How,
}

/// The way in which other printed figures determine a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
enum How {
    /// Nothing else determines it.
    Free,
    /// Other figures contradict it as it is printed, and would go on to do so: no change can be told from that.
    Broken,
    /// Only its digits are printed again; its letters are ours, or free.
    Digits,
    /// The clock of the row, where it stands in the name of the model: there only.
    NamesClock,
    /// Only changes by more than this part of the value contradict: what else is said is rounded, or a bound.
    Beyond(f64),
    /// Only a value that is higher by more than this part contradicts.
    Above(f64),
    /// Only a value that is lower by more than this part contradicts.
    Below(f64),
    /// Only the rows above and below it: they are sorted.
    Sorted,
    /// Only the day of publication: it is not later.
    Published,
    /// A row of WebStone: load factor = rate · latency, as far as rounding leaves it; data per reply near that of the
    /// other rows; errors in five or ten minutes a whole number.
    WebStone,
}

use How::{Above, Below, Beyond, Broken, Digits, Free, NamesClock, Published, Sorted, WebStone};

const fn of(table: &'static str, columns: &'static str, how: How) -> Tie {
    Tie { table, columns, from: 0, how }
}

/// Returns the tie for the rows from one on.
const fn from(from: usize, tie: Tie) -> Tie {
    Tie { from, ..tie }
}

/// Returns the ties of the cells of a report.
pub(super) fn of_report(name: &str) -> &'static [Tie] {
    match name {
        "apple-network-server-1996" => APPLE,
        "ibm-pc-server-330-1997" => IBM_330,
        "ibm-xseries-365-mmb3" => IBM_365,
        "novell-bordermanager-1998" => NOVELL,
        "proliant-8000-cpu-scalability-2000" => PROLIANT,
        other => panic!("no ties of `{other}`"),
    }
}

/// Pages and roles are numbered by us, weights and names of WebStone 1.1 printed once; the mean of a file follows from
/// them and is printed rounded. Servers of others stand in one table each.
const APPLE: &[Tie] = &[
    of("webstone-1-700-200", "rate errors latency load-factor throughput", WebStone),
    of("webstone-1-700-150", "rate errors latency load-factor throughput", WebStone),
    of("webstone-1-500-132", "rate errors latency load-factor throughput", WebStone),
    of("webstone-2-700-200", "rate errors latency load-factor throughput", WebStone),
    of("webstone-2-700-150", "rate errors latency load-factor throughput", WebStone),
    of("webstone-2-500-132", "rate errors latency load-factor throughput", WebStone),
    of("webstone-1-700-200", "think body", Free),
    of("webstone-1-700-150", "think body", Free),
    of("webstone-1-500-132", "think body", Free),
    of("webstone-2-700-200", "think body", Free),
    of("webstone-2-700-150", "think body", Free),
    of("webstone-2-500-132", "think body", Free),
    of("webstone-1-pages", "page weight", Free),
    of("webstone-1-files", "page file weight size", Free),
    of("webstone-1-workload", "body", Free),
    of("webstone-2-workload", "body", Free),
    of("webstone-2-files", "weight", Free),
    of("webstone-2-files", "file", Digits),
    of("webstone-2-files", "size", Beyond(0.03)),
    from(1, of("webstone-1-configurations", "vendor system processor memory os", Free)),
    of("webstone-1-configurations", "tester", Free),
    from(2, of("webstone-2-configurations", "vendor memory os", Free)),
    from(3, of("webstone-2-configurations", "system processor", Free)),
    of("webstone-2-configurations", "tester", Free),
    from(1, of("netbench-configurations", "vendor memory os", Free)),
    from(2, of("netbench-configurations", "system processor", Free)),
    of("netbench-configurations", "disks disk-size fast-ethernet software tester", Free),
    of("processors", "place", Free),
    of("webstone-1-testbed", "transmit-fifo", Free),
    of("webstone-1-testbed", "processes-min", Above(3.0)),
    of("webstone-1-testbed", "processes-max", Below(0.75)),
    of("webstone-2-testbed", "processes idle-timeout transmit-fifo", Free),
    of("categories", "category", Free),
];

/// Prices are printed per user and per NotesMark, to a cent; what only others' machines have, or only one suite, once.
const IBM_330: &[Tie] = &[
    of("price-330", "total", Beyond(0.0004)),
    of("price-325", "total", Beyond(0.0002)),
    of("highlights-330", "test", Free),
    of("highlights-325", "test", Free),
    of("results-330", "test", Free),
    of("results-325", "test", Free),
    from(1, of("competition-smp", "system processors processors-maildb processor memory", Free)),
    from(1, of("competition-smp", "date", Published)),
    from(
        1,
        of(
            "competition-smp",
            "price-user price-user-maildb price-notesmark price-notesmark-maildb",
            Beyond(0.0015),
        ),
    ),
    from(1, of("competition-smp", "users users-maildb notesmark notesmark-maildb", Beyond(0.0015))),
    from(1, of("competition-single", "system processor memory", Free)),
    from(1, of("competition-single", "date", Published)),
    from(
        1,
        of(
            "competition-single",
            "price-user price-user-maildb price-notesmark price-notesmark-maildb",
            Beyond(0.0015),
        ),
    ),
    from(1, of("competition-single", "users users-maildb notesmark notesmark-maildb", Beyond(0.0015))),
    of("notes-testbed", "array controller adapters adapter segments network hubs competition-server", Free),
    of("notes-testbed", "drives", Broken),
    of("machine", "processors-max cd-rom buses bus leds video-memory adapters domino", Free),
    of("machine", "memory-standard", Above(7.0)),
    of("machine", "memory-pentium-ii", Below(0.0)),
    of("units", "gigabyte", Broken),
    of("serverbench", "segments clients-per-segment", Broken),
    of("serverbench", "hubs", Digits),
    of("serverbench", "client client-memory client-l2 client-adapter controller-os file ramps", Free),
    of("serverbench", "file-range", Above(1.0)),
    of("serverbench", "processor-bound-from processor-bound-to disk-bound-above", Free),
    of("webbench", "hubs", Digits),
    of(
        "webbench",
        "client client-clock client-memory client-l2 client-adapter client-os controller-os",
        Free,
    ),
    of("webbench", "think delay threads receive-buffer keep-alive page-min page-max directories", Free),
    of("netbench", "hubs", Digits),
    of("netbench", "other-versions", Free),
    of(
        "netbench",
        "client client-memory client-l2 client-adapter client-dos client-requester client-lsl",
        Free,
    ),
    of("netbench", "client-odi client-ipx client-vlm controller-dos runtime ramps", Free),
    of("netware", "packet-buffers-min", Above(1.0)),
    of("netware", "directory-buffers-min", Above(3.7)),
    of("netware", "*", Free),
    of("netbench-client", "*", Free),
    of("features-netbench", "drive disk-driver adapters adapter network-driver", Free),
];

/// Counters are printed once; some lie below others. Little's law is broken for the disks as printed.
const IBM_365: &[Tie] = &[
    of("transactions", "submitted-rate delivered-rate sent-rate", Beyond(0.000_02)),
    of("transactions", "submitted-user", Beyond(0.0012)),
    of("transactions", "delivered-user", Beyond(0.0005)),
    of("transactions", "submitted-user-expected delivered-user-expected", Beyond(0.003)),
    of("test", "protocol", Free),
    of("test", "length", Below(0.5)),
    of("opens", "*", Free),
    of("rpc", "read", Above(0.94)),
    of("rpc", "written", Broken),
    of("queues", "receive smtp-local smtp-categorizer", Free),
    of("response-times", "total", Beyond(0.0)),
    of("response-times", "*", Free),
    of("processor", "interrupts queue switches", Free),
    of("processes", "store", Above(0.1)),
    of("processes", "inetinfo", Above(3.2)),
    of("processes", "lsass", Above(4.4)),
    of("processes", "controller", Free),
    of("memory", "available", Above(0.7)),
    of("memory", "pages blocks", Free),
    of("memory", "store-private", Above(0.42)),
    of("memory", "store-working-set", Above(0.34)),
    of("memory", "store-virtual", Above(0.06)),
    of("database-disks", "busy", Above(0.26)),
    of("database-disks", "reads writes read-time write-time queue", Broken),
    of("database-disks", "read-bytes write-bytes drives", Free),
    of("log-disks", "busy reads writes read-time write-time queue", Broken),
    of("log-disks", "read-bytes write-bytes", Free),
    of("network", "packets-sent packets-received bytes-sent bytes-received", Free),
    of("server", "vendor service-pack fixes file-system network offload flow-control coalescing", Free),
    of("server", "domain-controller", Free),
    of("server", "mail-server", Digits),
    of("machine", "memory-standard memory-kind expansion chipset", Free),
    of("machine", "memory-max", Below(0.875)),
    of("machine", "disks-internal", Below(0.0)),
    of("machine", "l3-small", Above(1.0)),
    of("machine", "slots-standard", Above(0.2)),
    of("machine", "slots", Below(0.17)),
    of("tuning", "user-space-max", Below(0.014)),
    of("tuning", "user-space", Above(0.0138)),
    of("tuning", "registry", Free),
    of("load-generators", "processes processors logical", Broken),
    of("load-generators", "processor hyper-threading memory adapter network os", Free),
    of("load-clients", "kind", Free),
    of("report-names", "*", Free),
];

/// The text mentions three of 35 systems; results are sorted, and many names contain the clock.
const NOVELL: &[Tie] = &[
    from(3, of("uniprocessors", "date", Published)),
    from(3, of("uniprocessors", "vendor processor memory", Free)),
    of("uniprocessors", "memory", Beyond(0.06)),
    from(3, of("uniprocessors", "model clock", NamesClock)),
    from(3, of("uniprocessors", "result", Sorted)),
    of("uniprocessors", "mtu", Broken),
    of("compaq", "requested", Below(0.017)),
    of(
        "compaq",
        "file-set barracudas cheetahs cache-partition clients-per-net net-type threads cache log-mode",
        Free,
    ),
    of("compaq", "cache-drives", Above(0.17)),
    of("hp", "requested", Below(0.019)),
    of("hp", "price", Above(0.6)),
    of("hp", "file-set disk-size disks cache-drives cache-partition hot-nodes hot-nodes-default", Free),
    of("hp", "clients-per-net net-type threads cache log-mode", Free),
    of("caches", "system", Free),
    of("caches", "primary secondary", Broken),
    of("software", "proxy tcpip tcpip-hp", Free),
    of("software", "sys-compaq", Above(0.0)),
    of("software", "sys-hp", Above(1.25)),
    of("software", "pages-hp", Above(3.5)),
    of("appnotes", "article", Free),
    of("appnotes", "date", Published),
    of("submissions", "quarter number date", Free),
    of("dec", "price", Below(0.2)),
    of("mtu-study", "internet fddi-inflation", Free),
];

/// Procedures: statements about one machine, printed once, and about both, printed twice.
const PROLIANT: &[Tie] = &[
    of("issue", "date", Published),
    of("issue", "download", Free),
    of("proliant-8000", "processor clock architecture controller-cache", Free),
    of("proliant-7000", "architecture controller", Free),
    of("cache-8000", "use", Free),
    of("disks-8000", "speed paging-file", Free),
    of("disks-7000", "speed paging-file", Free),
    of("volumes-8000", "array use", Free),
    of("volumes-7000", "array use", Free),
    of("volumes-8000", "size", Beyond(0.06)),
    of("volumes-7000", "size", Beyond(0.06)),
    of("software", "os browser database-pack driver", Free),
    of("phases", "quiet ramp-up ramp-down", Beyond(0.1)),
    of("database", "warehouses", Broken),
    of("laboratory", "ports switch server-network client-processor client-clock client-memory", Free),
    of("laboratory", "client-disk client-adapter", Free),
    of("page", "server characters busy-before", Free),
    of("page", "busy-after", Above(0.006)),
    of("page", "switches-before", Below(0.8)),
    of("page", "switches-after", Above(4.0)),
    of("tuning", "threads hits port-max window logging buffering", Free),
];

fn how(name: &str, change: &Change) -> Option<How> {
    // What is printed once more must be the same there.
    if change.cell.is_again {
        return None;
    }
    let is_about = |tie: &&Tie| {
        tie.table == change.cell.table
            && tie.from <= change.cell.row
            && tie.columns.split_whitespace().any(|column| column == "*" || column == change.cell.column)
    };
    of_report(name).iter().find(is_about).map(|tie| tie.how)
}

/// Returns whether a change contradicts something else that is printed in the report.
pub(super) fn contradicts(name: &str, report: &PublishedReport, change: &Change) -> bool {
    let Some(how) = how(name, change) else { return true };
    let number = |text: &str| {
        let digits: String = text.chars().take_while(|c| !c.is_ascii_alphabetic() && *c != '/').collect();
        digits.trim_matches(['~', ' ', '%']).replace(',', "").parse::<f64>().ok()
    };
    let relative = || Some(number(&change.to)? / number(&change.cell.text)? - 1.0);
    match how {
        Free | Broken => false,
        Digits => {
            let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
            digits(&change.to) != digits(&change.cell.text)
        }
        NamesClock => contradicts_name(report, change),
        Beyond(part) => relative().is_none_or(|relative| part < relative.abs()),
        Above(part) => relative().is_some_and(|relative| part < relative),
        Below(part) => relative().is_some_and(|relative| relative < -part),
        Sorted => is_out_of_order(report, change, number(&change.to)),
        Published => {
            let date = CalendarDate::parse(&change.to);
            date.is_some_and(|date| date.compare(&report.published).is_gt())
        }
        WebStone => contradicts_web_stone(report, change, number(&change.to)),
    }
}

/// Returns whether a clock that stood in the name of a model no longer does.
fn contradicts_name(report: &PublishedReport, change: &Change) -> bool {
    let table = report.tables.iter().find(|table| table.id == change.cell.table).expect("a table");
    let printed = |id: &str| {
        let place = table.column(id).expect("a column");
        table.rows[change.cell.row][place].value.text().to_owned()
    };
    let model = printed("model");
    let clock = printed("clock");
    let has =
        |model: &str, clock: &str| model.split(|c: char| !c.is_ascii_digit()).any(|number| number == clock);
    let is_clock = change.cell.column == "clock";
    let (model_now, clock_now) =
        if is_clock { (model.clone(), change.to.clone()) } else { (change.to.clone(), clock.clone()) };
    has(&model, &clock) && !has(&model_now, &clock_now)
}

/// Returns whether a number is no longer between those above and below it.
fn is_out_of_order(report: &PublishedReport, change: &Change, to: Option<f64>) -> bool {
    let Some(to) = to else { return true };
    let table = report.tables.iter().find(|table| table.id == change.cell.table).expect("a table");
    let place = table.column(&change.cell.column).expect("a column");
    let printed = |row: usize| {
        let number = table.rows.get(row)?[place].value.number()?;
        Some(number.value / number.scale)
    };
    let above = change.cell.row.checked_sub(1).and_then(printed);
    let below = printed(change.cell.row + 1);
    let was = printed(change.cell.row).expect("a number");
    let is_falling = above.is_some_and(|above| was < above) || below.is_some_and(|below| below < was);
    let [least, most] = if is_falling { [below, above] } else { [above, below] };
    least.is_some_and(|least| to < least) || most.is_some_and(|most| most < to)
}

fn contradicts_web_stone(report: &PublishedReport, change: &Change, to: Option<f64>) -> bool {
    let Some(to) = to else { return true };
    let table = report.tables.iter().find(|table| table.id == change.cell.table).expect("a table");
    let place = |id: &str| table.column(id).expect("a column");
    let printed = |row: usize, id: &str| -> PrintedNumber {
        table.rows[row][place(id)].value.number().cloned().expect("a number")
    };
    let as_printed = |row: usize, id: &str| {
        let number = printed(row, id);
        let is_changed = row == change.cell.row && id == change.cell.column;
        if is_changed { to } else { number.value / number.scale }
    };
    let row = change.cell.row;
    let data = |row: usize| as_printed(row, "throughput") / as_printed(row, "rate");
    match change.cell.column.as_str() {
        "errors" => {
            let seconds = table.given[0].1.value.number().expect("a length").value;
            let count = to * seconds;
            let n_decimals = change.to.split_once('.').map_or(0, |(_, fraction)| fraction.len());
            0.5 * 0.1f64.powi(n_decimals as i32) * seconds < (count - count.round()).abs()
        }
        column => {
            // A unit of the last digit of the load factor, half a unit of the others.
            let [rate, latency] = ["rate", "latency"].map(|id| as_printed(row, id));
            let low = (rate - 0.005) * (latency - 0.000_05);
            let high = (rate + 0.005) * (latency + 0.000_05);
            let factor = as_printed(row, "load-factor");
            let is_little = column != "throughput" && (factor + 0.01 < low || high < factor - 0.01);
            let others: Vec<f64> = (0..table.rows.len()).filter(|other| *other != row).map(data).collect();
            let least = others.iter().copied().fold(f64::INFINITY, f64::min);
            let most = others.iter().copied().fold(0.0, f64::max);
            // Twice as far as the other rows are from each other.
            let room = most - least;
            let own = data(row);
            let is_odd = matches!(column, "rate" | "throughput") && (own < least - room || most + room < own);
            is_little || is_odd
        }
    }
}
