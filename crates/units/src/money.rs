//! Amounts of money: whole numbers of the smallest unit of one currency, never binary fractions.

use std::fmt;

use crate::Decimal;

/// Number of decimals of currencies that do not have two. Source: ISO 4217, list one.
const DECIMALS: &[(u32, &[&str])] = &[
    (
        0,
        &[
            "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV",
            "XAF", "XOF", "XPF",
        ],
    ),
    (3, &["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"]),
    (4, &["CLF", "UYW"]),
];

/// The fewest significant digits of a price per unit, so that `0.0416` is not printed as `0.04`.
const SIGNIFICANT_MIN: i32 = 3;

/// A currency, by its code of three capital letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Currency([u8; 3]);

impl Currency {
    /// Reads a code such as `USD`. Codes that ISO 4217 does not have (any more) are accepted too, with two decimals.
    pub fn parse(code: &str) -> Option<Currency> {
        let code: [u8; 3] = code.as_bytes().try_into().ok()?;
        code.iter().all(u8::is_ascii_uppercase).then_some(Currency(code))
    }

    /// Returns the code.
    pub fn code(&self) -> &str {
        std::str::from_utf8(&self.0).expect("a code is three letters")
    }

    /// Returns how many decimals an amount has.
    pub fn decimals(&self) -> u32 {
        let has = |(_, codes): &&(u32, &[&str])| codes.contains(&self.code());
        DECIMALS.iter().find(has).map_or(2, |(decimals, _)| *decimals)
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// An amount of money in one currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Money {
    /// The amount in the smallest unit of the currency, such as cents.
    pub minor: i64,
    /// The currency.
    pub currency: Currency,
}

impl Money {
    /// Returns zero in a currency.
    pub fn zero(currency: Currency) -> Money {
        Money { minor: 0, currency }
    }

    /// Makes an amount of an exact number, rounded to the smallest unit, halves up; `None` if it is too large.
    pub fn rounded(amount: Decimal, currency: Currency) -> Option<Money> {
        let minor = amount.rounded(currency.decimals())?.try_into().ok()?;
        Some(Money { minor, currency })
    }

    /// Returns the sum; `None` if the currencies differ or it is too large.
    pub fn checked_add(self, other: Money) -> Option<Money> {
        let minor = self.minor.checked_add(other.minor)?;
        (self.currency == other.currency).then_some(Money { minor, ..self })
    }

    /// Returns the price of each of `n`; `None` unless `n` is a number above zero.
    pub fn per(self, n: f64) -> Option<UnitPrice> {
        let value = self.as_f64() / n;
        (0.0 < n && value.is_finite()).then_some(UnitPrice { value, currency: self.currency })
    }

    /// Returns the nearest binary fraction of whole units of the currency: for ratios, never for sums.
    pub fn as_f64(self) -> f64 {
        self.minor as f64 / 10f64.powi(self.currency.decimals() as i32)
    }

    /// Returns the digits with all decimals, without groups and currency: `29581.00`.
    pub fn digits(self) -> String {
        let sign = if self.minor < 0 { "-" } else { "" };
        let decimals = self.currency.decimals();
        let unit = 10u64.pow(decimals);
        let whole = self.minor.unsigned_abs() / unit;
        let fraction = self.minor.unsigned_abs() % unit;
        match decimals {
            0 => format!("{sign}{whole}"),
            _ => format!("{sign}{whole}.{fraction:0width$}", width = decimals as usize),
        }
    }
}

impl fmt::Display for Money {
    /// Writes the amount with its currency and in groups of three digits: `29,581.00 USD`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", with_thousands_separators(&self.digits()), self.currency)
    }
}

/// A price for one of something: a ratio, to be printed and compared, not to be added.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnitPrice {
    /// The price in whole units of the currency.
    pub value: f64,
    /// The currency.
    pub currency: Currency,
}

impl UnitPrice {
    /// Returns the digits as they are printed, without groups and currency: the decimals of the currency, and more
    /// where a small price needs them for three significant digits: `13.45`, `0.0416`.
    pub fn digits(self) -> String {
        let least = self.currency.decimals() as i32;
        let magnitude = if 0.0 < self.value { self.value.log10().floor() as i32 } else { 0 };
        let decimals = (SIGNIFICANT_MIN - 1 - magnitude).clamp(least, 12.max(least)) as usize;
        format!("{:.decimals$}", self.value)
    }
}

impl fmt::Display for UnitPrice {
    /// Writes the price with its currency and in groups of three digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", with_thousands_separators(&self.digits()), self.currency)
    }
}

/// Inserts commas between groups of three digits before the point.
fn with_thousands_separators(number: &str) -> String {
    let (sign, digits) = number.strip_prefix('-').map_or(("", number), |digits| ("-", digits));
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut text = sign.to_owned();
    for (index, digit) in whole.chars().enumerate() {
        if 0 < index && (whole.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    fn money(amount: &str, code: &str) -> Money {
        Money::rounded(Decimal::parse(amount).unwrap(), Currency::parse(code).unwrap()).unwrap()
    }

    #[test]
    fn amounts_are_printed_with_groups_and_the_decimals_of_their_currency() {
        for (amount, code, text) in [
            ("29581", "USD", "29,581.00 USD"),
            ("0.05", "EUR", "0.05 EUR"),
            ("999.999", "EUR", "1,000.00 EUR"),
            ("1234567.5", "JPY", "1,234,568 JPY"),
            ("1.2345", "KWD", "1.235 KWD"),
            ("7.5", "DEM", "7.50 DEM"),
        ] {
            assert_eq!(money(amount, code).to_string(), text);
        }
        let refund = Money { minor: -123_456, ..money("0", "USD") };
        assert_eq!(refund.to_string(), "-1,234.56 USD");
    }

    #[test]
    fn a_currency_is_three_capital_letters() {
        assert_eq!(Currency::parse("CHF").map(|currency| currency.to_string()).as_deref(), Some("CHF"));
        for code in ["", "US", "usd", "USDT", "U$D", "€"] {
            assert_eq!(Currency::parse(code), None, "{code}");
        }
    }

    #[test]
    fn two_currencies_are_never_added() {
        assert_eq!(money("1.10", "USD").checked_add(money("2.20", "USD")), Some(money("3.30", "USD")));
        assert_eq!(money("1", "USD").checked_add(money("1", "EUR")), None);
        let most = Money { minor: i64::MAX, ..money("0", "USD") };
        assert_eq!(most.checked_add(money("0.01", "USD")), None);
        assert_eq!(Money::rounded(Decimal::parse("999999999999999999").unwrap(), most.currency), None);
    }

    /// A thousand items at 0.10 are 100, and not 99.9999999999986.
    #[test]
    fn sums_do_not_drift() {
        let dime = money("0.10", "USD");
        let sum = (0..1_000).try_fold(Money::zero(dime.currency), |sum, _| sum.checked_add(dime));
        assert_eq!(sum, Some(money("100", "USD")));
    }

    /// The prices per user and per NotesMark of the two systems of the NotesBench report, as printed there.
    #[test]
    fn prices_per_user_and_per_notesmark_are_those_of_the_published_report() {
        for (price, divisors, printed) in [
            ("29581", [2_200.0, 2_917.0, 1_700.0, 3_914.0], ["13.45", "10.14", "17.40", "7.56"]),
            ("19454", [1_795.0, 2_356.0, 1_400.0, 3_203.0], ["10.84", "8.26", "13.90", "6.07"]),
        ] {
            let price = money(price, "USD");
            assert_eq!(divisors.map(|n| price.per(n).unwrap().digits()), printed);
        }
    }

    #[test]
    fn small_prices_keep_three_digits() {
        let per = |n: f64| money("1", "USD").per(n).unwrap().to_string();
        assert_eq!([per(8.0), per(24.0), per(3_000_000.0)], ["0.125 USD", "0.0417 USD", "0.000000333 USD"]);
        assert_eq!(money("12345678", "USD").per(1.0).unwrap().to_string(), "12,345,678.00 USD");
        assert_eq!(money("1000", "JPY").per(3.0).unwrap().to_string(), "333 JPY");
        assert_eq!(money("0", "USD").per(3.0).unwrap().to_string(), "0.00 USD");
        for n in [0.0, -1.0, f64::NAN] {
            assert_eq!(money("1", "USD").per(n), None);
        }
    }
}
