//! What multiplies the values that a `JSONPath` visits.
//!
//! An object a few kilobytes long can have more descendants of descendants than fit in memory. So an expression may visit each
//! value only a few times, whatever the object is.

use jsonpath_rust::parser::model::{
    Comparable, Filter, FilterAtom, FnArg, JpQuery, Segment, Selector, Test, TestFunction,
};

/// The error of an expression that may visit too many values.
pub(super) const TOO_MANY: &str = "it can select too many values: use at most one `..`, at most 8 combinations of listed \
     selectors, and in a filter only `@` for several values";

/// The most combinations of listed selectors: `['a','b']['c','d']` has four.
const MOST_LISTED: usize = 8;

/// The parts of an expression that multiply the visited values.
pub(super) struct Multipliers {
    /// How many `..` it has. A value has as many ancestors as it is deep, and a second `..` starts from each of them.
    deep: usize,
    /// The combinations of listed selectors.
    listed: usize,
    /// Whether a filter selects several values of the whole object, for each value that it tests.
    restarts: bool,
}

impl Multipliers {
    pub(super) fn of(query: &JpQuery) -> Multipliers {
        let mut found = Multipliers {
            deep: 0,
            listed: 1,
            restarts: false,
        };
        found.segments(&query.segments);
        found
    }

    pub(super) fn are_few(&self) -> bool {
        self.deep <= 1 && self.listed <= MOST_LISTED && !self.restarts
    }

    fn segments(&mut self, segments: &[Segment]) {
        for segment in segments {
            self.segment(segment);
        }
    }

    fn segment(&mut self, segment: &Segment) {
        match segment {
            Segment::Descendant(below) => {
                self.deep += 1;
                self.segment(below);
            }
            Segment::Selector(selector) => self.selector(selector),
            Segment::Selectors(selectors) => {
                self.listed = self.listed.saturating_mul(selectors.len());
                for selector in selectors {
                    self.selector(selector);
                }
            }
        }
    }

    fn selector(&mut self, selector: &Selector) {
        if let Selector::Filter(filter) = selector {
            self.filter(filter);
        }
    }

    fn filter(&mut self, filter: &Filter) {
        match filter {
            Filter::Or(filters) | Filter::And(filters) => {
                for filter in filters {
                    self.filter(filter);
                }
            }
            Filter::Atom(FilterAtom::Filter { expr, .. }) => self.filter(expr),
            Filter::Atom(FilterAtom::Test { expr, .. }) => self.test(expr),
            Filter::Atom(FilterAtom::Comparison(comparison)) => {
                let (left, right) = comparison.vals();
                for side in [left, right] {
                    if let Comparable::Function(function) = side {
                        self.function(function);
                    }
                }
            }
        }
    }

    fn test(&mut self, test: &Test) {
        match test {
            Test::RelQuery(segments) => self.segments(segments),
            Test::AbsQuery(query) => {
                let is_single = |segment: &Segment| {
                    matches!(
                        segment,
                        Segment::Selector(Selector::Name(_) | Selector::Index(_))
                    )
                };
                self.restarts |= !query.segments.iter().all(is_single);
            }
            Test::Function(function) => self.function(function),
        }
    }

    fn function(&mut self, function: &TestFunction) {
        let arguments: Vec<&FnArg> = match function {
            TestFunction::Custom(_, arguments) => arguments.iter().collect(),
            TestFunction::Length(argument) => vec![argument],
            TestFunction::Value(argument) | TestFunction::Count(argument) => vec![argument],
            TestFunction::Search(left, right) | TestFunction::Match(left, right) => {
                vec![left, right]
            }
        };
        for argument in arguments {
            match argument {
                FnArg::Literal(_) => {}
                FnArg::Test(test) => self.test(test),
                FnArg::Filter(filter) => self.filter(filter),
            }
        }
    }
}
