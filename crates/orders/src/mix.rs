//! The choice of a terminal's next transaction: by weight, or from a deck of cards.

use units::{Rng, Weights};

use crate::TransactionType;
use crate::transaction::ROLLED_BACK_PERCENT;

/// Cards of the transaction types in a deck, in the order of [`TransactionType::ALL`].
const DECK: [usize; 5] = [10, 10, 1, 1, 1];

/// The number of cards in a deck.
const CARDS: usize = 23;

/// Weights of the transaction types, in percent, in the order of [`TransactionType::ALL`].
const WEIGHTS: [u64; 5] = [45, 43, 4, 4, 4];

/// The way in which transactions are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionMix {
    /// From a deck of 23 cards per terminal, without putting them back until it is empty.
    Deck,
    /// At random: 45 % new orders, 43 % payments, 4 % of each other.
    Weighted,
}

impl TransactionMix {
    /// Returns the shares of the transaction types, in the order of [`TransactionType::ALL`]; they sum to 1.
    pub fn shares(self) -> [f64; 5] {
        match self {
            TransactionMix::Deck => DECK.map(|count| count as f64 / CARDS as f64),
            TransactionMix::Weighted => WEIGHTS.map(|weight| weight as f64 / 100.0),
        }
    }

    /// Returns the shares of the kinds that results are counted by, in the order of [`crate::TransactionKind::ALL`]:
    /// new orders that are placed and those that are rolled back apart. They sum to 1.
    pub fn kind_shares(self) -> [f64; 6] {
        let [new_order, payment, order_status, delivery, stock_level] = self.shares();
        let rolled_back = new_order * f64::from(ROLLED_BACK_PERCENT) / 100.0;
        [new_order - rolled_back, rolled_back, payment, order_status, delivery, stock_level]
    }

    /// Makes the choice of a terminal.
    pub fn selector(self) -> TransactionSelector {
        match self {
            TransactionMix::Deck => TransactionSelector::Deck(CardDeck::new()),
            TransactionMix::Weighted => {
                TransactionSelector::Weighted(Weights::new(WEIGHTS).expect("the weights are above zero"))
            }
        }
    }
}

/// A terminal's choice of transactions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TransactionSelector {
    /// From a deck.
    Deck(CardDeck),
    /// By weight.
    Weighted(Weights),
}

impl TransactionSelector {
    /// Chooses the next transaction.
    pub fn choose(&mut self, rng: &mut Rng) -> TransactionType {
        match self {
            TransactionSelector::Deck(deck) => deck.draw(rng),
            TransactionSelector::Weighted(weights) => TransactionType::ALL[rng.weighted(weights)],
        }
    }
}

/// A deck of 23 cards, from which they are drawn without putting them back; an empty deck is full again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardDeck {
    cards: [TransactionType; CARDS],
    /// Cards that have not been drawn: the first so many.
    n_left: usize,
}

impl CardDeck {
    /// Makes a full deck.
    fn new() -> CardDeck {
        let counted = TransactionType::ALL.into_iter().zip(DECK);
        let mut cards = counted.flat_map(|(kind, count)| std::iter::repeat_n(kind, count));
        CardDeck {
            cards: std::array::from_fn(|_| cards.next().expect("the deck has 23 cards")),
            n_left: CARDS,
        }
    }

    /// Draws a card.
    fn draw(&mut self, rng: &mut Rng) -> TransactionType {
        if self.n_left == 0 {
            self.n_left = CARDS;
        }
        let drawn = rng.index(self.n_left);
        self.n_left -= 1;
        self.cards.swap(drawn, self.n_left);
        self.cards[self.n_left]
    }
}

#[cfg(test)]
mod tests {
    use units::StreamPurpose;

    use super::*;

    fn counts(mix: TransactionMix, n_draws: usize) -> [usize; 5] {
        let mut selector = mix.selector();
        let mut rng = Rng::new(1, StreamPurpose::User, 0);
        let mut counts = [0; 5];
        for _ in 0..n_draws {
            let chosen = selector.choose(&mut rng);
            counts[TransactionType::ALL.iter().position(|kind| *kind == chosen).unwrap()] += 1;
        }
        counts
    }

    #[test]
    fn each_deck_has_its_cards_once() {
        for n_decks in [1, 2, 50] {
            assert_eq!(counts(TransactionMix::Deck, n_decks * CARDS), [10, 10, 1, 1, 1].map(|n| n * n_decks));
        }
    }

    /// A position of the deck has a delivery in one of 23 cases: 1,000 of 23,000 decks, within four standard
    /// deviations.
    #[test]
    fn every_card_is_equally_likely_at_every_position() {
        let mut deck = CardDeck::new();
        let mut rng = Rng::new(1, StreamPurpose::User, 0);
        let mut positions = [0u32; CARDS];
        for _ in 0..23_000 {
            for count in &mut positions {
                *count += u32::from(deck.draw(&mut rng) == TransactionType::Delivery);
            }
        }
        assert!(positions.iter().all(|count| count.abs_diff(1000) < 124), "{positions:?}");
    }

    #[test]
    fn weighted_choices_follow_the_weights() {
        let counts = counts(TransactionMix::Weighted, 100_000);
        for (count, share) in counts.into_iter().zip(TransactionMix::Weighted.shares()) {
            let deviation = (1e5 * share * (1.0 - share)).sqrt();
            assert!((count as f64 - 1e5 * share).abs() < 4.0 * deviation, "{counts:?}");
        }
    }

    #[test]
    fn shares_sum_to_one() {
        for mix in [TransactionMix::Deck, TransactionMix::Weighted] {
            assert!((mix.shares().iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!((mix.kind_shares().iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }

    /// 45 % new orders, of which one in a hundred is rolled back: 44.55 % and 0.45 %.
    #[test]
    fn one_new_order_in_a_hundred_is_rolled_back() {
        let shares = TransactionMix::Weighted.kind_shares();
        let expected = [0.4455, 0.0045, 0.43, 0.04, 0.04, 0.04];
        assert!(shares.iter().zip(expected).all(|(share, expected)| (share - expected).abs() < 1e-12));
    }
}
