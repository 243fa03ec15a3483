//! Arithmetic in parentheses, which fio accepts for any number.

/// Converts a number with a suffix.
type Scale<'a> = &'a dyn Fn(u64, &str) -> Result<u64, String>;

/// Maximum nesting of parentheses.
const DEPTH_MAX: usize = 32;

/// Evaluates an expression of `+ - * / % ^`, numbers with suffixes, and parentheses.
///
/// # Errors
/// A description of the error.
pub fn evaluate(text: &str, scale: Scale<'_>) -> Result<u64, String> {
    let mut parser = Parser {
        rest: text,
        scale,
        depth: 0,
    };
    let value = parser.sum().map_err(|why| format!("{text}: {why}"))?;
    match parser.rest.trim() {
        "" => {}
        rest => return Err(format!("{text}: {rest:?} does not belong there")),
    }
    if !(0.0..=u64::MAX as f64).contains(&value) {
        return Err(format!(
            "{text}: the result is {value}, which is not a size"
        ));
    }
    Ok(value as u64)
}

struct Parser<'a> {
    rest: &'a str,
    scale: Scale<'a>,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn take(&mut self, symbol: char) -> bool {
        let rest = self.rest.trim_start();
        match rest.strip_prefix(symbol) {
            Some(behind) => {
                self.rest = behind;
                true
            }
            None => false,
        }
    }

    fn sum(&mut self) -> Result<f64, String> {
        let mut value = self.product()?;
        loop {
            if self.take('+') {
                value += self.product()?;
            } else if self.take('-') {
                value -= self.product()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Result<f64, String> {
        let mut value = self.power()?;
        loop {
            if self.take('*') {
                value *= self.power()?;
            } else if self.take('/') {
                value /= nonzero(self.power()?)?;
            } else if self.take('%') {
                value %= nonzero(self.power()?)?;
            } else {
                return Ok(value);
            }
        }
    }

    fn power(&mut self) -> Result<f64, String> {
        let value = self.atom()?;
        if self.take('^') {
            self.deeper()?;
            let exponent = self.power()?;
            self.depth -= 1;
            return Ok(value.powf(exponent));
        }
        Ok(value)
    }

    fn atom(&mut self) -> Result<f64, String> {
        if self.take('(') {
            self.deeper()?;
            let value = self.sum()?;
            if !self.take(')') {
                return Err("a closing parenthesis is missing".into());
            }
            self.depth -= 1;
            return match self.letters() {
                "" => Ok(value),
                unit => Ok(value * (self.scale)(1, unit)? as f64),
            };
        }
        let rest = self.rest.trim_start();
        let digits = rest.find(|c: char| !c.is_ascii_digit());
        let (number, behind) = rest.split_at(digits.unwrap_or(rest.len()));
        let number = number
            .parse()
            .map_err(|_| format!("a number is missing before {behind:?}"))?;
        self.rest = behind;
        let suffix = self.letters();
        Ok((self.scale)(number, suffix)? as f64)
    }

    /// Letters that follow directly: a unit.
    fn letters(&mut self) -> &'a str {
        let rest = self.rest;
        let end = rest.find(|c: char| !c.is_ascii_alphabetic() && c != '.');
        let (letters, behind) = rest.split_at(end.unwrap_or(rest.len()));
        self.rest = behind;
        letters
    }

    fn deeper(&mut self) -> Result<(), String> {
        self.depth += 1;
        match self.depth > DEPTH_MAX {
            true => Err(format!("more than {DEPTH_MAX} parentheses deep")),
            false => Ok(()),
        }
    }
}

fn nonzero(value: f64) -> Result<f64, String> {
    match value {
        0.0 => Err("a division by zero".into()),
        value => Ok(value),
    }
}
