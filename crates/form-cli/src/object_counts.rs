//! In how many traces the objects occur: where most are in one trace only, every trace has objects of its own, and `--lifted` is meant.

use std::collections::BTreeMap;

use form_core::{AtomSet, Name, Signature, Trace};

use crate::output::count;

/// The fewest traces with objects that say something about them.
const LEAST_TRACES: usize = 4;

/// Where an atom or an object occurs.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Occurs {
    #[default]
    Nowhere,
    /// In the trace of this number.
    In(usize),
    InSeveral,
}

impl Occurs {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nowhere, one) | (one, Self::Nowhere) => one,
            (one, other) if one == other => one,
            _ => Self::InSeveral,
        }
    }
}

/// Where the atoms of traces occur.
pub struct ObjectCounts<'a> {
    signature: &'a Signature,
    atoms: Vec<Occurs>,
    traces: usize,
    /// How many traces have objects.
    with_objects: usize,
}

impl<'a> ObjectCounts<'a> {
    /// For traces over this signature.
    pub fn new(signature: &'a Signature) -> Self {
        Self {
            signature,
            atoms: vec![Occurs::default(); signature.len()],
            traces: 0,
            with_objects: 0,
        }
    }

    pub fn add(&mut self, trace: &Trace) {
        let mut all = AtomSet::new();
        for step in trace.steps() {
            all.union_with(step);
        }
        let mut has_objects = false;
        for id in all.iter() {
            let occurs = &mut self.atoms[id.index()];
            *occurs = occurs.and(Occurs::In(self.traces));
            has_objects |= !self.signature.atom(id).constants().is_empty();
        }
        self.traces += 1;
        self.with_objects += usize::from(has_objects);
    }

    /// `398 of 400 objects occur in one trace only`, if these are most of them.
    pub fn own_objects(&self) -> Option<String> {
        let mut objects: BTreeMap<&Name, Occurs> = BTreeMap::new();
        for (atom, occurs) in self.signature.atoms().iter().zip(&self.atoms) {
            for object in atom.constants() {
                let known = objects.entry(object).or_default();
                *known = known.and(*occurs);
            }
        }
        let one = |occurs: &&Occurs| matches!(occurs, Occurs::In(_));
        let (own, all) = (objects.values().filter(one).count(), objects.len());
        (self.with_objects >= LEAST_TRACES && 2 * own > all)
            .then(|| format!("{own} of {} occur in one trace only", count(all, "object")))
    }
}
