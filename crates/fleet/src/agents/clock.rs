//! The clock of a load agent as the controller sees it: offset and bound, from exchanges of messages.
//!
//! An exchange is sent at t0 and answered at t1 on the clock of the controller; the agent reads its own clock as a between.
//! So its offset is a − (t0 + t1) ÷ 2, within (t1 − t0) ÷ 2 either way, whatever the ways there and back took. The least round
//! trip gives the least bound. Both clocks are monotonic: neither is stepped, but a machine may stand still.
//!
//! Source: RFC 5905, section 8, without the assumption that both ways take the same time.

use units::Nanos;

/// An exchange of messages with a load agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Exchange {
    /// The time at which the controller asked, on its clock.
    pub(super) sent: Nanos,
    /// The time at which it had the answer, on its clock.
    pub(super) received: Nanos,
    /// The time in the answer, on the clock of the agent.
    pub(super) agent: Nanos,
}

/// The offset of the clock of a load agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ClockOffset {
    /// What the clock of the agent shows less what that of the controller shows at the same moment, in ns.
    pub(super) ns: i128,
    /// The largest error of it.
    pub(super) bound: Nanos,
}

impl Exchange {
    fn offset(&self) -> ClockOffset {
        let sum = i128::from(self.sent.0) + i128::from(self.received.0);
        // Rounding down moves it by half a nanosecond at most.
        let ns = i128::from(self.agent.0) - sum.div_euclid(2);
        let round_trip = self.received.saturating_sub(self.sent);
        ClockOffset { ns, bound: Nanos(round_trip.0.div_ceil(2)) }
    }
}

impl ClockOffset {
    /// Returns the offset with the least bound; `None` without exchanges.
    pub(super) fn of(exchanges: &[Exchange]) -> Option<ClockOffset> {
        exchanges.iter().map(Exchange::offset).min_by_key(|offset| offset.bound)
    }

    /// Returns the time on the clock of the agent at a time on that of the controller; not before its beginning.
    pub(super) fn on_agent(&self, time: Nanos) -> Nanos {
        let time = i128::from(time.0) + self.ns;
        Nanos(u64::try_from(time.max(0)).unwrap_or(u64::MAX))
    }

    /// Returns the time by which an offset that was found later differs.
    pub(super) fn moved_to(&self, later: &ClockOffset) -> Nanos {
        Nanos(u64::try_from((later.ns - self.ns).unsigned_abs()).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn exchange(sent: u64, received: u64, agent: u64) -> Exchange {
        Exchange { sent: Nanos(sent), received: Nanos(received), agent: Nanos(agent) }
    }

    /// By hand: asked at 100, answered at 140, and the agent said 1,020: its clock is ahead by 900 ± 20. The other took 200.
    #[test]
    fn the_least_round_trip_gives_offset_and_bound() {
        let exchanges = [exchange(200, 400, 1290), exchange(100, 140, 1020)];
        let offset = ClockOffset::of(&exchanges).unwrap();
        assert_eq!(offset, ClockOffset { ns: 900, bound: Nanos(20) });
        assert_eq!(offset.on_agent(Nanos(5)), Nanos(905));
        let behind = ClockOffset::of(&[exchange(1000, 1001, 10)]).unwrap();
        assert_eq!(behind, ClockOffset { ns: -990, bound: Nanos(1) });
        assert_eq!(behind.on_agent(Nanos(5)), Nanos::ZERO, "before the agent began");
        assert_eq!(offset.moved_to(&behind), Nanos(1890));
        assert_eq!(ClockOffset::of(&[]), None);
    }

    proptest! {
        /// Goal: the bound holds. Method: a true offset, and ways that take any time.
        #[test]
        fn the_true_offset_is_within_the_bound(
            sent in 0..1_000_000_u64,
            there in 0..10_000_u64,
            back in 0..10_000_u64,
            ahead in 0..1_000_000_u64,
        ) {
            let found = exchange(sent, sent + there + back, sent + there + ahead).offset();
            prop_assert!((found.ns - i128::from(ahead)).unsigned_abs() <= u128::from(found.bound.0));
        }
    }
}
