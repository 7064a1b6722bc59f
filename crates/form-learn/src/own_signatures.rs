//! Traces over one signature that each have a part of it as their own, added one after the other: what [lifting](crate::lifted) does where
//! all atoms, and those that every trace has, are known beforehand. So the learner keeps its proofs between calls.
//!
//! Objects keep their names. As in lifted traces, `forall` is about a second predicate `all__p`, which holds in every observation of a trace for the
//! atoms of `p` that the trace does not have, and for one more atom that only an empty range lacks.

use std::collections::{BTreeMap, BTreeSet};

use form_core::{AtomId, AtomSet, GroundAtom, Name, Signature, Trace};

use crate::error::{Error, Result};
use crate::lifted::{ALL, Family, NOTHING, lifted_vocabulary};
use crate::options::Options;
use crate::vocabulary::LearnableAtom;

/// Makes the traces that the learner gets.
#[derive(Clone, Debug)]
pub(crate) struct OwnSignatures {
    /// The atoms, and those that `forall` is about.
    pub(crate) signature: Signature,
    /// By atom: itself there.
    plain: Vec<AtomId>,
    /// By atom: what `forall` is about; nothing for propositions.
    ranged: Vec<Option<AtomId>>,
    /// For each predicate: its atoms, and the one that only an empty range lacks.
    families: Vec<(AtomSet, AtomId)>,
    /// The constants that every trace has.
    shared: BTreeSet<Name>,
    /// The predicates that some trace has no atom of: machines must not name them.
    missing: BTreeSet<Name>,
}

impl OwnSignatures {
    /// Of traces over this signature that all have the `shared` atoms.
    pub(crate) fn new(signature: &Signature, shared: &AtomSet) -> Result<Self> {
        let reserved = |atom: &&GroundAtom| atom.predicate().as_str().starts_with(ALL);
        if let Some(atom) = signature.atoms().iter().find(reserved) {
            return Err(Error::ReservedName {
                atom: atom.to_string(),
                prefix: ALL,
            });
        }
        let mut families: BTreeMap<Family, AtomSet> = BTreeMap::new();
        let mut texts: Vec<String> = Vec::new();
        for (id, atom) in signature.ids().zip(signature.atoms()) {
            texts.push(atom.to_string());
            if !atom.constants().is_empty() {
                texts.push(format!("{ALL}{atom}"));
                let family = (atom.predicate().clone(), atom.constants().len());
                families.entry(family).or_default().insert(id);
            }
        }
        let nothing = |(predicate, arity): &Family| {
            format!("{ALL}{predicate}({})", vec![NOTHING; *arity].join(","))
        };
        texts.extend(families.keys().map(nothing));
        let all = Signature::parse(&texts)?;
        let ranged = |atom: &GroundAtom| match atom.constants().is_empty() {
            true => Ok(None),
            false => all.id_of_written(&format!("{ALL}{atom}")).map(Some),
        };
        let constants = shared
            .iter()
            .flat_map(|id| signature.atom(id).constants().to_vec());
        let missing = (families.iter()).filter(|(_, atoms)| !atoms.intersects(shared));
        Ok(Self {
            missing: missing
                .flat_map(|((name, _), _)| [name.to_string(), format!("{ALL}{name}")])
                .map(|name| Name::new(&name))
                .collect::<Result<_, _>>()?,
            plain: (signature.atoms().iter())
                .map(|atom| all.id_of_written(&atom.to_string()))
                .collect::<Result<_, _>>()?,
            ranged: (signature.atoms().iter().map(ranged)).collect::<Result<_, _>>()?,
            families: (families.iter())
                .map(|(family, atoms)| Ok((atoms.clone(), all.id_of_written(&nothing(family))?)))
                .collect::<Result<_>>()?,
            shared: constants.collect(),
            signature: all,
        })
    }

    /// The atoms that edges are made of: only shared constants are named.
    pub(crate) fn vocabulary(&self, options: &Options) -> Vec<LearnableAtom> {
        let named = |name: &Name| self.shared.contains(name);
        let mut vocabulary = lifted_vocabulary(&self.signature, options.first_order, named);
        let is_missing = |(name, _): &(&Name, usize)| self.missing.contains(*name);
        vocabulary.retain(|learnable| !learnable.atom.predicates().iter().any(is_missing));
        vocabulary
    }

    /// A trace as the learner gets it. One without a signature of its own has all atoms.
    pub(crate) fn lift(&self, trace: &Trace) -> Trace {
        let mut absent = AtomSet::new();
        for (atoms, nothing) in &self.families {
            let Some(own) = trace.own_signature() else {
                absent.insert(*nothing);
                continue;
            };
            let lacking = atoms.difference(own);
            absent.extend(lacking.iter().filter_map(|atom| self.ranged[atom.index()]));
            if own.intersects(atoms) {
                absent.insert(*nothing);
            }
        }
        let observation = |step: &AtomSet| {
            let mut observation = absent.clone();
            for atom in step.iter() {
                observation.insert(self.plain[atom.index()]);
                observation.extend(self.ranged[atom.index()]);
            }
            observation
        };
        let steps = trace.steps().iter().map(observation);
        Trace::with_mode(trace.step_mode(), trace.kind(), steps)
    }
}
