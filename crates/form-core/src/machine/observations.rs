//! The sets of observations over which machines are grounded and compared.

use super::step_mode::StepMode;
use crate::error::{Error, Result};
use crate::logic::atom_set::{AtomId, AtomSet};
use crate::logic::signature::Signature;

/// Which observations can occur.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observations {
    /// Every set of atoms; the empty one only where every step counts.
    All,
    /// One atom at a time, as in the paper's grid world; or none where every step counts.
    Single,
    /// These, such as those of a trace file.
    Given(Vec<AtomSet>),
}

/// The maximum number of enumerated observations.
const LIMIT: usize = 1 << 20;

impl Observations {
    /// As messages word it.
    pub fn describe(&self) -> String {
        match self {
            Self::All => "all sets of atoms".to_owned(),
            Self::Single => "one atom at a time".to_owned(),
            Self::Given(list) => format!("the {} given ones", list.len()),
        }
    }

    /// Representatives of all observations, for machines that test only the relevant atoms and count these steps.
    ///
    /// Two atoms stand for all that are not relevant: one distinguishes an observation from an equal one before it, or makes an
    /// empty one non-empty; with the other, two such observations can follow each other.
    pub(crate) fn enumerate(
        &self,
        relevant: &AtomSet,
        signature: &Signature,
        steps: StepMode,
    ) -> Result<Vec<AtomSet>> {
        let empty = (steps == StepMode::All).then(AtomSet::new);
        let mut spare = signature.ids().filter(|id| !relevant.contains(*id));
        let mut atoms: Vec<AtomId> = relevant.iter().collect();
        atoms.extend(spare.next());
        let second_spare = spare.next().map(|id| AtomSet::from_iter([id]));
        match self {
            Self::All => {
                let count = 1_usize
                    .checked_shl(atoms.len() as u32)
                    .filter(|n| *n <= LIMIT);
                let count = count.ok_or_else(|| Error::Limit {
                    what: format!("all sets of {} relevant atoms", atoms.len()),
                    limit: LIMIT,
                    hint:
                        "compare over one atom at a time (`form diff --observations single`), or over the observations of a trace file"
                            .to_owned(),
                })?;
                let subset = |bits: usize| {
                    (atoms.iter().enumerate()).filter(move |(i, _)| bits >> i & 1 == 1)
                };
                let mut all: Vec<AtomSet> = (1..count)
                    .map(|bits| subset(bits).map(|(_, id)| *id).collect())
                    .chain(empty)
                    .chain(second_spare)
                    .collect();
                // Few atoms first: a shortest trace is then also a simple one.
                all.sort();
                Ok(all)
            }
            Self::Single => {
                let one = atoms.iter().map(|id| AtomSet::from_iter([*id]));
                Ok(empty.into_iter().chain(one).chain(second_spare).collect())
            }
            Self::Given(list) => {
                let counts = |set: &&AtomSet| !set.is_empty() || empty.is_some();
                let mut list: Vec<AtomSet> = list.iter().filter(counts).cloned().collect();
                list.sort();
                list.dedup();
                Ok(list)
            }
        }
    }
}
