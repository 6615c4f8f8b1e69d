//! The museum of wrong numbers: published mistakes of load tools, one file each.
//!
//! Every exhibit shows that right data pass and that the mistake is caught, by the named rule.

mod record;
mod tamper;

mod error_counters;
mod few_samples;
mod hidden_stall;
mod idle_gap;
mod impatient_users;
mod invalid_parts;
mod missing_agent;
mod no_data;
mod percentile_is_mean;
mod phase_boundary_storm;
mod saturated_generator;
mod shifted_mix;
mod users_over_response_time;
mod wrong_run_length;

#[test]
fn right_data_pass() {
    record::assert_valid(&record::Scene::closed().analyze());
    record::assert_valid(&record::Scene::open(record::ms(0)).analyze());
}
