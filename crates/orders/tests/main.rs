//! The order-entry workload: what it draws, its rows, and its frames.

mod distributions;
mod inputs;
mod population;
mod wire;
