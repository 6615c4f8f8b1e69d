//! Every law on reports that are not among the five: a clean one raises nothing, one changed figure is found.

use super::findings;

const HEAD: &str = "format = 1\n[report]\ntitle = \"T\"\npublisher = \"P\"\npublished = \"2004-06\"\n";

/// A report with one record of these figures.
fn record(figures: &str) -> String {
    format!("{HEAD}[[record]]\nid = \"r\"\ntitle = \"R\"\nsubject = \"S\"\nfigures = [\n{figures}\n]\n")
}

/// A report with one table.
fn table(head: &str, columns: &str, rows: &str) -> String {
    format!(
        "{HEAD}[[table]]\nid = \"t\"\ntitle = \"T\"\n{head}\ncolumns = [\n{columns}\n]\nrows = \"\"\"\n{rows}\n\"\"\"\n"
    )
}

fn laws(text: &str) -> Vec<&'static str> {
    findings(text).into_iter().map(|finding| finding.law).collect()
}

/// Asserts that the clean report raises nothing, and each change of it just one finding of this law.
#[track_caller]
fn check(law: &str, clean: &str, changes: &[(&str, &str)]) {
    assert_eq!(laws(clean), [""; 0], "{:#?}", findings(clean));
    for (piece, replacement) in changes {
        assert!(clean.contains(piece), "{piece}");
        let text = clean.replacen(piece, replacement, 1);
        assert_eq!(laws(&text), [law], "{piece} → {replacement}: {:#?}", findings(&text));
    }
}

/// An order-entry result: 2,000 terminals, 12 s keying and thinking, 8 hours of nothing but New-Order.
#[test]
fn interactive_users_go_round_once_per_response_and_think_time() {
    let clean = record(
        r#"{ id = "users", is = "users", value = "2,000" },
        { id = "rate", is = "rate", value = "9,756.1 /min" },
        { id = "response", is = "response", value = "0.30 s" },
        { id = "think", is = "think", value = "12 s" },"#,
    );
    check("interactive", &clean, &[("9,756.1", "10,756.1"), ("0.30 s", "1.30 s"), ("2,000", "2,200")]);
}

#[test]
fn totals_are_rate_times_length() {
    let clean = record(
        r#"{ id = "rate", is = "rate", value = "1,024 /s" },
        { id = "length", is = "duration", value = "30 min" },
        { id = "total", is = "operations", value = "1,843,200" },
        { id = "error-rate", is = "error-rate", value = "0.0500 /s" },
        { id = "errors", is = "errors", value = "90" },"#,
    );
    check("total", &clean, &[("1,843,200", "1,853,200"), ("1,024", "1,034"), ("\"90\"", "\"91\"")]);
}

#[test]
fn what_is_counted_is_whole() {
    let clean = record(
        r#"{ id = "error-rate", is = "error-rate", value = "0.0167 /s" },
        { id = "length", is = "duration", value = "300 s" },
        { id = "clients", is = "users", value = "80" },"#,
    );
    check("whole", &clean, &[("0.0167", "0.0180"), ("\"80\"", "\"80.5\"")]);
}

#[test]
fn disks_obey_littles_law_and_utilization() {
    let clean = record(
        r#"{ id = "reads", is = "rate", class = "read", value = "120 /s" },
        { id = "read", is = "response", class = "read", value = "8.0 ms" },
        { id = "read-service", is = "service", class = "read", value = "5.0 ms" },
        { id = "writes", is = "rate", class = "write", value = "60 /s" },
        { id = "write", is = "response", class = "write", value = "2.0 ms" },
        { id = "write-service", is = "service", class = "write", value = "1.0 ms" },
        { id = "queue", is = "in-progress", value = "1.08" },
        { id = "busy", is = "utilization", value = "66 %" },"#,
    );
    check("little", &clean, &[("1.08", "1.58"), ("8.0 ms", "9.0 ms")]);
    check("utilization", &clean, &[("66 %", "86 %"), ("1.0 ms\"", "4.0 ms\"")]);
}

#[test]
fn utilization_over_several_servers_says_over_how_many() {
    let clean = record(
        r#"{ id = "busy", is = "utilization", value = "648 %" },
        { id = "cpus", is = "servers", value = "8" },"#,
    );
    check("utilization", &clean, &[("648 %", "848 %"), ("\"servers\"", "\"count\"")]);
    let network = record(
        r#"{ id = "rate", is = "rate", value = "100 /s" },
        { id = "size", is = "size", value = "10.0 kB" },
        { id = "line", is = "bandwidth", value = "10 Mbit/s" },
        { id = "busy", is = "utilization", value = "80 %" },"#,
    );
    check("utilization", &network, &[("80 %", "95 %"), ("10.0 kB", "12.0 kB")]);
}

#[test]
fn a_system_has_one_price() {
    let clean = record(
        r#"{ id = "price", is = "price", value = "29,581 USD" },
        { id = "users", is = "users", class = "Mail", value = "2,200" },
        { id = "rate", is = "rate", class = "Mail", value = "2,917 /min" },
        { id = "per-user", is = "price", per = "users", class = "Mail", value = "13.45 USD" },
        { id = "per-rate", is = "price", per = "rate", class = "Mail", value = "10.14 USD" },"#,
    );
    check("price", &clean, &[("29,581", "29,681"), ("13.45", "13.54"), ("2,917", "2,971")]);
}

#[test]
fn parts_are_not_more_than_their_wholes() {
    let clean = record(
        r#"{ id = "rate", is = "rate", value = "1639 /s" },
        { id = "offered", is = "offered-rate", value = "1650 /s" },
        { id = "cpus", is = "processors", value = "4" },
        { id = "logical", is = "logical-processors", value = "8" },
        { id = "drives", is = "count", value = "6", within = "6" },
        { id = "total", is = "capacity", value = "36.16 GB", equals = "6 * 4.51 GB + 9.1 GB" },"#,
    );
    check("offered", &clean, &[("1639", "1659")]);
    check("processors", &clean, &[("\"4\"", "\"16\"")]);
    check("within", &clean, &[("value = \"6\"", "value = \"9\"")]);
    check("equals", &clean, &[("36.16", "36.61")]);
}

#[test]
fn percentiles_rise_and_means_lie_between() {
    let clean = record(
        r#"{ id = "least", is = "response-min", value = "1 ms" },
        { id = "mean", is = "response", value = "20 ms" },
        { id = "p50", is = "percentile-50", value = "15 ms" },
        { id = "p90", is = "percentile-90", value = "40 ms" },
        { id = "p90-read", is = "percentile-90", class = "read", value = "30 ms" },
        { id = "p90-send", is = "percentile-90", class = "send", value = "60 ms" },
        { id = "most", is = "response-max", value = "400 ms" },"#,
    );
    let changes = [("15 ms", "45 ms"), ("20 ms", "500 ms"), ("\"400 ms", "\"35 ms"), ("\"60 ms", "\"36 ms")];
    check("percentiles", &clean, &changes);
}

#[test]
fn shares_are_a_whole_together() {
    let columns = r#"{ id = "kind", is = "text" }, { id = "share", is = "share" },"#;
    let clean = table("", columns, "a | 35.0 %\nb | 50.0 %\nc | 15.0 %");
    check("shares", &clean, &[("50.0", "51.0")]);
    let too_much = laws(&clean.replacen("35.0", "135.0", 1));
    assert_eq!(too_much, ["shares", "shares"], "more than the whole, and not the whole together");
}

#[test]
fn rows_stand_as_announced() {
    let columns = r#"{ id = "when", is = "date", order = "rising" },
        { id = "model", is = "text" },
        { id = "clock", is = "figure", unit = "MHz", by = ["model"] },
        { id = "load", is = "count", levels = "10..30/10" },"#;
    let clean = table("", columns, "Jan 98 | A | 400 | 10\nMar 98 | B | 300 | 20\nMay 98 | A | 400 | 30");
    check("order", &clean, &[("Mar 98", "Dec 97")]);
    check("settled", &clean, &[("May 98 | A | 400", "May 98 | A | 450")]);
    check("levels", &clean, &[("| 20", "| 25"), ("\nMay 98 | A | 400 | 30", "")]);
    check("dates", &clean, &[("May 98", "May 05")]);
}

#[test]
fn replies_of_a_table_have_one_size_and_users_one_pace() {
    let columns = r#"{ id = "users", is = "users" }, { id = "rate", is = "rate", unit = "/s" },
        { id = "data", is = "throughput", unit = "MB/s" },"#;
    let rows =
        "100 | 50.1 | 1.00\n200 | 99.8 | 2.01\n300 | 151.0 | 3.01\n400 | 199.0 | 3.98\n500 | 250.5 | 5.02";
    let clean = table("paced = true", columns, rows);
    check("throughput", &clean, &[("3.98", "4.38")]);
    check("pace", &clean, &[("300 | 151.0 | 3.01", "300 | 121.0 | 2.41")]);
}

#[test]
fn no_more_operations_are_in_progress_than_users() {
    let clean = record(
        r#"{ id = "users", is = "users", value = "64" },
        { id = "think", is = "think", value = "0 s" },
        { id = "in-progress", is = "in-progress", value = "62.50" },"#,
    );
    check("users", &clean, &[("62.50", "64.50"), ("62.50", "42.50")]);
}

#[test]
fn one_figure_is_the_same_everywhere() {
    let row = |subject: &str, rate: &str, response: &str| {
        format!(
            "[[record]]\nid = \"{}\"\ntitle = \"{subject}, {rate}\"\nsubject = \"{subject}\"\nfigures = [\n\
             {{ id = \"rate\", is = \"rate\", value = \"{rate} /s\" }},\n\
             {{ id = \"response\", is = \"response\", value = \"{response} s\", also = [{{ at = \"summary\", value = \"{response} s\" }}] }},\n]\n",
            format!("{subject}{rate}").to_lowercase().replace([',', '.'], "-")
        )
    };
    let clean = format!(
        "{HEAD}{}{}{}",
        row("a", "2131", "0.4812"),
        row("a", "2,131", "0.4812"),
        row("b", "1999", "0.1234")
    );
    check(
        "alike",
        &clean,
        &[("2,131 /s", "2,132 /s"), ("value = \"0.1234 s\" }]", "value = \"0.1244 s\" }]")],
    );
    let copied = clean.replace("1999 /s", "2131 /s").replace("0.1234", "0.4812");
    assert_eq!(laws(&copied), ["copied", "copied"], "b has both figures of both records of a");
}

#[test]
fn claims_are_computed() {
    let columns = r#"{ id = "clients", is = "count" }, { id = "errors", is = "errors" },"#;
    let claim = "[[claim]]\nid = \"c\"\ntext = \"none failed\"\nsays = [\"max(t.errors) = 0\", \"count(t.clients) = 2\"]\n";
    let clean = table("", columns, "1 | 0\n4 | 0") + claim;
    check("claim", &clean, &[("4 | 0", "4 | 1"), ("1 | 0\n", ""), ("= 2\"", "= 3\"")]);
}
