//! Replaying machines on traces with objects of their own: the ranges of `forall` in each trace.
//!
//! [`Lifting`](crate::Lifting) takes the names of objects from traces for the learner. Here they keep them, and each trace gets the atoms
//! that can be observed in it, by the same rule: of predicates with one argument, those over all objects of the trace that are of its sort;
//! of the others, the atoms of the trace. The evaluator judges machines by that ([`BoundMachine::within`](form_core::BoundMachine::within)).

use std::collections::HashMap;

use form_core::{AtomId, AtomSet, GroundAtom, Name, Signature};

use crate::lifted::sorts;

/// The atoms that can be observed in each of some traces, if every trace has objects of its own.
///
/// ```
/// use form_core::{Machine, Signature};
/// use form_learn::OwnObjects;
/// let own = OwnObjects::new(&Signature::parse(["paid(o1)", "paid(o2)"])?);
/// let machine: Machine = "initial u0\naccept u1\nu0 -> u1 : forall X. paid(X)".parse()?;
/// let machine = machine.bind(own.signature())?;
/// let first = own.signature().observation(["paid(o1)"])?;
/// let u0 = machine.machine().initial();
/// assert!(machine.choose(u0, &first, &first).is_none());
/// let machine = machine.within(&own.of(&[first.clone()]));
/// assert!(machine.choose(u0, &first, &first).is_some());
/// # Ok::<(), form_learn::Error>(())
/// ```
pub struct OwnObjects {
    signature: Signature,
    /// For each atom of the signature, those that can be observed wherever its objects are.
    implied: Vec<Vec<AtomId>>,
}

impl OwnObjects {
    /// For traces over this signature.
    pub fn new(signature: &Signature) -> Self {
        let sorts = sorts(signature);
        let mut predicates: HashMap<usize, Vec<&Name>> = HashMap::new();
        for ((predicate, arity, _), sort) in &sorts {
            if *arity == 1 {
                predicates.entry(*sort).or_default().push(predicate);
            }
        }
        // Each object with each predicate of its sort.
        let mut over: HashMap<(usize, &Name), Vec<GroundAtom>> = HashMap::new();
        for atom in signature.atoms() {
            for (sort, object) in objects(&sorts, atom) {
                over.entry((sort, object)).or_insert_with(|| {
                    let of_sort = predicates.get(&sort).into_iter().flatten();
                    of_sort
                        .map(|predicate| {
                            GroundAtom::new((*predicate).clone(), vec![object.clone()])
                        })
                        .collect()
                });
            }
        }
        let all = signature.atoms().iter().chain(over.values().flatten());
        let whole = Signature::new(all.cloned());
        let implied = (whole.atoms().iter())
            .map(|atom| {
                (objects(&sorts, atom).filter_map(|object| over.get(&object)))
                    .flatten()
                    .filter_map(|atom| whole.id_of(atom))
                    .collect()
            })
            .collect();
        Self {
            signature: whole,
            implied,
        }
    }

    /// The signature of the traces, and what else could be observed of their objects.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// The atoms that can be observed in a trace with these observations.
    pub fn of(&self, observations: &[AtomSet]) -> AtomSet {
        let mut own = AtomSet::new();
        for observation in observations {
            own.union_with(observation);
        }
        for atom in own.clone().iter() {
            for implied in &self.implied[atom.index()] {
                own.insert(*implied);
            }
        }
        own
    }
}

/// The objects of an atom, with their sorts.
fn objects<'a>(
    sorts: &HashMap<(Name, usize, usize), usize>,
    atom: &'a GroundAtom,
) -> impl Iterator<Item = (usize, &'a Name)> {
    let constants = atom.constants();
    (constants.iter().enumerate()).map(move |(i, object)| {
        let place = (atom.predicate().clone(), constants.len(), i);
        (sorts[&place], object)
    })
}
