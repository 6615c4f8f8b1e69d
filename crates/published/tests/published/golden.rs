//! The findings in the five reports: everything here, and nothing else.

use super::{findings, text};

/// A finding: its law, a part of its place, a part of its text.
type Expected = (&'static str, &'static str, &'static str);

#[track_caller]
fn check(name: &str, expected: &[Expected]) {
    let mut left = findings(&text(name));
    for (law, place, part) in expected {
        let found = left.iter().position(|finding| {
            finding.law == *law && finding.place.contains(place) && finding.text.contains(part)
        });
        let found =
            found.unwrap_or_else(|| panic!("{name}: not found: {law}, {place}, {part}\nleft: {left:#?}"));
        left.remove(found);
    }
    assert!(left.is_empty(), "{name}: found besides: {left:#?}");
}

/// One wrong digit, one copied cell, and statements of the text beyond its tables.
#[test]
fn apple_network_server() {
    check(
        "apple-network-server-1996",
        &[
            ("little", "WebStone 1.1, Network Server 700/150, 16", "213.21 /s"),
            ("throughput", "WebStone 2.0.1, Network Server 500/132, 50", "43.859 Mibit/s would agree"),
            ("copied", "WebStone 2.0.1, Network Server 500/132, 50", "48.27"),
            ("settled", "WebStone 1.1 configurations, 700/200", "604 here and 604e"),
            ("settled", "NetBench configurations, 700/200", "604 here and 604e"),
            ("claim", "Summary", "left 2, right 3"),
            ("claim", "WebStone 1.1, error rate", "left 3, right 2"),
            ("claim", "WebStone 2.0.1, error rate", "left 3, right 2"),
            ("claim", "WebStone 1.1, error rate", "0.01665 to 0.01675 /s, right 0"),
            ("claim", "WebStone 2.0.1, error rate", "0.06165 to 0.06175 /s, right 0"),
            ("claim", "WebStone 2.0.1, error rate", "0.05995 to 0.06005 /s, right 0"),
            ("claim", "WebStone 2.0.1, error rate", "0.20825 to 0.20835 /s, right 0"),
            ("claim", "WebStone 2.0.1 Benchmark", "left 394.56 to 394.57 /s, right 400.36"),
            ("claim", "WebStone 2.0.1 Benchmark", "left 302.06 to 302.07 /s, right 302.27"),
            ("claim", "WebStone 1.1, testing methodology", "95 %"),
            ("claim", "WebStone 2.0.1, testing methodology", "22.225 Mbit/s, right 10 Mbit/s"),
            ("claim", "WebStone 1.1, throughput", "left 10.825 to 10.832, right 7.5 to 8.5"),
            ("claim", "WebStone 2.0.1, throughput", "left 1.6049 to 1.6394 T3, right 1.45 to 1.55 T3"),
        ],
    );
}

/// One row with another system's figures, prices that are not one price, and lists that disagree.
#[test]
fn ibm_pc_server_330() {
    let smp = "several processors";
    let single = "one processor, ";
    check(
        "ibm-pc-server-330-1997",
        &[
            ("pace", single, "`NotesMark, Mail` 2,917"),
            ("pace", single, "`NotesMark, MailDB` 3,914"),
            ("price", single, "19,449 to 19,467 and 24,076 to 24,113"),
            ("price", single, "19,453 to 19,467 and 23,735 to 23,781"),
            ("price", "Compaq ProLiant 800", "20,217 to 20,229 and 20,135 to 20,171"),
            ("price", "DEC AlphaServer 800 5/400", "41,589 to 41,607 and 39,679 to 39,694"),
            ("alike", "ServerBench 4.0", "SYS_60.TST here, SYT_60.TST"),
            ("alike", single, "2,917 /min here, `NotesMark (tpm)` 2,356 /min"),
            ("alike", single, "3,914 /min here, `NotesMark (tpm)` 3,203 /min"),
            ("copied", single, smp),
            ("within", "PC Server 330 as tested", "`Hot-swap drives` 9"),
            ("equals", "GB", "1,000,000,000 B"),
            ("claim", "ServerBench 4.0", "left 60, right 30"),
            ("claim", "WebBench 1.0", "left 16, right 15"),
            ("claim", "Performance Highlights", "left 2, right 4"),
        ],
    );
}

/// Totals that are not rate · length, queues that are not rate · time, and parts that are more than the whole.
#[test]
fn ibm_xseries_365() {
    let steady = "Messages over the steady state";
    let machines = "Load generators";
    check(
        "ibm-xseries-365-mmb3",
        &[
            ("total", steady, "= 385,304, `Total Messages Submitted` 389,932 is printed"),
            ("total", steady, "`Length of Steady State` 4.0481 h would agree"),
            ("total", steady, "`Total Messages Sent` 389,821 is printed"),
            ("per", steady, "84.768 /8h"),
            ("per", steady, "209.63 /8h"),
            ("little", "Database logical disks", "236.42 (197 to 275.84 before rounding)"),
            ("little", "Transaction log logical disks", "`Log Average Disk Queue Length` 0 is printed"),
            (
                "processors",
                machines,
                "`# of Processors (Physical)` 1 is more than `# of Processors (Logical)` 0",
            ),
            ("within", "Data of the calls", "at most 2,435,100 B/s"),
            ("within", "Transaction log logical disks", "at most 50 %"),
            ("equals", machines, "`Total # of LG processes` 9,200: the report's own rule makes it 17"),
        ],
    );
}

/// One model with two clocks, and a text that does not agree with its table.
#[test]
fn novell_bordermanager() {
    let caches = "Caches of the two processors";
    check(
        "novell-bordermanager-1998",
        &[
            ("settled", "SPECweb96 results", "`MHz` is 466 in row 11 and 400 in row 13"),
            ("settled", caches, "on chip in row 1 and off chip in row 2"),
            ("claim", "SPECweb96 benchmark results", "2132"),
            ("claim", "Realistic network configuration", "ProLiant 3000"),
            ("claim", "Realistic network configuration", "NetServer LH 3/400"),
            ("claim", "SPECweb96 benchmark results", "right 200 MHz"),
            ("claim", "Realistic RAM configuration", "right 1,280 MiB"),
        ],
    );
}

/// Arrays of equal drives that are not equally large, and a database too small for its warehouses.
#[test]
fn proliant_8000() {
    check(
        "proliant-8000-cpu-scalability-2000",
        &[("claim", "Introduction", "volumes-7000"), ("claim", "SQL Server 7.0 Testing", "right 506 MB")],
    );
}

/// The unit of the WebStone tables is 2²⁰ bits: with 10⁶, a reply would be smaller than its body.
#[test]
fn a_wrong_unit_is_found() {
    let text = text("apple-network-server-1996").replace("unit = \"Mibit/s\"", "unit = \"Mbit/s\"");
    let units = findings(&text).into_iter().filter(|finding| finding.text.contains("check the unit")).count();
    assert_eq!(units, 4, "in two tables what a run samples of large files hides it");
}
