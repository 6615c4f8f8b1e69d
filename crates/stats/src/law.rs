//! Operational laws, which hold for any server whatever its distributions: used to check results, not to make them.

use units::Ratio;

/// Bits in WebStone's megabit: 2²⁰.
///
/// Source: WebStone's result code; the rows of the Apple report agree with no other unit.
pub const MBIT: f64 = 1_048_576.0;

/// Converts WebStone's megabits ([`MBIT`]) to megabits of 10⁶ bits, in which reports and exports are.
pub fn decimal_megabits(webstone: f64) -> f64 {
    webstone * MBIT / 1e6
}

/// Payload that one T1 line carries, in WebStone's megabits per second, after about 10 % for the wire.
///
/// Source: the Apple WebStone report's rule of thumb, 1.4 · 1.1 = 1.54 Mbit/s. It mixes 2²⁰ and 10⁶
/// bits; in one unit a line would carry 5 % less.
const T1_PAYLOAD: f64 = 1.4;

/// Returns the mean number of operations in progress (Little's load factor): L = S ÷ T.
///
/// S is the sum of response times (s) of operations completed in a phase, T its length (s).
/// Dimensionless. `None` if T is not above zero.
/// With users that never think, L below the number of users means time lost to errors or lateness.
///
/// Source: Little's law, L = λW with λ = n ÷ T and W = S ÷ n; reported by WebStone under this name.
pub fn load_factor(sum_response: f64, length: f64) -> Option<f64> {
    (0.0 < length).then(|| sum_response / length)
}

/// Returns the gap of a closed loop in Little's law: |N − X·(R + Z)| ÷ N.
///
/// N users, X rate (operations/s), R mean response time (s), Z mean think time (s).
/// `None` if there are no users.
///
/// Source: Little's law for users and server together, as each user is either in the server or thinking.
pub fn little_gap(users: f64, rate: f64, response: f64, think: f64) -> Option<Ratio> {
    (0.0 < users).then(|| Ratio((users - rate * (response + think)).abs() / users))
}

/// Returns the mean response time (s) that a rate implies: R = N ÷ X − Z.
///
/// N users, X rate (operations/s), Z mean think time (s). `None` if the rate is not above zero.
///
/// Source: the interactive response time law (Denning and Buzen 1978, The Operational Analysis of
/// Queueing Network Models).
pub fn interactive_response(users: f64, rate: f64, think: f64) -> Option<f64> {
    (0.0 < rate).then(|| users / rate - think)
}

/// Returns the rate (operations/s) that N users can offer at most: X ≤ N ÷ (R + Z).
///
/// R is the smallest response time (s; zero for a bound that no server can pass), Z the mean
/// think time (s). `None` if both are zero: then nothing limits the users.
///
/// Source: the interactive response time law, solved for X.
pub fn interactive_bound(users: f64, response: f64, think: f64) -> Option<f64> {
    (0.0 < response + think).then(|| users / (response + think))
}

/// Returns the harmonic mean n ÷ Σ(1/x), in the unit of the values: the mean of rates over equal work.
///
/// `None` if there are no values or one is not above zero.
pub fn harmonic_mean(values: &[f64]) -> Option<f64> {
    weighted_harmonic_mean(values.iter().map(|value| (1.0, *value)))
}

/// Returns the weighted harmonic mean Σw ÷ Σ(w/x) of pairs (w, x): the mean of rates x over work w.
///
/// `None` if there are no pairs, a weight is below zero, all are zero, or a value is not above zero.
pub fn weighted_harmonic_mean(pairs: impl IntoIterator<Item = (f64, f64)>) -> Option<f64> {
    let mut work = 0.0;
    let mut time = 0.0;
    for (weight, value) in pairs {
        if !(0.0 <= weight && 0.0 < value) {
            return None;
        }
        work += weight;
        time += weight / value;
    }
    (0.0 < time).then(|| work / time)
}

/// Returns the rate of N clients of a closed loop by their own sums, N·Σn_c ÷ Σt_c (operations/s).
///
/// `clients` is N, `operations` Σn_c, `seconds` Σt_c, where client c completed n_c operations in t_c seconds of response
/// time, without think times. It is N times the harmonic mean of the clients' rates n_c ÷ t_c, weighted by n_c, and equal to
/// the sum of these rates where all t_c are equal. `None` if the operations took no time.
///
/// Source: ServerBench 4, where a client's figure is its transactions ÷ the time that they took, and the server's the
/// harmonic mean of its clients'; the weights are ours, because without them clients with little work would count as much.
pub fn rate_of_clients(clients: f64, operations: f64, seconds: f64) -> Option<f64> {
    (0.0 < seconds).then(|| clients * operations / seconds)
}

/// Returns the number of T1 lines that a throughput fills, by the rule of thumb of the Apple WebStone report.
///
/// `throughput` in WebStone's megabits ([`MBIT`]) per second; one line counts as 1.4 of them.
pub fn t1_lines(throughput: f64) -> f64 {
    throughput / T1_PAYLOAD
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn close(found: Option<f64>, expected: f64, within: f64) {
        let found = found.expect("a value");
        assert!((found - expected).abs() <= within, "found {found}, expected {expected}");
    }

    /// Golden checks G8 and G9: rate · latency against the load factor that the Apple report printed.
    /// S = rate · T · latency, so that S ÷ T = rate · latency. Rounding of the printed columns allows
    /// 0.00005·rate + 0.005·latency + 0.01 (G10).
    #[test]
    fn the_load_factor_of_published_rows_is_rate_times_latency() {
        let webstone_1_1 = 300.0;
        let webstone_2_0_1 = 600.0;
        for (length, rate, latency, product, printed) in [
            (webstone_1_1, 285.12, 0.0557, 15.881, 15.88),
            (webstone_1_1, 284.24, 0.2199, 62.504, 62.50),
            (webstone_1_1, 283.37, 0.4509, 127.772, 127.77),
            (webstone_2_0_1, 449.16, 0.3979, 178.721, 178.71),
            (webstone_2_0_1, 434.46, 0.3094, 134.422, 134.42),
            (webstone_2_0_1, 298.31, 0.6030, 179.881, 179.88),
        ] {
            let found = load_factor(rate * length * latency, length);
            close(found, product, 0.0005);
            close(found, printed, 0.00005 * rate + 0.005 * latency + 0.01);
        }
        assert_eq!(load_factor(1.0, 0.0), None);
    }

    /// By hand: 100 users, 200/s, R 0.2 s, Z 0.27 s: 200 · 0.47 = 94, six of a hundred missing.
    #[test]
    fn the_gap_is_the_share_of_missing_users() {
        close(little_gap(100.0, 200.0, 0.2, 0.27).map(|gap| gap.0), 0.06, 1e-12);
        close(little_gap(16.0, 285.12, 0.0557, 0.0).map(|gap| gap.0), (16.0 - 15.881) / 16.0, 1e-4);
        assert_eq!(little_gap(0.0, 1.0, 1.0, 0.0), None);
    }

    /// Golden check G26: N ÷ Z for think time 0.27 s.
    #[test]
    fn users_that_think_bound_the_rate() {
        for (users, bound) in [(100.0, 370.37), (500.0, 1851.85), (1000.0, 3703.70)] {
            close(interactive_bound(users, 0.0, 0.27), bound, 0.005);
        }
        close(interactive_response(100.0, 200.0, 0.27), 0.23, 1e-12);
        assert_eq!((interactive_bound(5.0, 0.0, 0.0), interactive_response(5.0, 0.0, 0.0)), (None, None));
    }

    /// The check of the application server's specification, 9.6: 100, 200 and 300 operations in 10 s each.
    #[test]
    fn the_rate_of_clients_is_their_harmonic_mean_weighted_by_operations() {
        let operations = [100.0, 200.0, 300.0];
        let seconds = 10.0;
        close(rate_of_clients(3.0, 600.0, 30.0), 60.0, 1e-12);
        let rates = operations.map(|n| n / seconds);
        let weighted = weighted_harmonic_mean(operations.into_iter().zip(rates)).map(|mean| 3.0 * mean);
        close(weighted, 60.0, 1e-12);
        assert_eq!(rates.iter().sum::<f64>(), 60.0);
        // Without weights it is another figure, which must not be used.
        close(harmonic_mean(&rates).map(|mean| 3.0 * mean), 49.090_909, 1e-6);
        // Clients of different speed: 10 in 1 s and 10 in 4 s.
        close(rate_of_clients(2.0, 20.0, 5.0), 8.0, 1e-12);
        assert_eq!(rate_of_clients(2.0, 0.0, 0.0), None);
    }

    /// By hand: 40 and 60 over equal work: 2 ÷ (1/40 + 1/60) = 48. The others are golden checks of the
    /// specification of ServerBench: 3 ÷ (7/400) = 1200/7; 3 ÷ (21/16) = 16/7; 1 ÷ (0.005 + 0.0015 + 0.0005) = 1000/7;
    /// 14 ÷ (4/250 + 4/125 + 4/500 + 1/50 + 1/40) = 14 ÷ 0.101.
    #[test]
    fn harmonic_means_by_hand() {
        close(harmonic_mean(&[40.0, 60.0]), 48.0, 1e-12);
        close(harmonic_mean(&[100.0, 200.0, 400.0]), 171.428_571, 1e-6);
        close(harmonic_mean(&[1.0, 4.0, 16.0]), 2.285_714, 1e-6);
        close(weighted_harmonic_mean([(0.5, 100.0), (0.3, 200.0), (0.2, 400.0)]), 142.857_143, 1e-6);
        let groups = [(4.0, 250.0), (4.0, 125.0), (4.0, 500.0), (1.0, 50.0), (1.0, 40.0)];
        close(weighted_harmonic_mean(groups), 138.613_861, 1e-6);
        assert_eq!((harmonic_mean(&[]), harmonic_mean(&[1.0, 0.0])), (None, None));
        assert_eq!(
            (weighted_harmonic_mean([(0.0, 5.0)]), weighted_harmonic_mean([(1.0, f64::NAN)])),
            (None, None)
        );
    }

    /// Golden check G13, and G14: in bits of one kind 1.4 · 1.1 megabits are 1.615 million bits, above a T1.
    #[test]
    fn t1_lines_follow_the_reports_rule_of_thumb() {
        close(Some(t1_lines(65.61)), 46.9, 0.05);
        close(Some(t1_lines(11.81)), 8.4, 0.05);
        close(Some(T1_PAYLOAD * 1.1 * MBIT), 1.615e6, 0.5e3);
    }
}
