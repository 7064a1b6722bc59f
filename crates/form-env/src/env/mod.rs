//! The interface through which policies meet a labelled environment, and the checker that any environment can be put
//! through.

pub(crate) mod checker;
pub(crate) mod environment;
pub(crate) mod labelled_mdp;
pub(crate) mod random;
pub(crate) mod spec;
