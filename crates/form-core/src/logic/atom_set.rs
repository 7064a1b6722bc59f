//! Sets of atoms as bit sets: observations and the unions of buffers.
//!
//! Signatures of up to 128 atoms (every task of the paper) fit in one `u128` and never allocate; larger ones spill to
//! words on the heap. Equality, order and hash depend on the members alone, not on the representation.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// The number of a ground atom within its [`Signature`](crate::Signature).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AtomId(pub(crate) u32);

impl AtomId {
    /// Position in the signature's order.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A set of atoms of one signature.
#[derive(Clone)]
pub struct AtomSet(Bits);

#[derive(Clone)]
enum Bits {
    Small(u128),
    Large(Box<[u64]>),
}

/// The number of atoms that fit without allocation.
const SMALL: usize = 128;
const WORD: usize = 64;

impl AtomSet {
    /// The empty set; does not allocate.
    pub const fn new() -> Self {
        Self(Bits::Small(0))
    }

    /// An empty set with room for a signature of `atoms` atoms, so that inserting them never allocates.
    pub fn with_room_for(atoms: usize) -> Self {
        if atoms <= SMALL {
            Self::new()
        } else {
            Self(Bits::Large(vec![0; atoms.div_ceil(WORD)].into()))
        }
    }

    /// Adds `atom`.
    #[inline]
    pub fn insert(&mut self, atom: AtomId) {
        let i = atom.index();
        if let Bits::Small(bits) = &mut self.0
            && i < SMALL
        {
            *bits |= 1 << i;
            return;
        }
        self.grow(i / WORD + 1);
        if let Bits::Large(words) = &mut self.0 {
            words[i / WORD] |= 1 << (i % WORD);
        }
    }

    /// Removes `atom`.
    pub fn remove(&mut self, atom: AtomId) {
        let i = atom.index();
        match &mut self.0 {
            Bits::Small(bits) if i < SMALL => *bits &= !(1 << i),
            Bits::Small(_) => {}
            Bits::Large(words) => {
                if let Some(word) = words.get_mut(i / WORD) {
                    *word &= !(1 << (i % WORD));
                }
            }
        }
    }

    /// Whether `atom` is a member.
    #[inline]
    pub fn contains(&self, atom: AtomId) -> bool {
        let i = atom.index();
        self.word(i / WORD) >> (i % WORD) & 1 == 1
    }

    /// Empties the set, keeping its room.
    #[inline]
    pub fn clear(&mut self) {
        match &mut self.0 {
            Bits::Small(bits) => *bits = 0,
            Bits::Large(words) => words.fill(0),
        }
    }

    /// Whether it has no member.
    #[inline]
    pub fn is_empty(&self) -> bool {
        match &self.0 {
            Bits::Small(bits) => *bits == 0,
            Bits::Large(words) => words.iter().all(|w| *w == 0),
        }
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        match &self.0 {
            Bits::Small(bits) => bits.count_ones() as usize,
            Bits::Large(words) => words.iter().map(|w| w.count_ones() as usize).sum(),
        }
    }

    /// Adds every member of `other`.
    #[inline]
    pub fn union_with(&mut self, other: &Self) {
        match (&mut self.0, &other.0) {
            (Bits::Small(a), Bits::Small(b)) => *a |= b,
            _ => self.union_words(other),
        }
    }

    /// Whether it shares a member with `other`.
    #[inline]
    pub fn intersects(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Bits::Small(a), Bits::Small(b)) => a & b != 0,
            _ => (0..self.words().min(other.words())).any(|i| self.word(i) & other.word(i) != 0),
        }
    }

    /// Whether every member is one of `other`.
    #[inline]
    pub fn is_subset(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Bits::Small(a), Bits::Small(b)) => a & !b == 0,
            _ => (0..self.words()).all(|i| self.word(i) & !other.word(i) == 0),
        }
    }

    /// Whether it shares at least `count` members with `other`.
    #[inline]
    pub fn shares(&self, other: &Self, count: usize) -> bool {
        let shared: u32 = match (&self.0, &other.0) {
            (Bits::Small(a), Bits::Small(b)) => (a & b).count_ones(),
            _ => (0..self.words().min(other.words()))
                .map(|i| (self.word(i) & other.word(i)).count_ones())
                .sum(),
        };
        shared as usize >= count
    }

    /// The members that are also in `other`, in order; does not allocate.
    #[inline]
    pub fn common<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = AtomId> + 'a {
        let words = self.words().min(other.words());
        (0..words).flat_map(move |i| bits_of(self.word(i) & other.word(i), i))
    }

    /// The members that are also in `other`.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        match (&self.0, &other.0) {
            (Bits::Small(a), Bits::Small(b)) => Self(Bits::Small(a & b)),
            _ => self.iter().filter(|atom| other.contains(*atom)).collect(),
        }
    }

    /// The members that are not in `other`.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        match (&self.0, &other.0) {
            (Bits::Small(a), Bits::Small(b)) => Self(Bits::Small(a & !b)),
            _ => self.iter().filter(|atom| !other.contains(*atom)).collect(),
        }
    }

    /// The members of either.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let mut all = self.clone();
        all.union_with(other);
        all
    }

    /// Makes it equal to `other`, without allocation if its room suffices.
    #[inline]
    pub fn copy_from(&mut self, other: &Self) {
        if let (Bits::Small(a), Bits::Small(b)) = (&mut self.0, &other.0) {
            *a = *b;
        } else {
            self.clear();
            self.union_words(other);
        }
    }

    /// The members in the signature's order.
    pub fn iter(&self) -> impl Iterator<Item = AtomId> + '_ {
        (0..self.words()).flat_map(move |i| bits_of(self.word(i), i))
    }

    fn words(&self) -> usize {
        match &self.0 {
            Bits::Small(_) => SMALL / WORD,
            Bits::Large(words) => words.len(),
        }
    }

    #[inline]
    fn word(&self, i: usize) -> u64 {
        match &self.0 {
            Bits::Small(bits) if i < SMALL / WORD => (bits >> (i * WORD)) as u64,
            Bits::Small(_) => 0,
            Bits::Large(words) => words.get(i).copied().unwrap_or(0),
        }
    }

    fn union_words(&mut self, other: &Self) {
        let needed = (0..other.words())
            .rev()
            .find(|i| other.word(*i) != 0)
            .map_or(0, |i| i + 1);
        self.grow(needed);
        match &mut self.0 {
            Bits::Small(bits) => {
                *bits |= u128::from(other.word(1)) << WORD | u128::from(other.word(0));
            }
            Bits::Large(words) => {
                for (i, word) in words.iter_mut().enumerate() {
                    *word |= other.word(i);
                }
            }
        }
    }

    /// Makes room for `words` words.
    fn grow(&mut self, words: usize) {
        if words > self.words() {
            let grown = (0..words).map(|i| self.word(i)).collect();
            self.0 = Bits::Large(grown);
        }
    }
}

/// The members in the word of this number.
#[inline]
fn bits_of(mut word: u64, number: usize) -> impl Iterator<Item = AtomId> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros();
        (word != 0).then(|| {
            word &= word - 1;
            AtomId(number as u32 * WORD as u32 + bit)
        })
    })
}

impl Default for AtomSet {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialEq for AtomSet {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Bits::Small(a), Bits::Small(b)) => a == b,
            _ => (0..self.words().max(other.words())).all(|i| self.word(i) == other.word(i)),
        }
    }
}

impl Eq for AtomSet {}

impl PartialOrd for AtomSet {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Fewer atoms first, then by the atoms in order.
impl Ord for AtomSet {
    fn cmp(&self, other: &Self) -> Ordering {
        self.len()
            .cmp(&other.len())
            .then_with(|| self.iter().cmp(other.iter()))
    }
}

impl Hash for AtomSet {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let last = (0..self.words())
            .rev()
            .find(|i| self.word(*i) != 0)
            .map_or(0, |i| i + 1);
        for i in 0..last {
            self.word(i).hash(state);
        }
    }
}

impl FromIterator<AtomId> for AtomSet {
    fn from_iter<I: IntoIterator<Item = AtomId>>(atoms: I) -> Self {
        let mut set = Self::new();
        set.extend(atoms);
        set
    }
}

impl Extend<AtomId> for AtomSet {
    fn extend<I: IntoIterator<Item = AtomId>>(&mut self, atoms: I) {
        for atom in atoms {
            self.insert(atom);
        }
    }
}

impl fmt::Debug for AtomSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.iter().map(|atom| atom.0))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn set(members: &BTreeSet<u32>) -> AtomSet {
        members.iter().map(|i| AtomId(*i)).collect()
    }

    fn members() -> impl Strategy<Value = BTreeSet<u32>> {
        prop_oneof![
            prop::collection::btree_set(0..128_u32, 0..12),
            prop::collection::btree_set(0..400_u32, 0..12),
        ]
    }

    proptest! {
        #[test]
        fn behaves_as_a_set(a in members(), b in members(), extra in 0..400_u32) {
            let (x, y) = (set(&a), set(&b));
            prop_assert_eq!(x.iter().map(|i| i.0).collect::<BTreeSet<_>>(), a.clone());
            prop_assert_eq!(x.len(), a.len());
            prop_assert_eq!(x.union(&y), set(&(&a | &b)));
            prop_assert_eq!(x.intersection(&y), set(&(&a & &b)));
            prop_assert_eq!(x.difference(&y), set(&(&a - &b)));
            prop_assert_eq!(x.intersects(&y), !a.is_disjoint(&b));
            prop_assert_eq!(x.is_subset(&y), a.is_subset(&b));
            prop_assert_eq!(x.common(&y).collect::<AtomSet>(), set(&(&a & &b)));
            let shared = (&a & &b).len();
            prop_assert!(x.shares(&y, shared) && !x.shares(&y, shared + 1));
            prop_assert_eq!(x == y, a == b);
            let mut grown = x.clone();
            grown.insert(AtomId(extra));
            prop_assert!(grown.contains(AtomId(extra)));
            if !a.contains(&extra) {
                grown.remove(AtomId(extra));
            }
            prop_assert_eq!(&grown, &x);
            let mut copy = y.clone();
            copy.copy_from(&x);
            prop_assert_eq!(&copy, &x);
            let hash = |s: &AtomSet| {
                let mut hasher = std::collections::hash_map::DefaultHasher::new();
                s.hash(&mut hasher);
                hasher.finish()
            };
            prop_assert_eq!(hash(&grown), hash(&x));
        }
    }
}
