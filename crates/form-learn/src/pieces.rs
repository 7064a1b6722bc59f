//! Pieces of traces: what the [relaxation](crate::encode) starts from where machines may have cycles.
//!
//! Without cycles long traces are strong: few stays must explain them. With cycles a run can move at any time, and what the solver
//! decides at the start of a long trace decides nothing at its end. So traces are cut: a *piece* begins anywhere in a trace, in a
//! state that is not known, with a window that is not known either. A machine that is consistent with the trace has a run through the
//! piece, so pieces without a run refute machines. They are short: what they say is about few entries of the table, and so
//! are the clauses that are learnt from them. The last observations of the goals say how the accepting state is entered, the first
//! ones of all traces what happens in the first states.
//!
//! The idea is that of the suffixes in the observation tables of L* (Angluin 1987): what happens next tells states apart,
//! however they were reached. A counterexample is shortened from the front as long as no state survives it.

use form_core::Kind;

use crate::counterexamples::Mistake;
use crate::prefix_tree::PrefixTree;
use crate::problem::Problem;
use crate::traces::TracePrefix;
use crate::vocabulary::ObservationId;

/// A part of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The trace up to the end of the piece.
    pub(crate) prefix: TracePrefix,
    /// How many observations come before it.
    pub(crate) start: usize,
}

impl Piece {
    pub(crate) fn len(&self) -> usize {
        self.prefix.length - self.start
    }

    pub(crate) fn steps<'a>(&self, problem: &'a Problem) -> &'a [ObservationId] {
        &problem.traces.steps(&self.prefix)[self.start..]
    }
}

/// The pieces to start from, and before them the shortest trace that ends, as a whole.
pub(crate) fn seeds(problem: &Problem, states: usize) -> PrefixTree {
    let length = PER_STATE * states;
    let most = MOST.min(12 * states * states);
    let mut tree = problem.empty_tree();
    let shortest = [Kind::Goal, Kind::DeadEnd].map(|kind| problem.traces.shortest(kind));
    if let Some(shortest) = shortest.iter().flatten().next() {
        problem.plant(&mut tree, shortest);
    }
    for kind in [Kind::Goal, Kind::DeadEnd, Kind::Incomplete] {
        let traces = problem.traces.from(0).iter().enumerate();
        let mut traces: Vec<(usize, usize)> = (traces.filter(|(_, (of, _))| *of == kind))
            .map(|(i, (_, steps))| (steps.len(), i))
            .collect();
        if kind != Kind::Incomplete {
            traces.sort_unstable();
        }
        for (steps, i) in traces.into_iter().take(most) {
            if kind != Kind::Incomplete {
                let prefix = problem.traces.whole(i);
                let start = steps.saturating_sub(length);
                plant(problem, &mut tree, &Piece { prefix, start });
            }
            problem.plant(&mut tree, &problem.traces.prefix(i, steps.min(length)));
        }
    }
    tree
}

/// Adds a piece to a prefix tree.
pub(crate) fn plant(problem: &Problem, tree: &mut PrefixTree, piece: &Piece) {
    if piece.start == 0 {
        return problem.plant(tree, &piece.prefix);
    }
    let observations = problem.traces.observations();
    tree.add_piece(piece.prefix.kind, piece.steps(problem), observations);
}

/// Counterexamples as pieces that are as short as `survives` allows, which tells whether a run gets through a piece: of each mistake the
/// shortest.
pub(crate) fn shortest(
    problem: &Problem,
    mistakes: &[(Mistake, TracePrefix)],
    survives: impl Fn(&Piece) -> bool,
) -> Vec<Piece> {
    let mut found = Vec::new();
    for (mistake, prefix) in mistakes {
        found.push((*mistake, shorten(prefix, &survives)));
        // A trace that is over too early is not completed, either.
        let whole = problem.traces.whole(prefix.trace);
        let missed = match whole.kind {
            Kind::Goal => Mistake::GoalMissed,
            Kind::DeadEnd => Mistake::DeadEndMissed,
            Kind::Incomplete => continue,
        };
        if !prefix.whole {
            found.push((missed, shorten(&whole, &survives)));
        }
    }
    found.sort_by_key(|(mistake, piece)| (*mistake, piece.len(), piece.prefix.trace));
    let mut counts = [0; 4];
    found.retain(|(mistake, _)| {
        let count = &mut counts[*mistake as usize];
        *count += 1;
        *count <= PER_MISTAKE
    });
    found.into_iter().map(|(_, piece)| piece).collect()
}

/// A late start from which no run gets through a trace that refutes a machine.
fn shorten(prefix: &TracePrefix, survives: impl Fn(&Piece) -> bool) -> Piece {
    let piece = |start: usize| Piece {
        prefix: *prefix,
        start,
    };
    let (mut refuted, mut survived) = (0, prefix.length);
    while survived - refuted > 1 {
        let middle = (refuted + survived) / 2;
        match survives(&piece(middle)) {
            true => survived = middle,
            false => refuted = middle,
        }
    }
    piece(refuted)
}

/// The observations of a piece to start from, per state.
const PER_STATE: usize = 5;
/// How many traces of each kind pieces are taken from at most; with few states fewer do.
const MOST: usize = 100;
/// How many counterexamples of each mistake are added at a time.
const PER_MISTAKE: usize = 16;
