//! Every law on small reports: a clean one has no findings, one changed figure is found.

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

/// Asserts that the clean report has no findings, and each change of it exactly one finding of this law.
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
fn interactive_users_obey_the_response_time_law() {
    let clean = record(
        r#"{ id = "users", is = "users", value = "2,000" },
        { id = "rate", is = "rate", value = "9,756.1 /min" },
        { id = "response", is = "response", value = "0.30 s" },
        { id = "think", is = "think", value = "12 s" },"#,
    );
    check("interactive", &clean, &[("9,756.1", "10,756.1"), ("0.30 s", "1.30 s"), ("2,000", "2,200")]);
}

/// 400 connections that never think: 45,000/s of 8.7 ms make 391.5 requests in progress.
#[test]
fn users_without_think_time_are_nearly_always_busy() {
    let clean = record(
        r#"{ id = "users", is = "users", value = "400" },
        { id = "rate", is = "rate", value = "45,000 /s" },
        { id = "response", is = "response", value = "8.70 ms" },
        { id = "think", is = "think", value = "0 s" },"#,
    );
    let changes = [("8.70", "9.20"), ("8.70", "7.50"), ("45,000", "54,000"), ("\"400\"", "\"500\"")];
    check("interactive", &clean, &changes);
    // Users who wait for operations to fall due are idle without thinking, and waiting may be part of response times.
    let offered = "{ id = \"offered\", is = \"offered-rate\", value = \"45,000 /s\" },";
    let paced = clean.replacen("figures = [", &format!("figures = [{offered}"), 1);
    for response in ["0.50 ms", "900 ms"] {
        assert_eq!(laws(&paced.replacen("8.70 ms", response, 1)), [""; 0], "{response}");
    }
}

/// Mean 20 ms within 0 to 400 ms: σ is at most √(380 · 20) = 87.2 ms; with σ = 30 ms the percentile 90 is at most
/// 20 + 30 · √9 = 110 ms, and none of 101 operations is beyond 20 + 30 · √100 = 320 ms.
#[test]
fn deviations_are_possible_beside_mean_extremes_and_percentiles() {
    let clean = record(
        r#"{ id = "n", is = "operations", value = "101" },
        { id = "mean", is = "response", value = "20.0 ms" },
        { id = "sd", is = "response-deviation", value = "30.0 ms" },
        { id = "p90", is = "percentile-90", value = "40 ms" },
        { id = "most", is = "response-max", value = "200 ms" },"#,
    );
    check("deviation", &clean, &[("30.0 ms", "70.0 ms"), ("\"200 ms", "\"330 ms"), ("\"40 ms", "\"120 ms")]);
    // Without a mean or a deviation there is nothing to say.
    assert_eq!(laws(&clean.replacen("is = \"response\"", "is = \"service\"", 1)), [""; 0]);
}

#[test]
fn data_in_all_is_throughput_times_length_and_operations_times_size() {
    let clean = record(
        r#"{ id = "length", is = "duration", value = "10.00 s" },
        { id = "n", is = "operations", value = "20,000" },
        { id = "size", is = "size", value = "500 B" },
        { id = "transfer", is = "throughput", value = "1.00 MB/s" },
        { id = "read", is = "data", value = "10.0 MB" },"#,
    );
    check("total", &clean, &[("1.00 MB", "1.20 MB"), ("500 B", "600 B")]);
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
fn counts_are_whole_numbers() {
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
fn utilization_over_several_servers_needs_their_number() {
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
    check("offered", &clean, &[("1639", "1669")]);
    // A hundredth is for the last operations of a run.
    assert_eq!(laws(&clean.replacen("1639", "1659", 1)), [""; 0]);
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
fn rows_are_in_the_announced_order() {
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
            "[[record]]\nid = \"{}\"\ntitle = \"{subject}, {rate}\"\nsubject = \"{subject}\"\nbenchmark = \"mix\"\nfigures = [\n\
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
    // Two tests without a name need not be the same test.
    let nameless = clean.replace("benchmark = \"mix\"\n", "").replacen("2,131 /s", "2,132 /s", 1);
    assert_eq!(laws(&nameless), [""; 0]);
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

/// Reported: a percentile above the maximum was called a swap of the maximum with a share.
#[test]
fn a_broken_order_is_not_called_a_swap() {
    let columns = r#"{ id = "kind", is = "text" }, { id = "mix", is = "ratio", class = "a", per = "b" },
        { id = "p90", is = "percentile-90", unit = "s" }, { id = "most", is = "response-max", unit = "s" },"#;
    let text = table("", columns, "a | 44 % | 1.31 | 1.20\nb | 44 % | 1.32 | 1.21\nc | 12 % | 1.33 | 1.22");
    assert_eq!(laws(&text), ["percentiles"; 3]);
    assert!(findings(&text)[0].text.contains("`p90` 1.31 s is more than `most` 1.20 s"));
}

#[test]
fn a_mean_lies_within_what_its_percentiles_allow() {
    let clean = record(
        r#"{ id = "mean", is = "response", value = "30 ms" },
        { id = "p50", is = "percentile-50", value = "20 ms" },
        { id = "p90", is = "percentile-90", value = "50 ms" },
        { id = "most", is = "response-max", value = "100 ms" },"#,
    );
    // At most 0.5 · 20 + 0.4 · 50 + 0.1 · 100 = 40 ms, at least 0.4 · 20 + 0.1 · 50 = 13 ms.
    check("percentiles", &clean, &[("30 ms", "42 ms"), ("30 ms", "12 ms")]);
    for (piece, replacement) in [("30 ms", "40 ms"), ("30 ms", "13 ms")] {
        assert_eq!(laws(&clean.replacen(piece, replacement, 1)), [""; 0], "{replacement}");
    }
    // Without a maximum there is no upper bound.
    let open = clean.replacen("\"response-max\"", "\"figure\"", 1).replacen("30 ms", "900 ms", 1);
    assert_eq!(laws(&open), [""; 0]);
}

/// Reported: a negative figure ended the audit.
#[test]
fn negative_figures_are_findings() {
    let clean = record(
        r#"{ id = "queue", is = "in-progress", value = "3" },
        { id = "errors", is = "errors", value = "1" },
        { id = "change", is = "figure", value = "-3 %" },
        { id = "clock", is = "figure", value = "266 MHz" },
        { id = "unit", name = "Unit of the file system", is = "figure", value = "4096 B" },"#,
    );
    let changes = [("\"3\"", "\"-3\""), ("\"1\"", "\"−1\""), ("266", "-266"), ("4096", "-4096")];
    check("negative", &clean, &changes);
}

#[test]
fn configured_sizes_are_exact() {
    let clean = record(
        r#"{ id = "space", is = "capacity", value = "3 GiB" },
        { id = "used", is = "capacity", value = "3072 MiB", within = "space" },
        { id = "window", is = "count", value = "0x4470", equals = "12 * 1460" },
        { id = "about", is = "capacity", value = "~3 GB", equals = "used" },"#,
    );
    check("within", &clean, &[("3072", "3082")]);
    check("equals", &clean, &[("0x4470", "0x4471")]);
}

#[test]
fn totals_are_of_one_window() {
    let clean = record(
        r#"{ id = "length", is = "duration", value = "4 h" },
        { id = "sent", is = "operations", class = "sent", value = "389,821" },
        { id = "sent-rate", is = "rate", class = "sent", value = "96,298 /h" },
        { id = "read", is = "operations", class = "read", value = "964,293" },
        { id = "read-rate", is = "rate", class = "read", value = "238,211 /h" },"#,
    );
    let of_length = ["total", "total"];
    assert_eq!(laws(&clean), of_length, "both totals are of 4.048 hours");
    let changed = clean.replacen("964,293", "964,923", 1);
    assert_eq!(laws(&changed), ["total", "total", "window"], "{:#?}", findings(&changed));
    check("window", &clean.replacen("\"duration\"", "\"figure\"", 1), &[("238,211", "238,121")]);
}

#[test]
fn users_do_no_more_than_is_offered() {
    let clean = record(
        r#"{ id = "expected", is = "offered-rate", per = "users", value = "85 /8h" },
        { id = "measured", is = "rate", per = "users", value = "83.8 /8h" },"#,
    );
    check("offered", &clean, &[("83.8", "88.3")]);
}

#[test]
fn a_sum_over_several_servers_may_leave_their_number_open() {
    let summed = record(
        r#"{ id = "busy", is = "utilization", value = "7,677 %" },
        { id = "disks", is = "servers", value = "NA" },"#,
    );
    assert_eq!(laws(&summed), [""; 0]);
    assert_eq!(laws(&summed.replacen("\"servers\"", "\"count\"", 1)), ["utilization"]);
}

/// Reported: two prices of a model whose two rows say that it had three and four processors.
#[test]
fn machines_with_different_processors_have_different_prices() {
    let columns = r#"{ id = "system", is = "subject" },
        { id = "cpus-mail", is = "processors", class = "Mail" }, { id = "cpus-db", is = "processors", class = "DB" },
        { id = "users-mail", is = "users", class = "Mail" }, { id = "users-db", is = "users", class = "DB" },
        { id = "price-mail", is = "price", per = "users", class = "Mail", unit = "USD" },
        { id = "price-db", is = "price", per = "users", class = "DB", unit = "USD" },"#;
    let unlike = table("", columns, "S | 3 | 4 | 3,500 | 2,900 | 18.91 | 24.70");
    assert_eq!(laws(&unlike), [""; 0]);
    assert_eq!(laws(&unlike.replacen("3 | 4", "3 | 3", 1)), ["price"]);
}

#[test]
fn constant_columns_and_repeated_tables_are_compared() {
    let columns = r#"{ id = "system", is = "text" }, { id = "suite", is = "text", constant = true },
        { id = "clock", is = "figure", unit = "MHz" },"#;
    let clean = table("", columns, "A | W 1.1 | 200\nB | W 1.1 | 166\nC | W 1.1 | 200");
    check("constant", &clean, &[("B | W 1.1", "B | W 1.2")]);
    let again = "[[table]]\nid = \"u\"\ntitle = \"U\"\nrepeats = [{ table = \"t\" }]\ncolumns = [\
        { id = \"system\", is = \"text\" }, { id = \"clock\", is = \"figure\", unit = \"MHz\" }]\n\
        rows = \"\"\"\nB | 166\nA | 200.0\n\"\"\"\n";
    let both = clean + again;
    check(
        "repeats",
        &both,
        &[("B | 166\n", "B | 165\n"), ("A | 200.0", "D | 200.0"), ("W 1.1 | 166", "W 1.1 | 167")],
    );
}

#[test]
fn the_majority_of_rows_determines_a_value() {
    let columns = r#"{ id = "n", is = "count" }, { id = "model", is = "text" },
        { id = "clock", is = "figure", unit = "MHz", by = ["model"] },"#;
    let of = |rows: &str| findings(&table("", columns, rows));
    let blamed = of("1 | A | 300\n2 | A | 400\n3 | A | 400");
    assert_eq!((blamed.len(), blamed[0].place.as_str()), (1, "T, 1"), "the first row is the odd one");
    assert_eq!(blamed[0].text, "`clock` is 300 here and 400 in row 2, both A");
    let open = of("1 | A | 300\n2 | A | 400");
    assert_eq!((open.len(), open[0].cells.len()), (1, 2), "nobody knows which is right");
    assert_eq!(open[0].text, "`clock` is 300 in row 1 and 400 in row 2, both A");
}

#[test]
fn words_are_compared_between_tables() {
    let columns = r#"{ id = "system", is = "text" }, { id = "os", is = "text" }, { id = "when", is = "date" },
        { id = "clock", is = "figure", unit = "MHz" },"#;
    let claim = |says: &str| {
        let rows =
            "Server 330 266MHz | AIX 4.1.4.1 | May 98 | 266\nServer 704 200MHz | AIX 4.1.4.1 | Jun 98 | 200";
        let report = table("", columns, rows).replace("title = \"T\"\n\n", "title = \"T of 2 servers\"\n");
        format!("{report}[[claim]]\nid = \"c\"\ntext = \"said\"\nsays = [\"{says}\"]\n")
    };
    for says in [
        "t.os = 'AIX 4.1.4.1'",
        "'AIX 4.1' in t.os",
        "t.clock in t.system",
        "2 in t.title",
        "t[Server 330 266MHz].os = t[Server 704 200MHz].os",
        "t.when >= 'May 98'",
    ] {
        assert_eq!(laws(&claim(says)), [""; 0], "{says}: {:#?}", findings(&claim(says)));
    }
    for says in
        ["t.os = 'AIX 4.1.4'", "330 in t.system", "3 in t.title", "t.when > 'May 98'", "t.system = t.os"]
    {
        assert_eq!(laws(&claim(says)), ["claim"], "{says}");
    }
    let shown = &findings(&claim("t.os = 'AIX'"))[0].text;
    assert!(shown.ends_with("left `AIX 4.1.4.1`, right `AIX`"), "{shown}");
}
