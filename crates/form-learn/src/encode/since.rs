//! Literals about the time since the present state was entered: when a `forall` holds at a node of the prefix tree.
//!
//! An atom over a window has a *since* node at every node (see `prefix_tree`): it holds iff the run was in its present state
//! already at that node. Further kinds of windowed atoms need their since nodes in the tree and nothing else here.

use super::Encoding;
use super::solver::{FALSE, Lit, TRUE};
use crate::prefix_tree::PrefixTree;

impl Encoding {
    /// The literal that the `forall` with number `f` holds at the node, for a run that was in `state` before it.
    pub(super) fn complete(
        &mut self,
        tree: &PrefixTree,
        node: usize,
        f: usize,
        state: usize,
    ) -> Lit {
        let Some(since) = tree.node(node).since[f] else {
            return FALSE;
        };
        let parent = tree.node(node).parent;
        if since == parent {
            TRUE
        } else if self.shape.options.cyclic {
            self.stayed(tree, since, parent, state)
        } else {
            // Without cycles, a run that is there at both nodes has not left in between.
            self.states[since][state]
        }
    }

    /// The run is in `state` at every node from `since` to `node`.
    fn stayed(&mut self, tree: &PrefixTree, since: usize, node: usize, state: usize) -> Lit {
        let mut path = vec![node];
        while path[path.len() - 1] != since
            && !self
                .stayed
                .contains_key(&(path[path.len() - 1], since, state))
        {
            path.push(tree.node(path[path.len() - 1]).parent);
        }
        let mut stayed = FALSE;
        for here in path.into_iter().rev() {
            let known = self.stayed.get(&(here, since, state)).copied();
            stayed = match known {
                Some(literal) => literal,
                None if here == since => self.states[since][state],
                None => {
                    let here = self.states[here][state];
                    self.solver.conjunction(stayed, here)
                }
            };
            self.stayed.insert((here, since, state), stayed);
        }
        stayed
    }
}
