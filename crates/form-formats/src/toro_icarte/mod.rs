//! The text files of Toro Icarte et al. (ICML 2018; JAIR 2022), both generations.
//!
//! ```text
//! 0 # initial state
//! [2] # terminal state
//! (0,0,'!e&!n',ConstantRewardFunction(0))
//! (0,1,'e&!n',ConstantRewardFunction(0))
//! (1,2,'g&!n',ConstantRewardFunction(1))
//! ```
//! The older generation has no `[…]` line: there a state is terminal if it has no outgoing edge, or only a self-loop
//! labelled `True`. Their terminal states do not distinguish success from failure. Here an edge into any of
//! them leads to the accepting state `u_acc` if it pays a positive reward, else to the rejecting state `u_rej`; rewards are kept. If
//! none pays a positive reward, `u_acc` is unreachable. State 3 is named `u3`, state -3 `u_m3`.

mod edges;
mod meaning;
mod source;
mod writer;

pub use writer::write_toro_icarte;

use form_core::Result;

use crate::Converted;
use crate::literal::without_bom;

/// How to read what the format leaves to its runtime.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToroIcarteOptions {
    /// What an observation does that matches no formula of a state with an explicit self-loop.
    pub unmatched: Unmatched,
}

/// What an observation does that matches no formula of a state with an explicit self-loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unmatched {
    /// The machine stays, as machines of this project do.
    Stay,
    /// It ends the episode, as in the original runtime: edges to the rejecting state are added.
    #[default]
    Reject,
}

/// Reads a machine of Toro Icarte et al.
pub fn read_toro_icarte(text: &str, options: &ToroIcarteOptions) -> Result<Converted> {
    let text = without_bom(text);
    source::read(text)
        .and_then(|source| meaning::convert(&source, options))
        .map_err(|fault| fault.located(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str, notes: &[&str]) {
        let read = read_toro_icarte(text, &ToroIcarteOptions::default()).unwrap();
        assert_eq!(
            read.machine.to_string(),
            format!("machine machine\n{expected}")
        );
        assert_eq!(read.notes.len(), notes.len(), "{:?}", read.notes);
        for (note, part) in read.notes.iter().zip(notes) {
            assert!(note.contains(part), "{note}");
        }
    }

    #[test]
    fn the_newer_generation() {
        let text = "0 # initial state
[2] # terminal state
(0,0,'!e&!n',ConstantRewardFunction(0))
(0,1,'e&!g&!n',ConstantRewardFunction(0))
(0,2,'e&g&!n',ConstantRewardFunction(1))
(1,1,'!g&!n',ConstantRewardFunction(0))
(1,2,'g&!n',ConstantRewardFunction(1))
";
        let expected = "initial u0
accept  u_acc
reject  u_rej
u0 -> u1    : e and not g and not n
u0 -> u_acc : e and g and not n
u0 -> u_rej : n
u1 -> u_acc : g and not n
u1 -> u_rej : n
";
        let added = "in `u0`, `u1` an observation that matches no formula ends the episode";
        check(text, expected, &[added]);
        check(
            &format!("\u{feff}{}", text.replace('\n', "\r\n")),
            expected,
            &[added],
        );
        let stay = ToroIcarteOptions {
            unmatched: Unmatched::Stay,
        };
        let read = read_toro_icarte(text, &stay).unwrap();
        assert_eq!(
            (read.machine.edges().len(), read.machine.reject()),
            (3, None)
        );
        assert!(read.notes.is_empty());
    }

    #[test]
    fn the_older_generation() {
        check(
            "0\n(0,1,'a',ConstantRewardFunction(0))\n(1,2,'b|(c&!a)',1.5)\n(1,3,'d',-1)\n(1,-1,'f',0)\n(2,2,'True',0)\n",
            "initial u0\naccept  u_acc\nreject  u_rej\nu0 -> u1    : a\nu1 -> u_acc : b or c and not a => 1.5\nu1 -> u_rej : d => -1\nu1 -> u_rej : f\n",
            &[],
        );
    }

    #[test]
    fn terminal_states_are_split_by_reward() {
        check(
            "0\n[1]\n(0,1,'a',2)\n(0,1,'b&!a',0)\n(1,0,'a',0)",
            "initial u0\naccept  u_acc\nreject  u_rej\nu0 -> u_acc : a => 2\nu0 -> u_rej : b and not a\n",
            &["split", "out of terminal", "several edges"],
        );
        check(
            "-2\n[1]\n(-2,2,'a',0)\n(2,1,'a',0)",
            "initial u_m2\naccept  u_acc\nreject  u_rej\nu_m2 -> u2    : a\nu2   -> u_rej : a\n",
            &["cannot be reached"],
        );
    }

    #[test]
    fn self_loops_stay_where_they_matter() {
        // The second keeps `a&b` from moving the machine, the last pays.
        check(
            "0\n[2]\n(0,0,'a',0)\n(0,1,'b',0)\n(0,0,'!a&!b',0)\n(1,2,'a',1)\n(1,1,'!a',-0.1)",
            "initial u0\naccept  u_acc\nsteps   all\nu0 -> u0    : a\nu0 -> u1    : b\nu1 -> u_acc : a\nu1 -> u1    : not a => -0.1\n",
            &["several edges", "pays a reward"],
        );
    }
}
