//! Tabular methods on the cross product of a finite labelled MDP and the machines of one or several tasks: Q-learning with
//! counterfactual experience (CRM; Toro Icarte et al., JAIR 2022), and the optimum by value iteration.

pub(crate) mod curve;
pub(crate) mod optimum;
pub(crate) mod product;
pub(crate) mod q_learning;
pub(crate) mod q_table;
