//! Idle negations: negative literals that no smallest machine has, because it behaves alike on the data without them. They block
//! no observation and keep no two edges apart.

use super::Encoding;
use super::cooccurrence::Cooccurrence;

impl Encoding {
    pub(super) fn exclude_idle_negations(&mut self, pairs: &Cooccurrence) -> Option<()> {
        let alone = self.shape.options.forall_alone;
        for i in &self.now {
            self.solver.check()?;
            let mask = &self.vocabulary[*i].mask;
            let blocks: Vec<usize> = (self.vocabulary.iter().enumerate())
                .filter(|(a, other)| {
                    other.window.is_some() && !(alone && other.is_forall())
                        || pairs.meet[*a][*i] && !other.mask.is_subset(mask)
                })
                .map(|(a, _)| a)
                .collect();
            for (s, slot) in self.slots.iter().enumerate() {
                let mut useful = vec![-slot.negative[*i]];
                useful.extend(blocks.iter().map(|a| slot.positive[*a]));
                useful.extend(self.justified.get(&(s, *i)).into_iter().flatten());
                self.solver.add(&useful);
            }
        }
        Some(())
    }
}
