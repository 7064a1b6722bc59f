//! The consumers of a line's atoms: the set of atoms that occur, or observations over a signature.

use std::collections::{HashMap, HashSet};

use super::line::Sink;
use crate::error::Error;
use crate::logic::atom::GroundAtom;
use crate::logic::atom_set::{AtomId, AtomSet};
use crate::logic::signature::Signature;
use crate::machine::step_mode::{Compressor, StepMode};

/// Collects the different atoms.
#[derive(Default)]
pub(crate) struct Collector {
    pub(crate) atoms: HashSet<String>,
}

impl Sink for Collector {
    fn atom(&mut self, text: &str) -> Result<(), String> {
        if !self.atoms.contains(text) {
            text.parse::<GroundAtom>().map_err(|error| short(&error))?;
            self.atoms.insert(text.to_owned());
        }
        Ok(())
    }

    fn end_of_step(&mut self) {}

    fn end_of_signature(&mut self) {}
}

/// Turns atoms into the observations of a signature that count.
pub(crate) struct Interner<'a> {
    signature: &'a Signature,
    /// The atoms that the file's first line declares, if any.
    declared: Option<&'a AtomSet>,
    /// Atoms in other than canonical form.
    others: HashMap<String, AtomId>,
    compressor: Compressor,
    current: AtomSet,
    pub(crate) steps: Vec<AtomSet>,
    /// The signature that the trace brings, if any.
    pub(crate) own: Option<AtomSet>,
    pub(crate) dropped: Dropped,
}

/// Observations of trace files that do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Empty ones.
    pub empty: u64,
    /// Those that repeat the one before.
    pub repeated: u64,
}

impl<'a> Interner<'a> {
    pub(crate) fn new(
        signature: &'a Signature,
        declared: Option<&'a AtomSet>,
        mode: StepMode,
    ) -> Self {
        Self {
            signature,
            declared,
            others: HashMap::new(),
            compressor: Compressor::new(mode),
            current: AtomSet::with_room_for(signature.len()),
            steps: Vec::new(),
            own: None,
            dropped: Dropped::default(),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.compressor.reset();
        self.current.clear();
        self.steps.clear();
        self.own = None;
        self.dropped = Dropped::default();
    }

    /// An observed atom that the trace's own signature lacks.
    pub(crate) fn undeclared(&self) -> Option<String> {
        let own = self.own.as_ref()?;
        let mut observed = self.steps.iter().flat_map(AtomSet::iter);
        let missing = observed.find(|id| !own.contains(*id))?;
        Some(self.signature.atom(missing).to_string())
    }
}

impl Sink for Interner<'_> {
    #[inline]
    fn atom(&mut self, text: &str) -> Result<(), String> {
        let known = self
            .signature
            .id_of_text(text)
            .or_else(|| self.others.get(text).copied());
        let id = match known {
            Some(id) => id,
            None => {
                let id = self
                    .signature
                    .id_of_written(text)
                    .map_err(|error| short(&error))?;
                self.others.insert(text.to_owned(), id);
                id
            }
        };
        if self.declared.is_some_and(|declared| !declared.contains(id)) {
            return Err(format!(
                "`{text}` is not in the signature that the first line declares"
            ));
        }
        self.current.insert(id);
        Ok(())
    }

    #[inline]
    fn end_of_step(&mut self) {
        if self.compressor.admits(&self.current) {
            self.steps.push(self.current.clone());
        } else if self.current.is_empty() {
            self.dropped.empty += 1;
        } else {
            self.dropped.repeated += 1;
        }
        self.current.clear();
    }

    fn end_of_signature(&mut self) {
        self.own = Some(std::mem::take(&mut self.current));
    }
}

/// The first line of a message, without the excerpt: the place in the trace file is given instead.
pub(crate) fn short(error: &Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    match error {
        Error::Syntax(_) => {
            let problem = line.splitn(3, ':').nth(2).map_or(line, str::trim);
            format!("not an atom: {problem}")
        }
        _ => line.to_owned(),
    }
}
