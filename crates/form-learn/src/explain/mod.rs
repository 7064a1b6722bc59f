//! Explanations: for the number of states of a minimal machine, and for each of its edges, a small set of traces that forces it.
//!
//! What is claimed is stated in [`Explanation`] and, precisely, in `claim`; `unsat_core` finds the traces.

mod claim;
mod hitting_set;
mod numbering;
mod query;
mod unsat_core;

use form_core::Formula;

use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::learner::Learner;
use crate::options::Limits;
use crate::outcome::{Learnt, StopReason};
use crate::traces::TracePrefix;
use claim::{Claim, EdgeClaim};
use query::Context;
use unsat_core::{Prover, Verdict};

/// Why a minimal machine has its number of states and its edges.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Traces with which no machine with fewer states is consistent. `None`: a limit was reached first.
    pub states: Option<Proof>,
    /// For each edge of the machine, in order, the reason for it. `None`: a limit was reached first.
    pub edges: Vec<Option<Reason>>,
    /// The limit that was reached, if any.
    pub stopped: Option<StopReason>,
}

impl Explanation {
    /// Whether everything is explained, and every proof is irreducible.
    pub fn is_irreducible(&self) -> bool {
        let reasons = || self.edges.iter().flatten();
        let parts = reasons().filter_map(|reason| Some(&reason.forced.as_ref()?.proof));
        self.states.is_some()
            && self.edges.iter().all(Option::is_some)
            && (self.states.iter())
                .chain(reasons().map(|reason| &reason.proof))
                .chain(parts)
                .all(|proof| proof.irreducible)
    }
}

/// The reason for an edge: every machine with as many states that is consistent with these traces and, up to the criterion, no
/// worse than the learnt one has this edge.
///
/// "This edge" is one with the same label, from the same state to the same state, for some numbering of the states: the initial
/// one comes first and, without cycles, edges lead upwards only. An edge enters every state but the initial one. Machines with
/// literals that make no difference on any observation of the data are not considered.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// The criterion by which the learnt machine is preferred to those without the edge.
    pub criterion: Criterion,
    /// The traces.
    pub proof: Proof,
    /// A machine without the edge that is consistent with all traces and no worse up to the previous criterion, if any.
    pub alternative: Option<Learnt>,
    /// If the edge is not forced by the size of the machine: the part of it that is, if any.
    pub forced: Option<ForcedPart>,
}

/// The forced part of an edge: every machine with as many states that is consistent with these traces and no larger has an edge
/// there with at least these literals. With parallel edges there may be several.
#[derive(Clone, Debug, PartialEq)]
pub struct ForcedPart {
    /// The conjunction of the literals; `true` if only the existence of an edge is forced.
    pub literals: Formula,
    /// The traces.
    pub proof: Proof,
}

/// The criteria by which a machine is preferred to others with as many states, in lexicographic order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Criterion {
    /// Fewer edges and literals together.
    Size,
    /// Fewer literals that name objects.
    Ground,
    /// Fewer negative literals.
    Negative,
    /// The fixed order of the tie-break.
    Order,
}

impl Criterion {
    /// All criteria, the most important first.
    pub const ALL: [Self; 4] = [Self::Size, Self::Ground, Self::Negative, Self::Order];

    /// Whether one machine is no worse than another up to this criterion, as far as it can be counted.
    fn admits(self, machine: &Learnt, learnt: &Learnt) -> bool {
        let (a, b) = (machine.cost, learnt.cost);
        match self {
            Self::Size => a.size <= b.size,
            Self::Ground => Self::Size.admits(machine, learnt) && a.ground <= b.ground,
            Self::Negative => Self::Ground.admits(machine, learnt) && a.negative <= b.negative,
            Self::Order => false,
        }
    }
}

/// Traces that prove a claim: an unsatisfiable core of all traces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The traces, or prefixes of traces.
    pub traces: Vec<TracePrefix>,
    /// Whether all of them are proven to be needed (a minimal unsatisfiable subset). Not if a limit was reached first.
    pub irreducible: bool,
}

impl Learner {
    /// Explains the machine that [`learn`](Learner::learn) returned last. It must have been proven minimal, and no trace added
    /// since.
    ///
    /// The time limit counts from this call. The same traces, added in the same order, give the same explanation.
    ///
    /// ```
    /// use form_core::{Kind, Signature, Trace};
    /// use form_learn::{Criterion, Learner, Limits, Options};
    /// let signature = Signature::parse(["a", "b"])?;
    /// let mut learner = Learner::new(&signature, &Options::default());
    /// for (kind, atom) in [(Kind::Goal, "a"), (Kind::Incomplete, "b")] {
    ///     learner.add(&Trace::new(kind, [signature.observation([atom])?]));
    /// }
    /// learner.learn(&Limits::default())?;
    /// let explanation = learner.explain(&Limits::default())?;
    /// // `u0 -> u_acc : a` is forced by the first trace alone.
    /// let reason = explanation.edges[0].as_ref().unwrap();
    /// assert_eq!(reason.criterion, Criterion::Size);
    /// assert_eq!((reason.proof.traces.len(), reason.proof.traces[0].trace), (1, 0));
    /// # Ok::<(), form_learn::Error>(())
    /// ```
    pub fn explain(&self, limits: &Limits) -> Result<Explanation> {
        let learnt = self.minimal().ok_or(Error::NothingToExplain)?;
        let budget = Budget::new(limits);
        let context = Context {
            problem: self.problem(),
            budget: &budget,
        };
        explain(context, learnt)
    }
}

fn explain(context: Context<'_>, learnt: &Learnt) -> Result<Explanation> {
    let mut explanation = Explanation {
        states: None,
        edges: vec![None; learnt.machine.edges().len()],
        stopped: None,
    };
    let mut prover = Prover::new(context);
    match prover.prove(&mut Claim::States(learnt.states)) {
        Err(reason) => explanation.stopped = Some(reason),
        Ok(Verdict::Proven(proof)) => explanation.states = Some(proof),
        Ok(Verdict::Refuted(machine)) => return Err(refuted("fewer states suffice", &machine)),
    }
    for number in 0..explanation.edges.len() {
        if explanation.stopped.is_none() {
            let (reason, stopped) =
                reason(&mut prover, learnt, number, context.problem.options.cyclic)?;
            explanation.edges[number] = reason;
            explanation.stopped = stopped;
        }
    }
    if !explanation.is_irreducible() {
        explanation.stopped = explanation.stopped.or(context.budget.exhausted());
    }
    Ok(explanation)
}

/// The reason for an edge, as far as it was found before a limit was reached.
fn reason(
    prover: &mut Prover<'_>,
    learnt: &Learnt,
    number: usize,
    cyclic: bool,
) -> Result<(Option<Reason>, Option<StopReason>)> {
    let mut alternative: Option<Learnt> = None;
    for criterion in Criterion::ALL {
        // An alternative that is no worse by the next criterion either need not be found once more.
        if (alternative.as_ref()).is_some_and(|machine| criterion.admits(machine, learnt)) {
            continue;
        }
        let mut claim = Claim::Edge(EdgeClaim::new(learnt, number, criterion, cyclic));
        match prover.prove(&mut claim) {
            Err(stop) => return Ok((None, Some(stop))),
            Ok(Verdict::Refuted(machine)) => alternative = Some(machine),
            Ok(Verdict::Proven(proof)) => {
                let whole = EdgeClaim::new(learnt, number, Criterion::Size, cyclic);
                let forced = match &alternative {
                    None => Ok(None),
                    Some(other) => forced_part(prover, &whole, other),
                };
                let forced = match forced {
                    Ok(forced) => forced,
                    // Without it, it would not be known whether a part of the edge is forced.
                    Err(stop) => return Ok((None, Some(stop))),
                };
                let reason = Reason {
                    criterion,
                    proof,
                    alternative,
                    forced,
                };
                return Ok((Some(reason), None));
            }
        }
    }
    let first = alternative.as_ref().unwrap_or(learnt);
    Err(refuted("another one comes first in the order", first))
}

/// The part of an edge that every machine as small has, if any, and the traces that force it.
fn forced_part(
    prover: &mut Prover<'_>,
    whole: &EdgeClaim<'_>,
    alternative: &Learnt,
) -> Result<Option<ForcedPart>, StopReason> {
    let mut edge = whole.weakened(&alternative.machine);
    while let Some(weaker) = edge {
        match prover.prove(&mut Claim::Edge(weaker.clone()))? {
            Verdict::Proven(proof) => {
                let literals = weaker.formula();
                return Ok(Some(ForcedPart { literals, proof }));
            }
            Verdict::Refuted(machine) => edge = weaker.weakened(&machine.machine),
        }
    }
    Ok(None)
}

fn refuted(problem: &str, machine: &Learnt) -> Error {
    Error::Refuted {
        problem: format!("{problem}:\n{}", machine.machine),
    }
}
