//! The compiled form of a machine: bound to a signature, evaluated by bit masks, never allocating while it steps.
//!
//! Each atomic formula is one [test](super::atomic_test) of the newest observation and of the union of the buffer. The formulae of a state's
//! edges become one short-circuit program: each test has a successor for "holds" and one for "does not hold", and the exits are
//! "take edge i" and "stay". Edges are tried in declaration order (Algorithm 1). The paper's two tests are instructions of their own;
//! all others are looked up, so that they cost nothing where they do not occur.

use std::sync::Arc;

use super::atomic_test::{Scope, Test};
use super::machine::{EdgeId, Machine, StateId};
use super::step_mode::StepMode;
use crate::error::Result;
use crate::logic::atom_set::{AtomId, AtomSet};
use crate::logic::formula::{Formula, Node};
use crate::logic::signature::Signature;

/// A test and its two successors.
#[derive(Clone, Debug)]
struct Instruction {
    operation: Operation,
    mask: AtomSet,
    then: Target,
    otherwise: Target,
}

/// What an instruction does with its mask.
#[derive(Clone, Copy, Debug)]
enum Operation {
    /// Some atom of it is in the newest observation.
    AnyNewest,
    /// Every atom of it has been seen.
    AllSeen,
    /// The test of this number decides.
    Test(u32),
}

/// An instruction, or an exit: edge `i` as `EXIT | i + 1`, staying as `EXIT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Target(u32);

const EXIT: u32 = 1 << 31;
const STAY: Target = Target(EXIT);

impl Target {
    fn take(edge: EdgeId) -> Self {
        Self(EXIT | (edge.0 + 1))
    }

    #[inline]
    fn instruction(self) -> Option<usize> {
        (self.0 & EXIT == 0).then_some(self.0 as usize)
    }

    #[inline]
    fn edge(self) -> Option<EdgeId> {
        (self.0 & !EXIT).checked_sub(1).map(EdgeId)
    }
}

/// The instructions of all states, and the tests that they look up.
#[derive(Clone, Debug, Default)]
struct Program {
    instructions: Vec<Instruction>,
    tests: Vec<Test>,
}

impl Program {
    /// Appends an instruction; returns where it is.
    fn push(&mut self, test: &Test, then: Target, otherwise: Target) -> Target {
        let operation = match test.scope {
            Scope::AnyNewest => Operation::AnyNewest,
            Scope::AllSeen => Operation::AllSeen,
            Scope::AnySeen | Scope::AtLeast(_) | Scope::Join(_) => {
                self.tests.push(test.clone());
                Operation::Test(self.tests.len() as u32 - 1)
            }
        };
        self.instructions.push(Instruction {
            operation,
            mask: test.mask.clone(),
            then,
            otherwise,
        });
        Target(self.instructions.len() as u32 - 1)
    }

    /// Apart, so that the loop over instructions stays small.
    #[cold]
    #[inline(never)]
    fn test(&self, number: u32, newest: &AtomSet, seen: &AtomSet) -> bool {
        self.tests[number as usize].holds(newest, seen)
    }
}

/// A machine bound to a signature.
///
/// ```
/// use form_core::{Machine, Monitor, Signature};
/// let machine: Machine = "initial u0\naccept u1\nu0 -> u1 : forall X. yellow(X)".parse()?;
/// let signature = Signature::parse(["yellow(o0)", "yellow(o1)"])?;
/// let machine = machine.bind(&signature)?;
/// let mut monitor = Monitor::new(&machine);
/// monitor.observe(&machine, &signature.observation(["yellow(o1)"])?);
/// let step = monitor.observe(&machine, &signature.observation(["yellow(o0)"])?);
/// assert_eq!(step.reward, 1.0);
/// assert_eq!(monitor.state(), machine.machine().accept());
/// # Ok::<(), form_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BoundMachine {
    machine: Arc<Machine>,
    signature: Arc<Signature>,
    /// The atoms that can be observed, if these are not all of the signature.
    own: Option<Arc<AtomSet>>,
    program: Program,
    entries: Vec<Target>,
    /// Target and reward of each edge.
    outcomes: Vec<(StateId, f64)>,
    outgoing: Vec<Vec<EdgeId>>,
    progress: Vec<AtomSet>,
    every_step: bool,
    /// By state: the tests of its window.
    windows: Vec<Vec<Test>>,
    /// The formulae of the edges, for the checks.
    formulae: Vec<BoundFormula>,
}

impl Machine {
    /// Compiles the machine for a signature; an error names what the signature lacks.
    pub fn bind(&self, signature: &Signature) -> Result<BoundMachine> {
        BoundMachine::new(Arc::new(self.clone()), Arc::new(signature.clone()))
    }
}

impl BoundMachine {
    /// As [`Machine::bind`], sharing machine and signature.
    pub fn new(machine: Arc<Machine>, signature: Arc<Signature>) -> Result<Self> {
        Self::compiled(machine, signature, None)
    }

    /// The machine where no other atoms can be observed than these, such as the signature that a trace brings:
    /// `forall` ranges over them, and over none of them it does not hold. All other atoms just never are observed.
    ///
    /// ```
    /// use form_core::{Machine, Signature};
    /// let machine: Machine = "initial u0\naccept u1\nu0 -> u1 : forall X. paid(X)".parse()?;
    /// let signature = Signature::parse(["paid(o1)", "paid(o2)"])?;
    /// let machine = machine.bind(&signature)?;
    /// let first = signature.observation(["paid(o1)"])?;
    /// let u0 = machine.machine().initial();
    /// assert!(machine.choose(u0, &first, &first).is_none());
    /// assert!(machine.within(&first).choose(u0, &first, &first).is_some());
    /// # Ok::<(), form_core::Error>(())
    /// ```
    #[must_use]
    pub fn within(&self, own: &AtomSet) -> Self {
        let (machine, signature) = (self.machine.clone(), self.signature.clone());
        Self::compiled(machine, signature, Some(own)).expect("it is bound to this signature")
    }

    /// The machine [within](Self::within) these atoms, or itself where there are no other than those of the signature.
    #[must_use]
    pub fn restricted(self: &Arc<Self>, own: Option<&AtomSet>) -> Arc<Self> {
        match own {
            Some(own) => Arc::new(self.within(own)),
            None => self.clone(),
        }
    }

    fn compiled(
        machine: Arc<Machine>,
        signature: Arc<Signature>,
        own: Option<&AtomSet>,
    ) -> Result<Self> {
        let mut outgoing = vec![Vec::new(); machine.states().len()];
        for (id, edge) in machine.edge_ids().zip(machine.edges()) {
            outgoing[edge.from.index()].push(id);
        }
        let formulae: Vec<BoundFormula> = (machine.edge_ids())
            .map(|id| {
                BoundFormula::new(&machine.edge(id).formula, &signature, own)
                    .map_err(|error| error.within(machine.describe_edge(id)))
            })
            .collect::<Result<_>>()?;
        let mut program = Program::default();
        let mut entries = Vec::with_capacity(outgoing.len());
        let mut progress = vec![AtomSet::new(); outgoing.len()];
        let mut windows: Vec<Vec<Test>> = vec![Vec::new(); outgoing.len()];
        for (state, edges) in outgoing.iter().enumerate() {
            // From the last edge to the first: a failing test continues at the next edge.
            let mut entry = STAY;
            for id in edges.iter().rev() {
                let formula = &formulae[id.index()];
                entry = compile(formula, Target::take(*id), entry, &mut program);
                for test in formula.tests() {
                    if let Some(window) = test.window()
                        && !windows[state].contains(test)
                    {
                        progress[state].union_with(window);
                        windows[state].push(test.clone());
                    }
                }
            }
            entries.push(entry);
        }
        let outcomes = (machine.edge_ids())
            .map(|id| (machine.edge(id).to, machine.reward(id)))
            .collect();
        Ok(Self {
            every_step: machine.step_mode() == StepMode::All,
            machine,
            signature,
            own: own.cloned().map(Arc::new),
            program,
            entries,
            outcomes,
            outgoing,
            progress,
            windows,
            formulae,
        })
    }

    /// The machine.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Whether every environment step is an observation, an empty one too.
    #[inline]
    pub(crate) fn observes_every_step(&self) -> bool {
        self.every_step
    }

    /// The signature it is bound to.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// The atoms that can be observed, if these are not all of the signature: see [`within`](Self::within).
    pub fn own_signature(&self) -> Option<&AtomSet> {
        self.own.as_deref()
    }

    /// The edges out of a state, in declaration order.
    pub fn outgoing(&self, state: StateId) -> &[EdgeId] {
        &self.outgoing[state.index()]
    }

    /// The atoms that edges out of the state look for in the window: those of all `forall`s, `atleast`s and `once`s, negated ones too.
    /// Given the indicators "observed since the state was entered" of these atoms, the state's sub-task is Markovian (paper, Section 3.4).
    pub fn progress_atoms(&self, state: StateId) -> &AtomSet {
        &self.progress[state.index()]
    }

    /// Those of the [progress atoms](Self::progress_atoms) that are still to come: not observed yet, and of a test that they can still
    /// change. Once two yellow ones were seen, `atleast 2 X. yellow(X)` waits for no other.
    pub fn awaited_atoms(&self, state: StateId, seen: &AtomSet) -> AtomSet {
        let mut awaited = AtomSet::new();
        for test in &self.windows[state.index()] {
            awaited.union_with(&test.awaited(seen));
        }
        awaited
    }

    /// All atoms that some edge tests.
    pub fn relevant_atoms(&self) -> AtomSet {
        let mut relevant = AtomSet::new();
        for test in self.formulae.iter().flat_map(BoundFormula::tests) {
            relevant.union_with(&test.mask);
        }
        relevant
    }

    /// Whether some edge tests one of two atoms and not the other, or joins them with different atoms. Exchanging two atoms that none
    /// tells apart, in all observations, changes nothing that the machine does.
    pub fn tells_apart(&self, one: AtomId, other: AtomId) -> bool {
        (self.formulae.iter().flat_map(BoundFormula::tests))
            .any(|test| test.tells_apart(one, other))
    }

    /// The edge that the machine takes on a buffer with this newest observation and this union, if any.
    #[inline]
    pub fn choose(&self, state: StateId, newest: &AtomSet, seen: &AtomSet) -> Option<EdgeId> {
        let mut at = self.entries[state.index()];
        while let Some(i) = at.instruction() {
            let instruction = &self.program.instructions[i];
            let holds = match instruction.operation {
                Operation::AnyNewest => instruction.mask.intersects(newest),
                Operation::AllSeen => instruction.mask.is_subset(seen),
                Operation::Test(number) => self.program.test(number, newest, seen),
            };
            at = match holds {
                true => instruction.then,
                false => instruction.otherwise,
            };
        }
        at.edge()
    }

    /// Whether the edge's formula holds on the buffer, regardless of the edges before it.
    pub(crate) fn holds(&self, edge: EdgeId, newest: &AtomSet, seen: &AtomSet) -> bool {
        let mut values: Vec<bool> = Vec::new();
        for node in &self.formulae[edge.index()].0 {
            let value = match node {
                BoundNode::True => true,
                BoundNode::Test(test) => test.holds(newest, seen),
                BoundNode::Not => !values.pop().expect("postfix order"),
                BoundNode::And(n) => values
                    .split_off(values.len() - *n as usize)
                    .iter()
                    .all(|v| *v),
                BoundNode::Or(n) => values
                    .split_off(values.len() - *n as usize)
                    .iter()
                    .any(|v| *v),
            };
            values.push(value);
        }
        values.pop().expect("a formula has a root")
    }

    /// The target and the reward of an edge.
    #[inline]
    pub fn outcome(&self, edge: EdgeId) -> (StateId, f64) {
        self.outcomes[edge.index()]
    }

    /// The bound formula of an edge.
    pub(crate) fn bound_formula(&self, edge: EdgeId) -> &BoundFormula {
        &self.formulae[edge.index()]
    }
}

/// A formula with bound atoms, in postfix order.
#[derive(Clone, Debug)]
pub(crate) struct BoundFormula(pub(crate) Vec<BoundNode>);

#[derive(Clone, Debug)]
pub(crate) enum BoundNode {
    True,
    Test(Test),
    Not,
    And(u32),
    Or(u32),
}

impl BoundFormula {
    pub(crate) fn new(
        formula: &Formula,
        signature: &Signature,
        own: Option<&AtomSet>,
    ) -> Result<Self> {
        let bind = |node: &Node| {
            Ok(match node {
                Node::True => BoundNode::True,
                Node::Atom(atom) => BoundNode::Test(Test::bind(atom, signature, own)?),
                Node::Not => BoundNode::Not,
                Node::And(n) => BoundNode::And(*n),
                Node::Or(n) => BoundNode::Or(*n),
            })
        };
        Ok(Self(
            formula.nodes().iter().map(bind).collect::<Result<_>>()?,
        ))
    }

    /// The tests, with repetitions.
    pub(crate) fn tests(&self) -> impl Iterator<Item = &Test> {
        self.0.iter().filter_map(|node| match node {
            BoundNode::Test(test) => Some(test),
            _ => None,
        })
    }
}

/// A connective whose operands are being compiled.
enum Frame {
    Not,
    /// A conjunction or disjunction: the number of operands still to come, and the two successors of the next one.
    Join {
        is_and: bool,
        left: u32,
        then: Target,
        otherwise: Target,
    },
}

/// Appends the program of a formula that continues at `then` or `otherwise`; returns where it starts.
///
/// Read backwards, a postfix formula has the root first and later operands before earlier ones: when an operand is compiled, the
/// start of its successor is known.
fn compile(
    formula: &BoundFormula,
    then: Target,
    otherwise: Target,
    program: &mut Program,
) -> Target {
    let mut frames: Vec<Frame> = Vec::new();
    let (mut then, mut otherwise) = (then, otherwise);
    let mut start = then;
    for node in formula.0.iter().rev() {
        match node {
            BoundNode::Not => {
                frames.push(Frame::Not);
                (then, otherwise) = (otherwise, then);
                continue;
            }
            BoundNode::And(left) | BoundNode::Or(left) => {
                frames.push(Frame::Join {
                    is_and: matches!(node, BoundNode::And(_)),
                    left: *left,
                    then,
                    otherwise,
                });
                continue;
            }
            BoundNode::True => start = then,
            BoundNode::Test(test) => start = program.push(test, then, otherwise),
        }
        // An operand is complete: its predecessor continues here, or the connective is complete too.
        while let Some(frame) = frames.last_mut() {
            let Frame::Join {
                is_and,
                left: left @ 2..,
                then: next_then,
                otherwise: next_otherwise,
            } = frame
            else {
                frames.pop();
                continue;
            };
            *left -= 1;
            match is_and {
                true => *next_then = start,
                false => *next_otherwise = start,
            }
            (then, otherwise) = (*next_then, *next_otherwise);
            break;
        }
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Edges are compiled from the last to the first, but reported in order.
    #[test]
    fn the_first_edge_that_does_not_fit_is_named() {
        let machine: Machine = "initial u\naccept v\nu -> v : a\nu -> v : a and b\nu -> v : c"
            .parse()
            .unwrap();
        let signature = Signature::parse(["a"]).unwrap();
        let error = machine.bind(&signature).unwrap_err().to_string();
        assert!(error.starts_with("edge 2 (u -> v): `b`"), "{error}");
    }
}
