//! Why the machine is as it is: for its number of states and for each of its edges a small set of traces that forces it.
//!
//! What is claimed is stated in [`Explanation`] and, to the letter, in `claim`; `proof` finds the traces.

mod claim;
mod numbering;
mod proof;
mod question;
mod selection;

use form_core::{Formula, Kind};

use crate::error::{Error, Result};
use crate::outcome::{Learnt, StopReason};
use crate::problem::Limits;
use crate::search::Learner;
use crate::watch::Watch;
use claim::{Claim, Edge};
use proof::{Finding, Prover};
use question::Setting;

/// Why a learnt machine is as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Traces with which no machine with fewer states is consistent. `None`: a limit was reached first.
    pub states: Option<Proof>,
    /// For each edge of the machine, in order, why it is there. `None`: a limit was reached first.
    pub edges: Vec<Option<Reason>>,
    /// The limit that was reached, if one was.
    pub stopped: Option<StopReason>,
}

impl Explanation {
    /// Whether everything was explained, and it was shown that no trace can be left out anywhere.
    pub fn is_irreducible(&self) -> bool {
        let reasons = || self.edges.iter().flatten();
        let cores = reasons().filter_map(|reason| Some(&reason.core.as_ref()?.proof));
        self.states.is_some()
            && self.edges.iter().all(Option::is_some)
            && (self.states.iter())
                .chain(reasons().map(|reason| &reason.proof))
                .chain(cores)
                .all(|proof| proof.irreducible)
    }
}

/// Why an edge is there: every machine with as many states that is consistent with these traces and, up to the level, no
/// worse than the learnt one has this edge.
///
/// "This edge" is one with the same label, from the same state to the same state, whatever the numbering of the states: the
/// initial one comes first and, without cycles, edges lead upwards only. Every state but the initial one is entered by an
/// edge. Machines with literals that make no difference on any observation of the data are left out of account.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// What other machines are measured by.
    pub level: Level,
    /// The traces.
    pub proof: Proof,
    /// A machine without the edge that is consistent with all traces and no worse up to the level before, if there is one.
    pub alternative: Option<Learnt>,
    /// If the edge is not forced by the size of the machine: what of it is, if anything.
    pub core: Option<Core>,
}

/// What of an edge is forced: every machine with as many states that is consistent with these traces and no larger has an
/// edge there with at least these literals. With parallel edges there may be more of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Core {
    /// The conjunction of the literals; `true` if only that there is an edge is forced.
    pub literals: Formula,
    /// The traces.
    pub proof: Proof,
}

/// By what the learnt machine is preferred to those without an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// They are larger: they have more edges and literals together.
    Size,
    /// Some are as small, but these have more literals that name objects.
    Ground,
    /// Some have no more of these either, but more negative literals.
    Negative,
    /// Some are just as good; the fixed order of the tie-break puts them later.
    Order,
}

impl Level {
    /// All levels, the most important first.
    pub const ALL: [Self; 4] = [Self::Size, Self::Ground, Self::Negative, Self::Order];

    /// Whether one machine is no worse than another up to this level, as far as it can be counted.
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

/// Traces that show something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The traces or beginnings of traces.
    pub evidence: Vec<Evidence>,
    /// Whether it was shown that none of them can be left out. Not so if a limit was reached first.
    pub irreducible: bool,
}

/// A trace, or the beginning of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Evidence {
    /// The trace's number, as [`Learner::add`] gave it.
    pub trace: usize,
    /// How many of its observations count, from the first.
    pub length: usize,
    /// Whether these are all of them.
    pub whole: bool,
    /// What is known after them: the trace's kind or, for a beginning, just that the episode went on.
    pub kind: Kind,
}

impl Learner {
    /// Why the machine that [`learn`](Learner::learn) answered last is as it is. It must have been proven minimal, and no
    /// trace added since.
    ///
    /// The time of the limits counts from this call. The same traces, added in the same order, give the same explanation.
    ///
    /// ```
    /// use form_core::{Kind, Signature, Trace};
    /// use form_learn::{Learner, Level, Limits, Options};
    /// let signature = Signature::parse(["a", "b"])?;
    /// let mut learner = Learner::new(&signature, &Options::default());
    /// for (kind, atom) in [(Kind::Goal, "a"), (Kind::Incomplete, "b")] {
    ///     learner.add(&Trace::new(kind, [signature.observation([atom])?]));
    /// }
    /// learner.learn(&Limits::default())?;
    /// let explanation = learner.explain(&Limits::default())?;
    /// // `u0 -> u_acc : a` is forced by the first trace alone.
    /// let reason = explanation.edges[0].as_ref().unwrap();
    /// assert_eq!(reason.level, Level::Size);
    /// assert_eq!((reason.proof.evidence.len(), reason.proof.evidence[0].trace), (1, 0));
    /// # Ok::<(), form_learn::Error>(())
    /// ```
    pub fn explain(&self, limits: &Limits) -> Result<Explanation> {
        let learnt = self.answer().ok_or(Error::NothingToExplain)?;
        let watch = Watch::new(limits);
        let setting = Setting {
            given: self.given(),
            watch: &watch,
        };
        explain(setting, learnt)
    }
}

fn explain(setting: Setting<'_>, learnt: &Learnt) -> Result<Explanation> {
    let mut explanation = Explanation {
        states: None,
        edges: vec![None; learnt.machine.edges().len()],
        stopped: None,
    };
    let mut prover = Prover::new(setting);
    match prover.prove(&mut Claim::States(learnt.states)) {
        Err(reason) => explanation.stopped = Some(reason),
        Ok(Finding::Shown(proof)) => explanation.states = Some(proof),
        Ok(Finding::Otherwise(machine)) => return Err(refuted("fewer states suffice", &machine)),
    }
    for number in 0..explanation.edges.len() {
        if explanation.stopped.is_none() {
            let (reason, stopped) =
                reason(&mut prover, learnt, number, setting.given.options.cyclic)?;
            explanation.edges[number] = reason;
            explanation.stopped = stopped;
        }
    }
    if !explanation.is_irreducible() {
        explanation.stopped = explanation.stopped.or(setting.watch.reason());
    }
    Ok(explanation)
}

/// Why an edge is there, as far as it was found out before a limit was reached.
fn reason(
    prover: &mut Prover<'_>,
    learnt: &Learnt,
    number: usize,
    cyclic: bool,
) -> Result<(Option<Reason>, Option<StopReason>)> {
    let mut alternative: Option<Learnt> = None;
    for level in Level::ALL {
        // What is no worse on the next level either need not be found once more.
        if (alternative.as_ref()).is_some_and(|machine| level.admits(machine, learnt)) {
            continue;
        }
        let mut claim = Claim::Edge(Edge::new(learnt, number, level, cyclic));
        match prover.prove(&mut claim) {
            Err(stop) => return Ok((None, Some(stop))),
            Ok(Finding::Otherwise(machine)) => alternative = Some(machine),
            Ok(Finding::Shown(proof)) => {
                let whole = Edge::new(learnt, number, Level::Size, cyclic);
                let core = match &alternative {
                    None => Ok(None),
                    Some(other) => core(prover, &whole, other),
                };
                let core = match core {
                    Ok(core) => core,
                    // Without it, it would not be known whether anything of the edge is forced.
                    Err(stop) => return Ok((None, Some(stop))),
                };
                let reason = Reason {
                    level,
                    proof,
                    alternative,
                    core,
                };
                return Ok((Some(reason), None));
            }
        }
    }
    let first = alternative.as_ref().unwrap_or(learnt);
    Err(refuted("another one comes first in the order", first))
}

/// What of an edge every machine as small has, if that is anything, and the traces that force it.
fn core(
    prover: &mut Prover<'_>,
    whole: &Edge<'_>,
    alternative: &Learnt,
) -> Result<Option<Core>, StopReason> {
    let mut edge = whole.weakened(&alternative.machine);
    while let Some(weaker) = edge {
        match prover.prove(&mut Claim::Edge(weaker.clone()))? {
            Finding::Shown(proof) => {
                let literals = weaker.formula();
                return Ok(Some(Core { literals, proof }));
            }
            Finding::Otherwise(machine) => edge = weaker.weakened(&machine.machine),
        }
    }
    Ok(None)
}

fn refuted(problem: &str, machine: &Learnt) -> Error {
    Error::Refuted {
        problem: format!("{problem}:\n{}", machine.machine),
    }
}
