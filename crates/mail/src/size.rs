//! The sizes of messages.

use units::{Rng, Weights};

/// The least number of bytes of a body that is not empty: those of a line end.
pub const BODY_BYTES_MIN: u32 = 2;

/// The size of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MessageSize {
    /// The bytes of the text, line ends included; at least [`BODY_BYTES_MIN`].
    pub body: u32,
    /// The bytes of the attached file, 0 for none; it travels in four thirds of them.
    pub attachment: u32,
}

impl MessageSize {
    /// Makes the size of a message without attachment.
    pub const fn text(body: u32) -> MessageSize {
        MessageSize { body, attachment: 0 }
    }

    /// Returns the bytes of text and attached file.
    pub fn bytes(&self) -> u64 {
        u64::from(self.body) + u64::from(self.attachment)
    }
}

/// A part of a profile: a size and its share, in thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeShare {
    /// The size.
    pub size: MessageSize,
    /// The share of the messages that have it, in thousandths.
    pub thousandths: u32,
}

/// A distribution of the sizes of messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SizeProfile {
    shares: Vec<SizeShare>,
    weights: Weights,
}

/// The profile of sent messages of the R6 mail script.
///
/// Source: HCL Domino administration help, workload R6Mail, send-message profile.
pub const R6_SENT: [SizeShare; 6] = [
    share(500, 0, 100),
    share(10_000, 0, 300),
    share(50_000, 0, 400),
    share(50_000, 50_000, 100),
    share(150_000, 0, 95),
    share(1_000, 10_000_000, 5),
];

const fn share(body: u32, attachment: u32, thousandths: u32) -> SizeShare {
    SizeShare { size: MessageSize { body, attachment }, thousandths }
}

impl SizeProfile {
    /// Makes a profile. `None` if all shares are zero, or a body is smaller than [`BODY_BYTES_MIN`].
    pub fn new(shares: &[SizeShare]) -> Option<SizeProfile> {
        if shares.iter().any(|share| share.size.body < BODY_BYTES_MIN) {
            return None;
        }
        let weights = Weights::new(shares.iter().map(|share| u64::from(share.thousandths)))?;
        Some(SizeProfile { shares: shares.to_vec(), weights })
    }

    /// Makes a profile of one size; a body has at least [`BODY_BYTES_MIN`].
    pub fn fixed(size: MessageSize) -> SizeProfile {
        let size = MessageSize { body: size.body.max(BODY_BYTES_MIN), ..size };
        let shares = vec![SizeShare { size, thousandths: 1000 }];
        let weights = Weights::new([1000]).expect("it is above zero");
        SizeProfile { shares, weights }
    }

    /// Returns the mean number of bytes of text and attached file.
    pub fn mean_bytes(&self) -> f64 {
        let sum: f64 =
            self.shares.iter().map(|share| share.size.bytes() as f64 * f64::from(share.thousandths)).sum();
        sum / self.weights.total() as f64
    }

    /// Returns the parts of the profile.
    pub fn shares(&self) -> &[SizeShare] {
        &self.shares
    }

    /// Draws the size of a message.
    pub fn draw(&self, rng: &mut Rng) -> MessageSize {
        self.shares[rng.weighted(&self.weights)].size
    }
}

#[cfg(test)]
mod tests {
    use units::StreamPurpose;

    use super::*;

    /// Golden check 12: 0.1·500 + 0.3·10,000 + 0.4·50,000 + 0.1·100,000 + 0.095·150,000 + 0.005·10,001,000 = 97,305.
    #[test]
    fn the_sent_messages_of_r6_have_97305_bytes_in_the_mean() {
        assert_eq!(R6_SENT.iter().map(|share| share.thousandths).sum::<u32>(), 1000);
        assert_eq!(SizeProfile::new(&R6_SENT).unwrap().mean_bytes(), 97_305.0);
    }

    #[test]
    fn sizes_are_drawn_as_often_as_the_profile_says() {
        let profile = SizeProfile::new(&R6_SENT).unwrap();
        let mut rng = Rng::new(1, StreamPurpose::Data, 0);
        let mut counts = [0_u32; 6];
        for _ in 0..100_000 {
            let size = profile.draw(&mut rng);
            let index = profile.shares().iter().position(|share| share.size == size).unwrap();
            counts[index] += 1;
        }
        for (count, share) in counts.into_iter().zip(R6_SENT) {
            let p = f64::from(share.thousandths) / 1000.0;
            // Four deviations of a binomial count with n = 100,000.
            assert!(
                (f64::from(count) - 1e5 * p).abs() < 4.0 * (1e5 * p * (1.0 - p)).sqrt(),
                "{share:?}: {count}"
            );
        }
    }

    #[test]
    fn profiles_without_messages_are_refused() {
        assert_eq!(SizeProfile::new(&[]), None);
        assert_eq!(SizeProfile::new(&[share(1000, 0, 0)]), None);
        assert_eq!(SizeProfile::new(&[share(1, 0, 10)]), None);
        assert_eq!(SizeProfile::fixed(MessageSize::text(0)).mean_bytes(), 2.0);
    }
}
