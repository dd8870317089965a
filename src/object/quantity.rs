//! `Quantity`: an amount of a resource, as the API writes it.

use std::cmp::Ordering;

/// An exact decimal number: `digits` without leading and trailing zeros, times ten to the power of
/// `exponent`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

impl Decimal {
    /// Parses a number; `None` for any other text.
    pub(crate) fn parse(text: &str) -> Option<Decimal> {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = [whole, fraction].concat();
        if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let digits = all.trim_start_matches('0');
        let significant = digits.trim_end_matches('0');
        let zeros = i64::try_from(digits.len() - significant.len()).ok()?;
        let shift = zeros.checked_sub(i64::try_from(fraction.len()).ok()?)?;
        let zero = significant.is_empty();
        Some(Decimal {
            negative: negative && !zero,
            digits: significant.to_owned(),
            exponent: if zero {
                0
            } else {
                exponent.checked_add(shift)?
            },
        })
    }
}

/// An amount of a resource: `500m`, `2Gi`
/// (<https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/>).
#[derive(Debug)]
pub struct Quantity {
    number: Decimal,
    /// The exponent of its power of two.
    binary: u32,
}

impl Quantity {
    /// About how much it is, for sums.
    pub fn approximate(&self) -> f64 {
        let Decimal {
            negative,
            digits,
            exponent,
        } = &self.number;
        let sign = if *negative { "-" } else { "" };
        let number: f64 = format!("{sign}0{digits}e{exponent}").parse().unwrap_or(0.0);
        number * f64::from(self.binary).exp2()
    }

    /// Parses a quantity; `None` for any other text.
    pub fn parse(text: &str) -> Option<Quantity> {
        let end = text
            .find(|char: char| !matches!(char, '0'..='9' | '.' | '+' | '-'))
            .unwrap_or(text.len());
        let (number, suffix) = text.split_at(end);
        let (decimal, binary) = match suffix {
            "" => (0, 0),
            "n" => (-9, 0),
            "u" => (-6, 0),
            "m" => (-3, 0),
            "k" => (3, 0),
            "M" => (6, 0),
            "G" => (9, 0),
            "T" => (12, 0),
            "P" => (15, 0),
            "E" => (18, 0),
            "Ki" => (0, 10),
            "Mi" => (0, 20),
            "Gi" => (0, 30),
            "Ti" => (0, 40),
            "Pi" => (0, 50),
            "Ei" => (0, 60),
            _ => {
                let number = Decimal::parse(text)?;
                return Some(Quantity { number, binary: 0 });
            }
        };
        let mut number = Decimal::parse(number)?;
        if !number.digits.is_empty() {
            number.exponent = number.exponent.checked_add(decimal)?;
        }
        Some(Quantity { number, binary })
    }

    /// Whether both are exactly the same amount. Amounts too large for 128 bits are compared by their
    /// spelling.
    pub fn equals(&self, other: &Quantity) -> bool {
        let exponent = self.number.exponent.min(other.number.exponent);
        match (self.scaled(exponent), other.scaled(exponent)) {
            (Some(a), Some(b)) => a == b,
            _ => self.binary == other.binary && self.number == other.number,
        }
    }

    /// Which of the amounts is greater; `None` if one is too large for 128 bits.
    pub fn compare(&self, other: &Quantity) -> Option<Ordering> {
        let exponent = self.number.exponent.min(other.number.exponent);
        Some(self.scaled(exponent)?.cmp(&other.scaled(exponent)?))
    }

    /// The amount in units of ten to the power of `exponent`.
    fn scaled(&self, exponent: i64) -> Option<i128> {
        if self.number.digits.is_empty() {
            return Some(0);
        }
        let digits: i128 = self.number.digits.parse().ok()?;
        let shift = u32::try_from(self.number.exponent.checked_sub(exponent)?).ok()?;
        let amount = digits
            .checked_mul(10_i128.checked_pow(shift)?)?
            .checked_mul(1 << self.binary)?;
        Some(if self.number.negative {
            -amount
        } else {
            amount
        })
    }

    /// What is left of this amount after another one, at least 0: `256Mi`, `500m`. `None` for amounts that are
    /// too large or too small.
    pub fn minus(&self, other: &Quantity) -> Option<String> {
        const MILLI: i64 = -3;
        let left = self
            .scaled(MILLI)?
            .checked_sub(other.scaled(MILLI)?)?
            .max(0);
        if left % 1000 != 0 {
            return Some(format!("{left}m"));
        }
        let left = left / 1000;
        if self.binary == 0 && other.binary == 0 || left == 0 {
            return Some(left.to_string());
        }
        let units = [
            (60, "Ei"),
            (50, "Pi"),
            (40, "Ti"),
            (30, "Gi"),
            (20, "Mi"),
            (10, "Ki"),
        ];
        let unit = units.iter().find(|(power, _)| left % (1 << power) == 0);
        Some(match unit {
            Some((power, unit)) => format!("{}{unit}", left >> power),
            None => left.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_use_about_the_amount() {
        for (text, amount) in [
            ("250m", 0.25),
            ("1.5", 1.5),
            ("2Ki", 2048.0),
            ("1e3", 1000.0),
            ("-0.5k", -500.0),
            ("0", 0.0),
        ] {
            let quantity = Quantity::parse(text).expect("a quantity");
            let difference = quantity.approximate() - amount;
            assert!(difference.abs() < 1e-9, "{text}");
        }
    }

    #[test]
    fn the_rest_has_the_unit_of_the_amounts() {
        let check = |amount: &str, other: &str, rest: &str| {
            let [amount, other] =
                [amount, other].map(|text| Quantity::parse(text).expect("a quantity"));
            assert_eq!(amount.minus(&other).as_deref(), Some(rest));
        };
        check("512Mi", "256Mi", "256Mi");
        check("1Gi", "512Mi", "512Mi");
        check("1Gi", "1Gi", "0");
        check("2", "500m", "1500m");
        check("10", "10", "0");
        check("10", "12", "0");
        check("1Gi", "1k", "1073740824");
    }
}
