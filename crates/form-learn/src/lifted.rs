//! Traces with objects of their own: `forall` ranges over the objects of each trace, and no edge names an object.
//!
//! Orders, patients, parcels: every trace is about other objects. Their names mean nothing then, so they are replaced by numbers in
//! the order of their first occurrence; thousands of traces become few different ones, and the cost of learning no longer
//! depends on the number of objects. A `forall` needs the range of each trace: for every predicate `p` there is a second one,
//! `all__p`, that holds in every observation for the objects that a trace does not have. The learner's `forall` atoms are about
//! it, and lose the prefix in the answer.
//!
//! A trace may bring the atoms that can be observed in it, its own signature: then these are the ranges. Else objects are of one
//! sort if some predicate has them in the same place, directly or through others. The range of a predicate with one argument is then all
//! objects of the trace that are of its sort; that of one with more arguments, its atoms in the trace. Over an empty range `forall` does
//! not hold, as the evaluator has it: such a trace gets an atom of `all__p` that is never observed, and that holds in all others.
//!
//! Constants that all traces share may keep their names: edges can name them then.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use form_core::{
    Atom, AtomSet, Formula, GroundAtom, Kind, Machine, Name, QuantifiedAtom, Quantifier, Signature,
    StepMode, Term, Trace,
};

use crate::error::{Error, Result};
use crate::outcome::{LearnOutcome, Learnt};
use crate::vocabulary::LearnableAtom;
use crate::window::Window;

/// The prefix of the predicates that `forall` is about.
pub(crate) const ALL: &str = "all__";
/// Stands for the objects of an empty range.
pub(crate) const NOTHING: &str = "nothing__";

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
    /// Constants that keep their names.
    shared: BTreeSet<Name>,
    traces: Vec<OwnTrace>,
}

/// An argument of an atom.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Argument {
    /// An object of a sort, by its number in the trace.
    Numbered(usize, usize),
    /// A constant that all traces share.
    Shared(Name),
    /// No object: it stands for an empty range.
    Nothing,
}

/// A predicate and its arguments.
type OwnAtom = (Name, Vec<Argument>);

/// A predicate and its number of arguments.
pub(crate) type Family = (Name, usize);

/// A trace over numbered objects.
struct OwnTrace {
    kind: Kind,
    mode: StepMode,
    steps: Vec<Vec<OwnAtom>>,
    /// The number of objects of each sort.
    objects: BTreeMap<usize, usize>,
    /// The atoms that can be observed in it, if it says so.
    own: Option<BTreeSet<OwnAtom>>,
}

/// The constants that occur in all these signatures, each a part of one signature.
pub fn shared_constants<'a>(
    signature: &Signature,
    own: impl IntoIterator<Item = &'a AtomSet>,
) -> BTreeSet<Name> {
    let mut shared: Option<BTreeSet<Name>> = None;
    for atoms in own {
        let constants = atoms.iter().flat_map(|id| signature.atom(id).constants());
        let constants: BTreeSet<Name> = constants.cloned().collect();
        shared = Some(match shared {
            None => constants,
            Some(shared) => shared.intersection(&constants).cloned().collect(),
        });
    }
    shared.unwrap_or_default()
}

/// Takes the names of objects from traces over one signature. With `shared`, constants that occur in the signatures of all traces keep
/// theirs; a trace without one of its own has the whole signature.
pub fn lift(signature: &Signature, traces: &[Trace], shared: bool) -> Result<LiftedTraces> {
    let all: AtomSet = signature.ids().collect();
    let own = (traces.iter()).map(|trace| trace.own_signature().unwrap_or(&all));
    let mut lifting = match shared {
        true => Lifting::with_shared(signature, shared_constants(signature, own)),
        false => Lifting::new(signature),
    };
    for trace in traces {
        match trace.own_signature() {
            None if shared => lifting.add(&trace.clone().with_signature(all.clone())),
            _ => lifting.add(trace),
        }
    }
    lifting.finish()
}

impl Lifting {
    /// For traces over this signature, which is that of all of them.
    pub fn new(signature: &Signature) -> Self {
        Self {
            signature: signature.clone(),
            sorts: sorts(signature),
            shared: BTreeSet::new(),
            traces: Vec::new(),
        }
    }

    /// As [`new`](Self::new), and these constants keep their names: see [`shared_constants`].
    pub fn with_shared(signature: &Signature, mut shared: BTreeSet<Name>) -> Self {
        shared.retain(|name| !is_replacement(name.as_str()));
        Self {
            shared,
            ..Self::new(signature)
        }
    }

    /// Adds a trace. It may bring the atoms that can be observed in it: see [`Trace::with_signature`].
    pub fn add(&mut self, trace: &Trace) {
        let mut numbers: HashMap<(usize, &Name), usize> = HashMap::new();
        let mut objects: BTreeMap<usize, usize> = BTreeMap::new();
        let mut lifted = |id| -> OwnAtom {
            let atom = self.signature.atom(id);
            let constants = atom.constants();
            let arguments = constants.iter().enumerate().map(|(i, constant)| {
                if self.shared.contains(constant) {
                    return Argument::Shared(constant.clone());
                }
                let sort = self.sorts[&(atom.predicate().clone(), constants.len(), i)];
                let number = *numbers.entry((sort, constant)).or_insert_with(|| {
                    let next = objects.entry(sort).or_default();
                    *next += 1;
                    *next - 1
                });
                Argument::Numbered(sort, number)
            });
            (atom.predicate().clone(), arguments.collect())
        };
        let steps = trace.steps().iter();
        let steps = steps.map(|step| step.iter().map(&mut lifted).collect());
        let steps = steps.collect();
        // After the steps: objects have the numbers of their first occurrence there.
        let own = trace.own_signature();
        let own = own.map(|own| own.iter().map(&mut lifted).collect());
        self.traces.push(OwnTrace {
            kind: trace.kind(),
            mode: trace.step_mode(),
            steps,
            objects,
            own,
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
        let mut ranges: Vec<BTreeMap<Family, BTreeSet<OwnAtom>>> = (self.traces.iter())
            .map(|trace| trace.ranges(&unary))
            .collect();
        let mut widest: BTreeMap<Family, BTreeSet<OwnAtom>> = BTreeMap::new();
        for (family, range) in ranges.iter().flatten() {
            let known = widest.entry(family.clone()).or_default();
            known.extend(range.iter().cloned());
        }
        // An empty range has one atom, which is never observed.
        for (family, widest) in &mut widest {
            for ranges in &mut ranges {
                if !ranges.contains_key(family) {
                    let nothing = (family.0.clone(), vec![Argument::Nothing; family.1]);
                    widest.insert(nothing.clone());
                    ranges.insert(family.clone(), BTreeSet::from([nothing]));
                }
            }
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
    fn ranges(&self, unary: &BTreeMap<Name, usize>) -> BTreeMap<Family, BTreeSet<OwnAtom>> {
        let mut ranges: BTreeMap<Family, BTreeSet<OwnAtom>> = BTreeMap::new();
        let mut add = |atom: OwnAtom| {
            let family = (atom.0.clone(), atom.1.len());
            if family.1 > 0 {
                ranges.entry(family).or_default().insert(atom);
            }
        };
        if let Some(own) = &self.own {
            own.iter().cloned().for_each(add);
            return ranges;
        }
        for (predicate, sort) in unary {
            for number in 0..self.objects.get(sort).copied().unwrap_or(0) {
                add((predicate.clone(), vec![Argument::Numbered(*sort, number)]));
            }
        }
        self.steps.iter().flatten().cloned().for_each(add);
        ranges
    }
}

/// An atom over numbered objects as text.
fn written(prefix: &str, (predicate, arguments): &OwnAtom) -> String {
    let arguments: Vec<String> = (arguments.iter())
        .map(|argument| match argument {
            Argument::Numbered(sort, number) => format!("s{sort}x{number}"),
            Argument::Shared(name) => name.to_string(),
            Argument::Nothing => NOTHING.to_owned(),
        })
        .collect();
    match arguments.is_empty() {
        true => predicate.to_string(),
        false => format!("{prefix}{predicate}({})", arguments.join(",")),
    }
}

/// Whether a constant stands for a numbered object, or for none.
pub(crate) fn is_replacement(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let numbered = (name.strip_prefix('s')).and_then(|rest| rest.split_once('x'));
    name == NOTHING || numbered.is_some_and(|(sort, number)| is_number(sort) && is_number(number))
}

/// The sorts of all arguments: union-find over the objects that they share.
pub(crate) fn sorts(signature: &Signature) -> HashMap<(Name, usize, usize), usize> {
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

/// The atoms that edges are made of: quantified over all arguments, `exists` also over those that are no `named` constants;
/// propositions; and atoms over named constants.
pub(crate) fn lifted_vocabulary(
    signature: &Signature,
    first_order: bool,
    named: impl Fn(&Name) -> bool,
) -> Vec<LearnableAtom> {
    let is_all = |atom: &GroundAtom| atom.predicate().as_str().starts_with(ALL);
    let mut patterns: BTreeSet<(bool, Name, Vec<Term>)> = BTreeSet::new();
    for atom in signature.atoms().iter().filter(|_| first_order) {
        let constants = atom.constants().iter().enumerate();
        let variables = constants.clone().map(|(i, _)| Term::Variable(i as u32));
        let pattern = |terms| (is_all(atom), atom.predicate().clone(), terms);
        patterns.insert(pattern(variables.collect()));
        if !is_all(atom) {
            let terms = constants.map(|(i, constant)| match named(constant) {
                true => Term::Constant(constant.clone()),
                false => Term::Variable(i as u32),
            });
            patterns.insert(pattern(terms.collect()));
        }
    }
    let mut vocabulary = Vec::new();
    for (forall, predicate, terms) in patterns {
        let quantifier = match forall {
            true => Quantifier::Forall,
            false => Quantifier::Exists,
        };
        // Atoms without variables follow below.
        if let Some(atom) = QuantifiedAtom::new(quantifier, predicate, terms) {
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
    for (id, atom) in signature.ids().zip(signature.atoms()) {
        if !is_all(atom) && atom.constants().iter().all(&named) {
            vocabulary.push(LearnableAtom {
                atom: atom.clone().into(),
                mask: AtomSet::from_iter([id]),
                window: None,
                ground: !atom.constants().is_empty(),
                cost: 1,
            });
        }
    }
    vocabulary
}

impl LearnOutcome {
    /// The same outcome with the machine over the predicates of the original traces: see [`unlift`].
    pub fn unlifted(self) -> Result<Self> {
        let original = |learnt: Learnt| -> Result<Learnt> {
            let machine = unlift(&learnt.machine)?;
            Ok(Learnt { machine, ..learnt })
        };
        Ok(match self {
            Self::Minimal(learnt) => Self::Minimal(original(learnt)?),
            Self::Stopped {
                reason,
                at_least_states,
                at_least_cost,
                best,
            } => Self::Stopped {
                reason,
                at_least_states,
                at_least_cost,
                best: best.map(original).transpose()?,
            },
            contradictory @ Self::Contradictory(_) => contradictory,
        })
    }
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
