//! How long shortest solutions are searched for. The pairs of a pose and of what was seen double with every object that a `forall`
//! waits for: in the paper's room twelve are searched to the end in hundredths of a second, from about fourteen they are too many.

use form_env::Shortest;

/// The maximum number of pairs of a pose and a situation in a search for a shortest solution: some tenths of a second.
pub const SEARCH_LIMIT: usize = 5_000_000;

/// The limit after a search that reached [`SEARCH_LIMIT`]: a weaker lower bound, so that a thousand episodes take seconds and not minutes.
const SHORT_SEARCH: usize = 100_000;

/// The limit for all other episodes of an evaluation, once the first was searched: most often they have as many objects.
pub(crate) fn limit_after(first: Option<Shortest>) -> usize {
    match first {
        Some(Shortest::AtLeast(_)) => SHORT_SEARCH,
        _ => SEARCH_LIMIT,
    }
}
