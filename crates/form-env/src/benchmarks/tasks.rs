//! The tasks of the benchmarks as machines: those of Office and Craft world are files, those of Water world sequences of colours.

use form_core::Machine;

/// A world with tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Benchmark {
    /// Office world: four tasks.
    Office,
    /// Craft world: ten tasks.
    Craft,
    /// Water world: ten tasks.
    Water,
}

macro_rules! files {
    ($folder:literal: $($name:literal),*) => {
        &[$(($name, include_str!(concat!("../../benchmarks/", $folder, "/", $name, ".form")))),*]
    };
}

const OFFICE: &[(&str, &str)] = files!("office": "coffee", "mail", "patrol", "coffee-and-mail");

const CRAFT: &[(&str, &str)] = files!(
    "craft": "plank", "stick", "cloth", "rope", "bridge", "bed", "axe", "shears", "gold", "gem"
);

/// Sequences of colours to touch, side by side, in the order of the published files `t1.txt` to `t10.txt`. A task that is strict ends
/// when another colour than the next one is touched.
const WATER: [(&str, bool, &[&str]); 10] = [
    ("ab", false, &["ab"]),
    ("cd", false, &["cd"]),
    ("ef", false, &["ef"]),
    ("ab-cd", false, &["ab", "cd"]),
    ("cd-ef", false, &["cd", "ef"]),
    ("ab-ef", false, &["ab", "ef"]),
    ("ab-cd-ef", false, &["ab", "cd", "ef"]),
    ("abc-def", false, &["abc", "def"]),
    ("abc-strict", true, &["abc"]),
    ("def-strict", true, &["def"]),
];

/// The colours of Water world, by the letters of the published machines.
pub(crate) const COLOURS: [(char, &str); 6] = [
    ('a', "red"),
    ('b', "green"),
    ('c', "blue"),
    ('d', "yellow"),
    ('e', "cyan"),
    ('f', "magenta"),
];

impl Benchmark {
    /// The tasks: their names and machines, in the order of the published ones.
    pub fn tasks(self) -> Vec<(&'static str, Machine)> {
        let parsed = |text: &str| text.parse().expect("the machines are tested");
        match self {
            Self::Office => OFFICE
                .iter()
                .map(|(name, text)| (*name, parsed(text)))
                .collect(),
            Self::Craft => CRAFT
                .iter()
                .map(|(name, text)| (*name, parsed(text)))
                .collect(),
            Self::Water => (WATER.iter())
                .map(|(name, strict, sequences)| {
                    (*name, parsed(&interleaved(name, *strict, sequences)))
                })
                .collect(),
        }
    }
}

fn colour(letter: char) -> &'static str {
    let known = COLOURS.iter().find(|(known, _)| *known == letter);
    known.expect("the letters of WATER").1
}

/// The machine that accepts once every sequence was touched in its order, whatever happens between two of its colours, or for a
/// strict task: without touching a colour that no sequence waits for. Of two colours that are touched at once, the first sequence's
/// counts; a strict task fails. So do the published machines.
fn interleaved(name: &str, strict: bool, sequences: &[&str]) -> String {
    let full: Vec<usize> = sequences.iter().map(|sequence| sequence.len()).collect();
    let state = |at: &[usize]| match at == full {
        true => "done".to_owned(),
        false => at
            .iter()
            .fold("u".to_owned(), |text, n| format!("{text}{n}")),
    };
    let mut states: Vec<Vec<usize>> = vec![vec![0; sequences.len()]];
    let mut edges = String::new();
    let mut next = 0;
    while let Some(at) = states.get(next).cloned() {
        next += 1;
        if at == full {
            continue;
        }
        let mut wanted: Vec<&str> = Vec::new();
        for (i, sequence) in sequences.iter().enumerate() {
            let Some(letter) = sequence.chars().nth(at[i]) else {
                continue;
            };
            let mut after = at.clone();
            after[i] += 1;
            let (from, to, atom) = (state(&at), state(&after), colour(letter));
            let not: Vec<&str> = match strict {
                true => others(&[atom]),
                false => wanted.clone(),
            };
            let not = not.iter().map(|other| format!(" and not {other}"));
            edges += &format!("{from} -> {to} : {atom}{}\n", not.collect::<String>());
            wanted.push(atom);
            if !states.contains(&after) {
                states.push(after);
            }
        }
        if strict {
            let failed = others(&wanted).join(" or ");
            edges += &format!("{} -> failed : {failed}\n", state(&at));
        }
    }
    let reject = if strict { "reject failed\n" } else { "" };
    let name = name.replace('-', "_");
    let initial = state(&vec![0; sequences.len()]);
    format!("machine {name}\ninitial {initial}\naccept done\n{reject}{edges}")
}

/// The colours that are not among these.
fn others(these: &[&str]) -> Vec<&'static str> {
    let all = COLOURS.iter().map(|(_, colour)| *colour);
    all.filter(|colour| !these.contains(colour)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmarks::{craft, office};
    use form_core::{MachineStatus, Monitor, Signature};

    #[test]
    fn all_tasks_are_machines_over_the_atoms_of_their_world() {
        let words =
            |names: &[(char, &str)]| Signature::parse(names.iter().map(|(_, name)| *name)).unwrap();
        for (benchmark, count, signature) in [
            (Benchmark::Office, 4, words(office::NAMES)),
            (Benchmark::Craft, 10, words(craft::NAMES)),
            (Benchmark::Water, 10, words(&COLOURS)),
        ] {
            let tasks = benchmark.tasks();
            assert_eq!(tasks.len(), count);
            for (name, machine) in tasks {
                machine.bind(&signature).unwrap();
                assert_eq!(machine.name(), name.replace('-', "_"));
            }
        }
    }

    /// What becomes of a task when colours are touched one after the other, or at once: between brackets.
    fn run(task: &str, touched: &str) -> MachineStatus {
        let signature = Signature::parse(COLOURS.map(|(_, name)| name)).unwrap();
        let tasks = Benchmark::Water.tasks();
        let machine = &tasks.iter().find(|(name, _)| *name == task).unwrap().1;
        let bound = machine.bind(&signature).unwrap();
        let mut monitor = Monitor::new(&bound);
        for part in touched.split(['(', ')']).enumerate() {
            let steps: Vec<String> = match part {
                (i, together) if i % 2 == 1 => vec![together.to_owned()],
                (_, apart) => apart.chars().map(String::from).collect(),
            };
            for step in steps {
                let labels = signature.observation(step.chars().map(colour)).unwrap();
                monitor.observe(&bound, &labels);
            }
        }
        machine.status(monitor.state())
    }

    #[test]
    fn sequences_are_touched_in_order() {
        use MachineStatus::{Accepted, Rejected, Running};
        for (task, touched, status) in [
            ("ab", "ba", Running),
            ("ab", "acb", Accepted),
            ("ab-cd-ef", "acebdf", Accepted),
            ("ab-cd-ef", "abcdfe", Running),
            ("ab-cd", "(ac)bd", Running),
            ("ab-cd", "(ac)bcd", Accepted),
            ("abc-def", "adbecf", Accepted),
            ("abc-def", "adcbec", Running),
            ("abc-strict", "abc", Accepted),
            ("abc-strict", "ac", Rejected),
            ("abc-strict", "(ab)", Rejected),
            ("def-strict", "def", Accepted),
            ("def-strict", "a", Rejected),
        ] {
            assert_eq!(run(task, touched), status, "{task} {touched}");
        }
        let tasks = Benchmark::Water.tasks();
        assert_eq!(
            tasks[6].1.inner_states(),
            26,
            "3 x 3 x 3 without the accepting one"
        );
    }
}
