//! The objects of a task's maps: all maps have the same, or each has one of several sets of objects.
//!
//! A colour may have one of several numbers of checkpoints, drawn with each map. Checkpoints are numbered as if every map had the most of
//! them, so that `o4` has the same colour wherever it lies; a map with fewer lacks those with the highest numbers of their colour. All
//! atoms together are the task's signature, and those of a map's objects are the map's own: `forall` ranges over them, and
//! the ground truth is bound once for each set.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use form_core::{AtomId, AtomSet, BoundMachine, Signature};

use crate::grid::colour::Colour;
use crate::grid::map::Object;

/// The most different sets of objects that a task may have.
pub(crate) const MOST_SETS: usize = 1000;

/// How many objects of a kind there are: one of these numbers on every map.
///
/// ```
/// use form_env::Counts;
/// let counts = Counts::new([4, 2, 2]).unwrap();
/// assert_eq!((counts.fewest(), counts.most()), (2, 4));
/// assert_eq!(counts.to_string(), "2 or 4");
/// assert_eq!(Counts::from(2).to_string(), "2");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Ascending, each once; at least one.
    numbers: Vec<usize>,
}

impl Counts {
    /// Each of these numbers is equally likely, however often it is named; nothing without any.
    pub fn new(numbers: impl IntoIterator<Item = usize>) -> Option<Self> {
        let mut numbers: Vec<usize> = numbers.into_iter().collect();
        numbers.sort_unstable();
        numbers.dedup();
        (!numbers.is_empty()).then_some(Self { numbers })
    }

    /// The numbers, in ascending order.
    pub fn numbers(&self) -> &[usize] {
        &self.numbers
    }

    /// The smallest number.
    pub fn fewest(&self) -> usize {
        self.numbers[0]
    }

    /// The largest number.
    pub fn most(&self) -> usize {
        self.numbers[self.numbers.len() - 1]
    }
}

impl From<usize> for Counts {
    fn from(number: usize) -> Self {
        Self {
            numbers: vec![number],
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, number) in self.numbers.iter().enumerate() {
            let before = match (i, self.numbers.len() - i) {
                (0, _) => "",
                (_, 1) => " or ",
                _ => ", ",
            };
            write!(f, "{before}{number}")?;
        }
        Ok(())
    }
}

/// The objects of some maps.
#[derive(Clone, Debug)]
pub(crate) struct ObjectSet {
    /// Their atoms.
    pub(crate) own: Arc<AtomSet>,
    /// The ground truth on such maps.
    pub(crate) truth: Arc<BoundMachine>,
}

/// The number of different sets; `None` if there are too many.
pub(crate) fn number_of_sets(checkpoints: &BTreeMap<Colour, Counts>) -> Option<usize> {
    let numbers = checkpoints.values().map(|counts| counts.numbers.len());
    let product = |product: usize, numbers| product.checked_mul(numbers);
    (numbers.into_iter())
        .try_fold(1, product)
        .filter(|sets| *sets <= MOST_SETS)
}

/// The atoms of the checkpoints of a colour, by number.
pub(crate) fn atoms_of(colour: Colour, objects: &[Object], signature: &Signature) -> Vec<AtomId> {
    let mut numbered: Vec<(usize, AtomId)> = (objects.iter().zip(signature.ids()))
        .filter_map(|(object, id)| match object {
            Object::Checkpoint {
                colour: own,
                number,
            } if *own == colour => Some((*number, id)),
            _ => None,
        })
        .collect();
    numbered.sort_unstable();
    numbered.into_iter().map(|(_, id)| id).collect()
}

/// All sets of objects, those with the fewest objects first. Objects are in the order of their atoms in the signature.
pub(crate) fn object_sets(
    checkpoints: &BTreeMap<Colour, Counts>,
    objects: &[Object],
    signature: &Signature,
    truth: &Arc<BoundMachine>,
) -> Vec<ObjectSet> {
    let mut sets: Vec<AtomSet> = vec![AtomSet::new()];
    for (object, id) in objects.iter().zip(signature.ids()) {
        if !matches!(object, Object::Checkpoint { .. }) {
            sets[0].insert(id);
        }
    }
    for (colour, counts) in checkpoints {
        let of_colour = atoms_of(*colour, objects, signature);
        sets = (sets.iter())
            .flat_map(|set| {
                counts.numbers.iter().map(|count| {
                    let present = of_colour[..*count].iter().copied();
                    set.iter().chain(present).collect()
                })
            })
            .collect();
    }
    let one = sets.len() == 1;
    (sets.into_iter())
        .map(|own| ObjectSet {
            truth: match one {
                true => truth.clone(),
                false => Arc::new(truth.within(&own)),
            },
            own: Arc::new(own),
        })
        .collect()
}
