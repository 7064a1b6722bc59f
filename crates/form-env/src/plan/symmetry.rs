//! Symmetry reduction: labelled cells that neither the machine nor the walls tell apart count as one.
//!
//! Two labelled cells are *twins* if no edge of the machine tells their atoms apart and they touch the same places. Exchanging them
//! is an automorphism of the search, so only the number of twins that were visited matters, not which ones: twenty yellow
//! checkpoints in an open room have 21 windows instead of a million.

use form_core::{AtomId, AtomSet, BoundMachine, Monitor};

use super::contacts::{Contacts, Place};
use super::label_map::LabelMap;

/// The twins of a map.
#[derive(Clone, Debug)]
pub(super) struct Symmetry {
    /// Groups of at least two twins, each a labelled cell and its one atom.
    groups: Vec<Vec<(u16, AtomId)>>,
}

impl Symmetry {
    /// Of labelled cells that the machine does not tell apart and that touch the same places.
    pub(super) fn of_places(machine: &BoundMachine, map: &LabelMap, contacts: &Contacts) -> Self {
        Self::new(machine, map, contacts, |one, other| {
            contacts.regions[one] == contacts.regions[other]
                && contacts.beside[one] == contacts.beside[other]
        })
    }

    /// Of labelled cells that the machine does not tell apart, wherever they are.
    pub(super) fn of_labels(machine: &BoundMachine, map: &LabelMap, contacts: &Contacts) -> Self {
        Self::new(machine, map, contacts, |_, _| true)
    }

    fn new(
        machine: &BoundMachine,
        map: &LabelMap,
        contacts: &Contacts,
        alike: impl Fn(usize, usize) -> bool,
    ) -> Self {
        let mut groups: Vec<Vec<(u16, AtomId)>> = Vec::new();
        for object in 0..contacts.cells.len() {
            let Some(atom) = own_atom(map, contacts, object) else {
                continue;
            };
            let twin_of = |(other, its): &(u16, AtomId)| {
                !machine.tells_apart(atom, *its) && alike(object, usize::from(*other))
            };
            match groups.iter_mut().find(|group| twin_of(&group[0])) {
                Some(group) => group.push((object as u16, atom)),
                None => groups.push(vec![(object as u16, atom)]),
            }
        }
        groups.retain(|group| group.len() > 1);
        Self { groups }
    }

    /// The same situation and place with twins exchanged so that those with a difference come first in their group.
    pub(super) fn canonical(
        &self,
        machine: &BoundMachine,
        monitor: &Monitor,
        place: Place,
    ) -> (Monitor, Place) {
        let (mut seen, mut newest, mut at) =
            (monitor.seen().clone(), monitor.newest().clone(), place);
        for group in &self.groups {
            let standing = |(object, atom): &(u16, AtomId)| {
                (
                    monitor.seen().contains(*atom),
                    monitor.newest().contains(*atom),
                    place == Place::Object(*object),
                )
            };
            let mut standings: Vec<(bool, bool, bool)> = group.iter().map(standing).collect();
            standings.sort_unstable_by(|a, b| b.cmp(a));
            for ((object, atom), (is_seen, is_newest, is_here)) in group.iter().zip(standings) {
                put(&mut seen, *atom, is_seen);
                put(&mut newest, *atom, is_newest);
                if is_here {
                    at = Place::Object(*object);
                }
            }
        }
        (
            Monitor::resumed(machine, monitor.state(), &seen, &newest),
            at,
        )
    }
}

/// The atom of a labelled cell, if it is its only one and no other cell has it.
fn own_atom(map: &LabelMap, contacts: &Contacts, object: usize) -> Option<AtomId> {
    let label = &map.labels[contacts.labels[object]];
    let atom = label.iter().next().filter(|_| label.len() == 1)?;
    let holders = (contacts.labels.iter()).filter(|label| map.labels[**label].contains(atom));
    (holders.count() == 1).then_some(atom)
}

fn put(set: &mut AtomSet, atom: AtomId, member: bool) {
    match member {
        true => set.insert(atom),
        false => set.remove(atom),
    };
}
