//! The smallest machine, or all of them, by trying every one, smallest first: slow, and simple enough to be believed.
//!
//! It shares nothing with the learners: atoms are sets of bits made here from the signature, the rules for edges are
//! those of the problem word by word, and a machine is consistent if running it on the traces says so. The only short
//! cut: states are filled in one after the other, and a run that is wrong before it enters a state still to be filled
//! needs no more of them.

use std::ops::ControlFlow;

use form_core::{Atom, Kind, QuantifiedAtom, Quantifier, Signature, Term};
use form_learn::{Cost, Options};

use crate::problems::Problem;

/// Machines with more edges and literals are not tried.
pub const MAX_SIZE: usize = 7;

/// The fewest states and the least cost with these, among the machines of at most [`MAX_SIZE`].
pub fn best(problem: &Problem) -> Option<(usize, Cost)> {
    let space = Space::new(problem);
    for states in 1..=problem.max_states {
        let mut search = Search::new(&space, states);
        for size in 0..=MAX_SIZE {
            let mut found: Option<Cost> = None;
            let _ = search.fill(&mut Vec::new(), size, &mut |machine| {
                let cost = space.cost(machine);
                found = Some(found.map_or(cost, |found| found.min(cost)));
                ControlFlow::Continue(())
            });
            if let Some(cost) = found {
                return Some((states, cost));
            }
        }
    }
    None
}

/// The fewest traces that a machine with this number of states and at most this size misjudges, and the least size of such a
/// machine; `most` is more than what is looked for.
pub fn fewest_misjudged(
    problem: &Problem,
    states: usize,
    size: usize,
    most: usize,
) -> Option<(usize, usize)> {
    let space = Space::new(problem);
    let mut search = Search::new(&space, states);
    let mut best = None;
    for size in 0..=size {
        // Larger machines must misjudge fewer traces.
        let Some(tolerated) = best.map_or(most, |(fewest, _)| fewest).checked_sub(1) else {
            break;
        };
        search.tolerated = tolerated;
        let _ = search.fill(&mut Vec::new(), size, &mut |machine| {
            let mistakes = space.mistakes(machine, states);
            if best.is_none_or(|(fewest, _)| mistakes < fewest) {
                best = Some((mistakes, size));
            }
            ControlFlow::Continue(())
        });
    }
    best
}

/// The first machine that `wanted` accepts among all that are consistent with the traces, with this number of states and at most
/// this size; with a rejecting state if the traces are a part of others with a dead-end trace.
pub fn find(
    problem: &Problem,
    rejecting: bool,
    states: usize,
    size: usize,
    wanted: impl Fn(&Space<'_>, &[Outgoing]) -> bool,
) -> Option<Vec<Outgoing>> {
    let mut space = Space::new(problem);
    space.rejecting = rejecting;
    let mut search = Search::new(&space, states);
    let mut found = None;
    for size in 0..=size {
        let _ = search.fill(&mut Vec::new(), size, &mut |machine| {
            if !wanted(&space, machine) {
                return ControlFlow::Continue(());
            }
            found = Some(machine.to_vec());
            ControlFlow::Break(())
        });
    }
    found
}

/// An atomic formula.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub atom: Atom,
    /// The ground atoms it is about, as bits.
    pub mask: u32,
    looks: Looks,
    pub forall: bool,
    pub ground: bool,
    /// What it costs on an edge.
    cost: usize,
}

/// When an atomic formula holds.
#[derive(Clone, Debug, PartialEq)]
enum Looks {
    /// One of its ground atoms is in the newest observation.
    Newest,
    /// So many of them are in the buffer.
    Count(u32),
    /// For one of these pairs, the first is in the buffer and the second in the newest observation.
    Join(Vec<(u32, u32)>),
}

impl Candidate {
    fn holds(&self, newest: u32, buffer: u32) -> bool {
        match &self.looks {
            Looks::Newest => newest & self.mask != 0,
            Looks::Count(count) => (buffer & self.mask).count_ones() >= *count,
            Looks::Join(pairs) => (pairs.iter()).any(|(a, b)| buffer & a != 0 && newest & b != 0),
        }
    }

    /// Whether this holds wherever `other` does, as far as the problem counts it.
    pub fn follows_from(&self, other: &Self) -> bool {
        let elsewhere = (other.mask & !self.mask).count_ones();
        match (&self.looks, &other.looks) {
            (Looks::Newest, Looks::Newest) => elsewhere == 0,
            (Looks::Count(needed), Looks::Count(given)) => *given >= needed + elsewhere,
            (Looks::Count(1), Looks::Newest) => elsewhere == 0 && !self.forall,
            (Looks::Join(pairs), Looks::Join(others)) => pairs == others,
            _ => false,
        }
    }
}

/// The atomic formulae, in the order of the tie-break: quantified, every predicate over all of its arguments, and over some
/// of them where at least two atoms agree in the others; then the ground atoms. With options, also those over the window.
fn atoms(signature: &Signature, options: &Options) -> Vec<Candidate> {
    let first_order = options.first_order;
    let mut patterns: Vec<(String, Vec<Option<String>>)> = Vec::new();
    for atom in signature.atoms() {
        let arity = atom.constants().len();
        let mut fixed: Vec<u32> = (0..(1_u32 << arity) - 1).collect();
        fixed.sort_by_key(|fixed| fixed.count_ones());
        for fixed in fixed {
            let terms: Vec<Option<String>> = (0..arity)
                .map(|i| (fixed >> i & 1 == 1).then(|| atom.constants()[i].to_string()))
                .collect();
            let pattern = (atom.predicate().to_string(), terms);
            if first_order && !patterns.contains(&pattern) {
                patterns.push(pattern);
            }
        }
    }
    let mut all = Vec::new();
    let mut quantifiers = vec![Quantifier::Exists, Quantifier::Forall];
    if options.once {
        quantifiers.push(Quantifier::AtLeast(1));
    }
    quantifiers.extend((2..=options.counts).map(|count| Quantifier::AtLeast(count as u32)));
    for quantifier in quantifiers {
        for (predicate, terms) in &patterns {
            let term = |(i, t): (usize, &Option<String>)| match t {
                None => Term::Variable(i as u32),
                Some(constant) => Term::Constant(form_core::Name::new(constant).unwrap()),
            };
            let name = form_core::Name::new(predicate).unwrap();
            let terms_of: Vec<Term> = terms.iter().enumerate().map(term).collect();
            let atom = QuantifiedAtom::new(quantifier, name, terms_of).unwrap();
            let mask: u32 = (signature.atoms().iter().enumerate())
                .filter(|(_, ground)| atom.literals()[0].matches(ground))
                .map(|(i, _)| 1 << i)
                .sum();
            let (looks, cost) = match quantifier {
                Quantifier::Exists => (Looks::Newest, 1),
                Quantifier::Forall => (Looks::Count(mask.count_ones()), 1),
                Quantifier::AtLeast(1) => (Looks::Count(1), 1),
                Quantifier::AtLeast(count) if count < mask.count_ones() => (Looks::Count(count), 2),
                Quantifier::AtLeast(_) => continue,
            };
            let forall = quantifier == Quantifier::Forall;
            // Of formulae that mean the same, the first.
            let is_known = (all.iter())
                .any(|c: &Candidate| (c.forall, c.mask, &c.looks) == (forall, mask, &looks));
            if !is_known && (terms.iter().all(Option::is_none) || mask.count_ones() >= 2) {
                all.push(Candidate {
                    atom: atom.into(),
                    mask,
                    looks,
                    forall,
                    ground: false,
                    cost,
                });
            }
        }
    }
    if options.joins && first_order {
        all.extend(joins(signature));
    }
    for (i, atom) in signature.atoms().iter().enumerate() {
        all.push(Candidate {
            atom: atom.clone().into(),
            mask: 1 << i,
            looks: Looks::Newest,
            forall: false,
            ground: !atom.constants().is_empty(),
            cost: 1,
        });
    }
    if options.once {
        for (i, atom) in signature.atoms().iter().enumerate() {
            let once: form_core::Formula = format!("once {atom}").parse().unwrap();
            all.push(Candidate {
                atom: once.atoms().next().unwrap().clone(),
                mask: 1 << i,
                looks: Looks::Count(1),
                forall: false,
                ground: !atom.constants().is_empty(),
                cost: 1,
            });
        }
    }
    all
}

/// The joins of two unary predicates that have two objects in common: the signatures have no others.
fn joins(signature: &Signature) -> Vec<Candidate> {
    let unary: Vec<_> = (signature.atoms().iter().enumerate())
        .filter(|(_, atom)| atom.constants().len() == 1)
        .collect();
    let mut names: Vec<String> = unary
        .iter()
        .map(|(_, a)| a.predicate().to_string())
        .collect();
    names.dedup();
    let mut joins = Vec::new();
    for once in &names {
        for now in names.iter().filter(|now| *now != once) {
            let mut pairs: Vec<(u32, u32)> = Vec::new();
            for (i, a) in unary.iter().filter(|(_, a)| a.predicate().as_str() == once) {
                for (j, b) in unary.iter().filter(|(_, b)| b.predicate().as_str() == now) {
                    if a.constants() == b.constants() {
                        pairs.push((1 << i, 1 << j));
                    }
                }
            }
            let join: form_core::Formula = format!("exists X. (once {once}(X) and {now}(X))")
                .parse()
                .unwrap();
            if pairs.len() >= 2 {
                joins.push(Candidate {
                    atom: join.atoms().next().unwrap().clone(),
                    mask: pairs.iter().fold(0, |all, (a, b)| all | a | b),
                    looks: Looks::Join(pairs),
                    forall: false,
                    ground: false,
                    cost: 2,
                });
            }
        }
    }
    joins
}

/// The traces with their observations as bits.
fn traces(problem: &Problem) -> Vec<(Kind, Vec<u32>)> {
    let bits = |step: &form_core::AtomSet| step.iter().map(|id| 1 << id.index()).sum();
    (problem.traces.iter())
        .map(|trace| (trace.kind(), trace.steps().iter().map(bits).collect()))
        .collect()
}

/// An edge: where to, and its literals as bits over the candidates.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    pub to: usize,
    pub positive: u32,
    pub negative: u32,
}

/// The edges out of a state.
pub type Outgoing = Vec<Edge>;

/// What machines are made of.
pub struct Space<'a> {
    pub problem: &'a Problem,
    pub atoms: Vec<Candidate>,
    traces: Vec<(Kind, Vec<u32>)>,
    /// Whether there is a rejecting state.
    rejecting: bool,
    /// For each number of literals: every set of them that may stand on an edge, the positive and the negative ones.
    labels: Vec<Vec<(u32, u32)>>,
    /// For each candidate: those that follow from it.
    implied: Vec<u32>,
}

impl<'a> Space<'a> {
    pub fn new(problem: &'a Problem) -> Self {
        let atoms = atoms(&problem.signature, &problem.options);
        let follow = |a: &Candidate| bits(&atoms, |b| b.follows_from(a));
        Self {
            problem,
            traces: traces(problem),
            rejecting: (problem.traces.iter()).any(|trace| trace.kind() == Kind::DeadEnd),
            labels: (0..MAX_SIZE)
                .map(|literals| labels(problem, &atoms, literals))
                .collect(),
            implied: atoms.iter().map(follow).collect(),
            atoms,
        }
    }

    /// Whether something positive on one edge implies something negative on the other.
    fn apart(&self, one: &Edge, other: &Edge) -> bool {
        let excludes = |a: &Edge, b: &Edge| self.denied(a.positive) & b.negative != 0;
        excludes(one, other) || excludes(other, one)
    }

    /// The candidates that follow from one of these.
    pub fn denied(&self, positive: u32) -> u32 {
        let given = (0..self.atoms.len()).filter(|a| positive >> a & 1 == 1);
        given.fold(0, |all, a| all | self.implied[a])
    }

    /// How many runs are wrong before they enter a state that is still to be filled.
    fn mistakes(&self, machine: &[Outgoing], states: usize) -> usize {
        let right = |(kind, steps): &&(Kind, Vec<u32>)| {
            let (mut state, mut buffer) = (0, 0);
            for (i, &newest) in steps.iter().enumerate() {
                buffer |= newest;
                let truth = bits(&self.atoms, |atom| atom.holds(newest, buffer));
                let fires =
                    |edge: &&Edge| edge.positive & !truth == 0 && edge.negative & truth == 0;
                if let Some(edge) = machine[state].iter().find(fires) {
                    (state, buffer) = (edge.to, 0);
                }
                if state >= states {
                    let kinds = [Kind::Goal, Kind::DeadEnd];
                    return i + 1 == steps.len() && *kind == kinds[state - states];
                }
                if state >= machine.len() {
                    return true;
                }
            }
            *kind == Kind::Incomplete
        };
        self.traces.len() - self.traces.iter().filter(right).count()
    }

    pub fn cost(&self, machine: &[Outgoing]) -> Cost {
        let ground = bits(&self.atoms, |atom| atom.ground);
        let mut cost = Cost::default();
        for edge in machine.iter().flatten() {
            let count = |bits: u32| bits.count_ones() as usize;
            cost.size += 1 + weight(&self.atoms, edge.positive | edge.negative);
            cost.ground += count(edge.positive & ground) + count(edge.negative & ground);
            cost.negative += count(edge.negative);
        }
        cost
    }
}

struct Search<'a> {
    space: &'a Space<'a>,
    /// Non-terminal states; the accepting one follows, then the rejecting one.
    states: usize,
    /// How many traces may be misjudged.
    tolerated: usize,
    /// For each state and size: every set of edges out of it, as far as they were needed.
    outgoing: Vec<Vec<Vec<Outgoing>>>,
}

/// What is done with every machine, until it has enough.
type Visit<'a> = &'a mut dyn FnMut(&[Outgoing]) -> ControlFlow<()>;

impl<'a> Search<'a> {
    fn new(space: &'a Space<'a>, states: usize) -> Self {
        Self {
            space,
            states,
            tolerated: 0,
            outgoing: vec![Vec::new(); states],
        }
    }

    /// Visits every machine that begins with these states and has `size` more edges and literals.
    fn fill(
        &mut self,
        machine: &mut Vec<Outgoing>,
        size: usize,
        visit: Visit<'_>,
    ) -> ControlFlow<()> {
        if !machine.is_empty() && self.space.mistakes(machine, self.states) > self.tolerated {
            return ControlFlow::Continue(());
        }
        if machine.len() == self.states {
            if size == 0 && (self.space.problem.options.cyclic || acyclic(machine)) {
                return visit(machine);
            }
            return ControlFlow::Continue(());
        }
        let state = machine.len();
        // The last state takes what is left.
        let least = if state + 1 == self.states { size } else { 0 };
        for part in least..=size {
            self.prepare(state, part);
            for i in 0..self.outgoing[state][part].len() {
                machine.push(self.outgoing[state][part][i].clone());
                let enough = self.fill(machine, size - part, visit);
                machine.pop();
                enough?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Lists the sets of edges out of a state, up to a size.
    fn prepare(&mut self, state: usize, size: usize) {
        for size in self.outgoing[state].len()..=size {
            let rejecting = self.space.rejecting;
            let targets: Vec<usize> = (0..=self.states + usize::from(rejecting))
                .filter(|to| *to != state)
                .flat_map(|to| vec![to; self.space.problem.options.max_disjuncts])
                .collect();
            let mut sets = Vec::new();
            self.choose(&targets, size, &mut Vec::new(), &mut sets);
            self.outgoing[state].push(sets);
        }
    }

    /// Adds an edge or none to each of the targets.
    fn choose(
        &self,
        targets: &[usize],
        size: usize,
        edges: &mut Outgoing,
        sets: &mut Vec<Outgoing>,
    ) {
        let Some((&to, rest)) = targets.split_first() else {
            if size == 0 && self.denies_only_what_is_awaited(edges) {
                sets.push(edges.clone());
            }
            return;
        };
        self.choose(rest, size, edges, sets);
        for literals in 1..size {
            for &(positive, negative) in &self.space.labels[literals] {
                let edge = Edge {
                    to,
                    positive,
                    negative,
                };
                if edges
                    .iter()
                    .all(|other| other.to == to || self.space.apart(other, &edge))
                {
                    edges.push(edge);
                    self.choose(rest, size - 1 - literals, edges, sets);
                    edges.pop();
                }
            }
        }
    }
}

impl Search<'_> {
    /// With the bias, a negated `forall`, `atleast` or `once` stands only in states with an edge that has it.
    fn denies_only_what_is_awaited(&self, edges: &Outgoing) -> bool {
        let counts = bits(&self.space.atoms, |atom| {
            matches!(atom.looks, Looks::Count(_))
        });
        let awaited = edges.iter().fold(0, |all, edge| all | edge.positive);
        let denied = edges.iter().fold(0, |all, edge| all | edge.negative);
        !self.space.problem.options.forall_alone || denied & counts & !awaited == 0
    }
}

/// The candidates of some sort.
fn bits(atoms: &[Candidate], select: impl Fn(&Candidate) -> bool) -> u32 {
    let chosen = atoms.iter().enumerate().filter(|(_, atom)| select(atom));
    chosen.map(|(i, _)| 1 << i).sum()
}

/// What these candidates cost on an edge.
fn weight(atoms: &[Candidate], used: u32) -> usize {
    let used = (atoms.iter().enumerate()).filter(|(i, _)| used >> i & 1 == 1);
    used.map(|(_, atom)| atom.cost).sum()
}

/// All sets of literals of this cost that an edge may have.
fn labels(problem: &Problem, atoms: &[Candidate], literals: usize) -> Vec<(u32, u32)> {
    let foralls = bits(atoms, |atom| atom.forall);
    let counts = bits(atoms, |atom| matches!(atom.looks, Looks::Count(_)));
    let now = bits(atoms, |atom| atom.looks == Looks::Newest);
    let mut labels = Vec::new();
    for used in (0..1_u32 << atoms.len())
        .filter(|used| used.count_ones() as usize <= literals && weight(atoms, *used) == literals)
    {
        // Every non-empty subset of the used atoms may be the positive ones.
        let mut positive = used;
        while positive > 0 {
            let alone = (positive & foralls == 0 || used.count_ones() == 1)
                && (positive & counts == 0 || used & now == 0);
            if alone || !problem.options.forall_alone {
                labels.push((positive, used & !positive));
            }
            positive = (positive - 1) & used;
        }
    }
    labels
}

/// Whether no path leads back to where it began.
fn acyclic(machine: &[Outgoing]) -> bool {
    let mut left: Vec<usize> = (0..machine.len()).collect();
    // Again and again a state from which no state that is left can be entered is taken away.
    loop {
        let leaf = left
            .iter()
            .position(|&u| machine[u].iter().all(|edge| !left.contains(&edge.to)));
        match leaf {
            Some(i) => left.remove(i),
            None => return left.is_empty(),
        };
    }
}
