//! From records to verdicts: by hand, published mistakes of load tools, and recorded cases.

mod record;

mod by_hand;
mod faulty_records;
mod recorded_cases;
