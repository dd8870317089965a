//! `ToldOutage`: what the user was told of an outage of a receiver.

/// The most causes of one outage that are told. Texts with times in them could go on without end.
const MOST: usize = 5;

/// What the user was told of an outage. A cause that comes after another one is news, too.
#[derive(Clone, Debug, Default)]
pub struct ToldOutage {
    causes: Vec<String>,
}

impl ToldOutage {
    /// Whether this cause is to be told.
    pub fn is_news(&mut self, cause: &str) -> bool {
        let is_known = self.causes.iter().any(|known| known == cause);
        let is_news = !is_known && self.causes.len() < MOST;
        if is_news {
            self.causes.push(cause.to_owned());
        }
        is_news
    }

    /// The receiver answers again. Returns whether there was an outage.
    pub fn end(&mut self) -> bool {
        !std::mem::take(&mut self.causes).is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_of_an_outage_is_told_once() {
        let mut outage = ToldOutage::default();
        assert!(!outage.end());
        for (cause, is_news) in [("refused", true), ("wrong", true), ("refused", false)] {
            assert_eq!(outage.is_news(cause), is_news, "{cause}");
        }
        assert!(outage.end() && !outage.end());
        assert!(outage.is_news("refused"));
        let told = (0..2 * MOST).filter(|at| outage.is_news(&at.to_string()));
        assert_eq!(told.count(), MOST - 1);
    }
}
