//! The nouns of a run: benchmark, workload, load plan, records; plan and slice.
