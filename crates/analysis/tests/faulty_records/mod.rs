//! Faulty records: published mistakes of load tools, one file each.
//!
//! Every file shows that correct data pass and that the mistake is caught by the named rule.

mod tamper;

mod error_counters;
mod few_samples;
mod few_users;
mod full_storage;
mod hidden_stall;
mod idle_gap;
mod impatient_users;
mod invalid_parts;
mod missing_agent;
mod no_data;
mod other_programs;
mod owing_users;
mod percentile_is_mean;
mod phase_boundary_storm;
mod saturated_generator;
mod score_out_of_scale;
mod server_times;
mod shared_cpus;
mod shifted_mix;
mod slow_deliveries;
mod slow_kind;
mod too_many_values;
mod users_over_response_time;
mod wrong_run_length;

use crate::record::{RecordedRun, assert_valid, ms};

#[test]
fn correct_data_pass() {
    assert_valid(&RecordedRun::closed().analyze());
    assert_valid(&RecordedRun::open(ms(0)).analyze());
}
