//! The cases of a log while it is read: names of the language, outcomes, and notes on what was guessed.

use std::collections::{BTreeSet, HashMap};

use form_core::{GroundAtom, Kind, Name, Result};

use super::{EventLog, EventLogOptions, fault};

/// The cases while they are read.
pub(super) struct Cases<'a> {
    options: &'a EventLogOptions,
    numbers: HashMap<String, usize>,
    cases: Vec<(String, Vec<GroundAtom>, String)>,
    /// The names that were made from texts.
    names: HashMap<String, BTreeSet<String>>,
    /// Activities that look like atoms and are none, or have objects of their own, with their names.
    no_atoms: BTreeSet<(String, String)>,
}

impl<'a> Cases<'a> {
    pub(super) fn new(options: &'a EventLogOptions) -> Self {
        Self {
            options,
            numbers: HashMap::new(),
            cases: Vec::new(),
            names: HashMap::new(),
            no_atoms: BTreeSet::new(),
        }
    }

    /// The number of a case, a new one if it was not met.
    pub(super) fn case(&mut self, name: &str) -> usize {
        let next = self.cases.len();
        let number = *self.numbers.entry(name.to_owned()).or_insert(next);
        if number == next {
            self.cases
                .push((name.to_owned(), Vec::new(), String::new()));
        }
        number
    }

    /// Adds an event, and how the case ended if that is known.
    pub(super) fn add(
        &mut self,
        case: &str,
        activity: &str,
        objects: &[&str],
        outcome: Option<&str>,
    ) -> Result<(), String> {
        let number = self.case(case);
        if activity.is_empty() {
            return Err(format!("the activity `{}` is empty", self.options.activity));
        }
        let atom = match written_atom(activity) {
            Some(atom) if self.options.objects.is_empty() => atom,
            _ => {
                let predicate = self.name(activity)?;
                if activity.contains('(') {
                    (self.no_atoms).insert((activity.to_owned(), predicate.to_string()));
                }
                let objects = (objects.iter())
                    .filter(|object| !object.is_empty())
                    .map(|object| self.name(object))
                    .collect::<Result<Vec<_>, String>>()?;
                GroundAtom::new(predicate, objects)
            }
        };
        self.cases[number].1.push(atom);
        self.ended(case, outcome.unwrap_or_default());
        Ok(())
    }

    /// How a case ended, if that is not empty.
    pub(super) fn ended(&mut self, case: &str, outcome: &str) {
        let number = self.case(case);
        if !outcome.is_empty() {
            outcome.clone_into(&mut self.cases[number].2);
        }
    }

    /// A name of the language: other characters than letters, digits and `_` become `_`.
    fn name(&mut self, text: &str) -> Result<Name, String> {
        let word: String = (text.chars())
            .map(|c| if c.is_alphanumeric() { c } else { '_' })
            .collect();
        let name = Name::new(&word).or_else(|_| Name::new(&format!("{word}_")));
        let name = name.map_err(|error| error.to_string())?;
        (self.names.entry(name.to_string()).or_default()).insert(text.to_owned());
        Ok(name)
    }

    /// Refuses outcomes that no case has: none means `goal`, or one has another case of letters. Notes that none means `dead-end`.
    fn check_outcomes(&self) -> Result<Option<String>, String> {
        let found: BTreeSet<&str> = (self.cases.iter())
            .map(|(_, _, outcome)| outcome.as_str())
            .filter(|outcome| !outcome.is_empty())
            .collect();
        let quoted = |list: &mut dyn Iterator<Item = &str>| -> String {
            let quoted: Vec<String> = list.take(20).map(|one| format!("`{one}`")).collect();
            quoted.join(", ")
        };
        let (goal, dead_end) = (&self.options.goal, &self.options.dead_end);
        if let Some(both) = goal.iter().find(|one| dead_end.contains(one)) {
            return Err(format!(
                "the outcome `{both}` is to mean a goal and a dead end: name it for one of them"
            ));
        }
        for (means_goal, wanted) in [(true, &self.options.goal), (false, &self.options.dead_end)] {
            if wanted.is_empty() || wanted.iter().any(|one| found.contains(one.as_str())) {
                continue;
            }
            let named = quoted(&mut wanted.iter().map(String::as_str));
            let mut like = (found.iter())
                .filter(|known| wanted.iter().any(|one| one.eq_ignore_ascii_case(known)));
            let what = if means_goal { "a goal" } else { "a dead end" };
            let problem = format!("no case has the outcome {named}, which is to mean {what}");
            return match like.next() {
                Some(like) => Err(format!("{problem}: is `{like}` meant?")),
                None if !means_goal => Ok(Some(problem)),
                None if found.is_empty() => Err(format!("{problem}; no case has any outcome")),
                None => Err(format!(
                    "{problem}; there are {}",
                    quoted(&mut found.into_iter())
                )),
            };
        }
        Ok(None)
    }

    /// The log; errors call the file `file`.
    pub(super) fn finish(self, file: &str) -> Result<EventLog> {
        let no_dead_end =
            (self.check_outcomes()).map_err(|problem| fault(file, (1, 1), problem))?;
        let mut notes: Vec<String> = (self.names.iter())
            .filter(|(_, texts)| texts.len() > 1)
            .map(|(name, texts)| {
                let texts: Vec<String> = texts.iter().map(|text| format!("`{text}`")).collect();
                format!("{} are all called `{name}`", texts.join(", "))
            })
            .collect();
        notes.sort();
        notes.extend(no_dead_end);
        let no_atoms = self.no_atoms.iter().take(10);
        notes.extend(no_atoms.map(|(activity, name)| {
            let why = match written_atom(activity) {
                Some(_) => "its objects are those of the named columns",
                None => "it is no atom",
            };
            format!("the activity `{activity}` is called `{name}`: {why}")
        }));
        let options = self.options;
        let mut others: BTreeSet<&String> = BTreeSet::new();
        let mut cases = Vec::new();
        for (name, atoms, outcome) in &self.cases {
            let kind = if options.goal.contains(outcome) {
                Kind::Goal
            } else if options.dead_end.contains(outcome) {
                Kind::DeadEnd
            } else {
                if !outcome.is_empty() {
                    others.insert(outcome);
                }
                Kind::Incomplete
            };
            cases.push((name.clone(), kind, atoms.clone()));
        }
        if options.outcome.is_none() {
            notes.push("no outcome is named: all traces are incomplete".to_owned());
        }
        if !others.is_empty() {
            let others: Vec<String> = (others.iter().take(10)).map(|o| format!("`{o}`")).collect();
            notes.push(format!(
                "incomplete, since neither goal nor dead end: {}",
                others.join(", ")
            ));
        }
        Ok(EventLog { cases, notes })
    }
}

/// The atom that an activity is, as `pack(o17)`, and not just a text with parentheses in it.
fn written_atom(activity: &str) -> Option<GroundAtom> {
    let atom = activity.parse::<GroundAtom>().ok()?;
    let dense = |text: &str| text.replace(", ", ",");
    (dense(&atom.to_string()) == dense(activity)).then_some(atom)
}
