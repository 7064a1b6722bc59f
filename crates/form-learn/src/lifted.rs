//! Traces with objects of their own: `forall` ranges over the objects of each trace, and no edge names an object.
//!
//! Orders, patients, parcels: every trace is about other objects. Their names mean nothing then, so they are replaced by numbers in
//! the order of their first occurrence; thousands of traces become few different ones, and the cost of learning no longer
//! depends on the number of objects. A `forall` needs the range of each trace: for every predicate `p` there is a second one,
//! `all__p`, that holds in every observation for the objects that a trace does not have. The learner's `forall` atoms are about
//! it, and lose the prefix in the answer.
//!
//! Objects are of one sort if some predicate has them in the same place, directly or through others. The range of a predicate with
//! one argument is all objects of the trace that are of its sort; that of one with more arguments, its atoms in the trace.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use form_core::{
    Atom, AtomSet, Formula, GroundAtom, Kind, Machine, Name, QuantifiedAtom, Quantifier, Signature,
    StepMode, Term, Trace,
};

use crate::error::{Error, Result};
use crate::vocabulary::LearnableAtom;
use crate::window::Window;

/// The prefix of the predicates that `forall` is about.
const ALL: &str = "all__";

/// Traces whose objects have lost their names.
pub struct LiftedTraces {
    /// The atoms over numbered objects.
    pub signature: Signature,
    /// The traces over them, in the order in which they were added.
    pub traces: Vec<Trace>,
}

/// Takes the names of objects from traces.
///
/// ```
/// use form_core::{Kind, Signature, Trace};
/// use form_learn::Lifting;
/// let signature = Signature::parse(["paid(o1)", "paid(o2)", "end"])?;
/// let mut lifting = Lifting::new(&signature);
/// for atom in ["paid(o1)", "paid(o2)"] {
///     lifting.add(&Trace::new(Kind::Goal, [signature.observation([atom])?]));
/// }
/// let lifted = lifting.finish()?;
/// assert_eq!(lifted.traces[0], lifted.traces[1]);
/// # Ok::<(), form_learn::Error>(())
/// ```
pub struct Lifting {
    signature: Signature,
    /// For each predicate, number of arguments and argument: its sort.
    sorts: HashMap<(Name, usize, usize), usize>,
    traces: Vec<OwnTrace>,
}

/// A predicate and the numbers of its arguments, each of a sort.
type OwnAtom = (Name, Vec<(usize, usize)>);

/// A trace over numbered objects.
struct OwnTrace {
    kind: Kind,
    mode: StepMode,
    steps: Vec<Vec<OwnAtom>>,
    /// The number of objects of each sort.
    objects: BTreeMap<usize, usize>,
}

impl Lifting {
    /// For traces over this signature, which is that of all of them.
    pub fn new(signature: &Signature) -> Self {
        Self {
            signature: signature.clone(),
            sorts: sorts(signature),
            traces: Vec::new(),
        }
    }

    /// Adds a trace.
    pub fn add(&mut self, trace: &Trace) {
        let mut numbers: HashMap<(usize, &Name), usize> = HashMap::new();
        let mut objects: BTreeMap<usize, usize> = BTreeMap::new();
        let mut steps = Vec::with_capacity(trace.steps().len());
        for step in trace.steps() {
            let mut atoms: Vec<OwnAtom> = Vec::new();
            for id in step.iter() {
                let atom = self.signature.atom(id);
                let constants = atom.constants();
                let arguments = constants.iter().enumerate().map(|(i, constant)| {
                    let sort = self.sorts[&(atom.predicate().clone(), constants.len(), i)];
                    let number = *numbers.entry((sort, constant)).or_insert_with(|| {
                        let next = objects.entry(sort).or_default();
                        *next += 1;
                        *next - 1
                    });
                    (sort, number)
                });
                atoms.push((atom.predicate().clone(), arguments.collect()));
            }
            steps.push(atoms);
        }
        self.traces.push(OwnTrace {
            kind: trace.kind(),
            mode: trace.step_mode(),
            steps,
            objects,
        });
    }

    /// The traces without names.
    pub fn finish(self) -> Result<LiftedTraces> {
        let reserved = |atom: &&GroundAtom| atom.predicate().as_str().starts_with(ALL);
        if let Some(atom) = self.signature.atoms().iter().find(reserved) {
            return Err(Error::ReservedName {
                atom: atom.to_string(),
                prefix: ALL,
            });
        }
        // The ranges of all predicates in each trace, and in some trace.
        let unary: BTreeMap<Name, usize> = (self.sorts.iter())
            .filter(|((_, arity, _), _)| *arity == 1)
            .map(|((predicate, _, _), sort)| (predicate.clone(), *sort))
            .collect();
        let ranges: Vec<BTreeMap<Name, BTreeSet<OwnAtom>>> = (self.traces.iter())
            .map(|trace| trace.ranges(&unary))
            .collect();
        let mut widest: BTreeMap<Name, BTreeSet<OwnAtom>> = BTreeMap::new();
        for (predicate, range) in ranges.iter().flatten() {
            let known = widest.entry(predicate.clone()).or_default();
            known.extend(range.iter().cloned());
        }
        let mut atoms: BTreeSet<String> = BTreeSet::new();
        for trace in &self.traces {
            atoms.extend(trace.steps.iter().flatten().map(|atom| written("", atom)));
        }
        atoms.extend(widest.values().flatten().map(|atom| written(ALL, atom)));
        // Propositions that were declared stay, although no trace has them.
        let propositions = self.signature.atoms().iter();
        atoms.extend(
            propositions
                .filter(|a| a.constants().is_empty())
                .map(ToString::to_string),
        );
        let signature = Signature::parse(&atoms)?;
        let mut texts: HashMap<(&'static str, OwnAtom), form_core::AtomId> = HashMap::new();
        let mut id = |prefix: &'static str, atom: &OwnAtom| -> Result<form_core::AtomId> {
            if let Some(id) = texts.get(&(prefix, atom.clone())) {
                return Ok(*id);
            }
            let id = signature.id_of_written(&written(prefix, atom))?;
            texts.insert((prefix, atom.clone()), id);
            Ok(id)
        };
        let mut traces = Vec::with_capacity(self.traces.len());
        for (trace, ranges) in self.traces.iter().zip(&ranges) {
            let mut absent = AtomSet::new();
            for (predicate, range) in ranges {
                for atom in widest[predicate].difference(range) {
                    absent.insert(id(ALL, atom)?);
                }
            }
            let mut steps = Vec::with_capacity(trace.steps.len());
            for step in &trace.steps {
                let mut observation = absent.clone();
                for atom in step {
                    observation.insert(id("", atom)?);
                    if !atom.1.is_empty() {
                        observation.insert(id(ALL, atom)?);
                    }
                }
                steps.push(observation);
            }
            traces.push(Trace::with_mode(trace.mode, trace.kind, steps));
        }
        Ok(LiftedTraces { signature, traces })
    }
}

impl OwnTrace {
    /// The atoms that `forall` is about, by predicate.
    fn ranges(&self, unary: &BTreeMap<Name, usize>) -> BTreeMap<Name, BTreeSet<OwnAtom>> {
        let mut ranges: BTreeMap<Name, BTreeSet<OwnAtom>> = BTreeMap::new();
        for (predicate, sort) in unary {
            for number in 0..self.objects.get(sort).copied().unwrap_or(0) {
                let atom = (predicate.clone(), vec![(*sort, number)]);
                ranges.entry(predicate.clone()).or_default().insert(atom);
            }
        }
        for atom in self
            .steps
            .iter()
            .flatten()
            .filter(|atom| !atom.1.is_empty())
        {
            ranges
                .entry(atom.0.clone())
                .or_default()
                .insert(atom.clone());
        }
        ranges
    }
}

/// An atom over numbered objects as text.
fn written(prefix: &str, (predicate, arguments): &OwnAtom) -> String {
    let arguments: Vec<String> = (arguments.iter())
        .map(|(sort, number)| format!("s{sort}x{number}"))
        .collect();
    match arguments.is_empty() {
        true => predicate.to_string(),
        false => format!("{prefix}{predicate}({})", arguments.join(",")),
    }
}

/// The sorts of all arguments: union-find over the objects that they share.
fn sorts(signature: &Signature) -> HashMap<(Name, usize, usize), usize> {
    let mut places: HashMap<(Name, usize, usize), usize> = HashMap::new();
    let mut parent: Vec<usize> = Vec::new();
    let mut of_object: HashMap<&Name, usize> = HashMap::new();
    fn root(parent: &mut [usize], mut place: usize) -> usize {
        while parent[place] != place {
            parent[place] = parent[parent[place]];
            place = parent[place];
        }
        place
    }
    for atom in signature.atoms() {
        let constants = atom.constants();
        for (i, constant) in constants.iter().enumerate() {
            let next = parent.len();
            let place =
                *(places.entry((atom.predicate().clone(), constants.len(), i))).or_insert(next);
            if place == next {
                parent.push(next);
            }
            let known = *of_object.entry(constant).or_insert(place);
            let (a, b) = (root(&mut parent, place), root(&mut parent, known));
            // The first is the representative, so that sorts do not depend on the order of a table.
            parent[a.max(b)] = a.min(b);
        }
    }
    (places.into_iter())
        .map(|(place, number)| (place, root(&mut parent, number)))
        .collect()
}

/// The atoms that edges are made of: quantified over all arguments, and propositions.
pub(crate) fn lifted_vocabulary(signature: &Signature, first_order: bool) -> Vec<LearnableAtom> {
    let mut predicates: BTreeSet<(Name, usize)> = BTreeSet::new();
    for atom in signature.atoms() {
        predicates.insert((atom.predicate().clone(), atom.constants().len()));
    }
    let mut vocabulary = Vec::new();
    for quantifier in [Quantifier::Exists, Quantifier::Forall] {
        let forall = quantifier == Quantifier::Forall;
        for (predicate, arity) in (predicates.iter()).filter(|(_, arity)| *arity > 0 && first_order)
        {
            if predicate.to_string().starts_with(ALL) != forall {
                continue;
            }
            let terms = (0..*arity).map(|i| Term::Variable(i as u32));
            let atom = QuantifiedAtom::new(quantifier, predicate.clone(), terms);
            let atom = atom.expect("it has a variable");
            vocabulary.push(LearnableAtom {
                window: forall
                    .then(|| Window::Count(signature.instances(&atom.literals()[0]).len())),
                mask: signature.instances(&atom.literals()[0]),
                atom: atom.into(),
                ground: false,
                cost: 1,
            });
        }
    }
    let is_proposition = |atom: &GroundAtom| atom.constants().is_empty();
    for (id, atom) in (signature.ids().zip(signature.atoms())).filter(|(_, a)| is_proposition(a)) {
        vocabulary.push(LearnableAtom {
            atom: atom.clone().into(),
            mask: AtomSet::from_iter([id]),
            window: None,
            ground: false,
            cost: 1,
        });
    }
    vocabulary
}

/// A machine that was learnt from lifted traces, over the predicates of the original ones.
pub fn unlift(machine: &Machine) -> Result<Machine> {
    let name = |state| machine.state_name(state);
    let mut builder = Machine::builder(machine.name())
        .initial(name(machine.initial()))
        .accept(name(machine.accept()))
        .step_mode(machine.step_mode());
    if let Some(reject) = machine.reject() {
        builder = builder.reject(name(reject));
    }
    builder = builder.states(machine.states().iter().map(Name::as_str));
    for edge in machine.edges() {
        let formula = edge.formula.substitute(|atom| {
            let Atom::Quantified(quantified) = atom else {
                return None;
            };
            let literal = quantified.single()?;
            let predicate = Name::new(literal.predicate.as_str().strip_prefix(ALL)?).ok()?;
            let terms = literal.terms.iter().cloned();
            let own = QuantifiedAtom::new(quantified.quantifier(), predicate, terms)?;
            Some(Formula::atom(own))
        });
        builder = builder.edge_with(name(edge.from), name(edge.to), formula, edge.reward);
    }
    Ok(builder.build()?)
}
