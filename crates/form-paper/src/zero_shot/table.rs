//! The tables of the experiment, and its targets beside what was measured.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{ZeroShotGroup, ZeroShotRow};
use crate::statistics::median;

/// The evaluations of one machine with all policies, with or without shield.
#[derive(Default)]
struct Pooled {
    states: usize,
    episodes: u64,
    successes: u64,
    dead_ends: u64,
    out_of_time: u64,
    /// The least success of one policy.
    worst: f64,
    ratios: Vec<f64>,
    random: f64,
}

impl Pooled {
    fn success(&self) -> f64 {
        self.successes as f64 / self.episodes.max(1) as f64
    }

    fn ratio(&self) -> Option<f64> {
        form_lab::mean(&self.ratios)
    }
}

/// By group, shield and name.
type Groups = BTreeMap<(ZeroShotGroup, bool), BTreeMap<String, Pooled>>;

fn pool(rows: &[ZeroShotRow]) -> Groups {
    let mut groups = Groups::new();
    for row in rows {
        let group = groups.entry((row.group, row.shield)).or_default();
        let pooled = group.entry(row.name.clone()).or_insert_with(|| Pooled {
            worst: 1.0,
            ..Pooled::default()
        });
        let found = &row.evaluation;
        pooled.states = row.states;
        pooled.episodes += found.episodes;
        pooled.successes += found.successes;
        pooled.dead_ends += found.dead_ends;
        pooled.out_of_time += found.out_of_time;
        pooled.worst = pooled.worst.min(found.success);
        pooled.ratios.extend(found.ratio);
        pooled.random = found.random.unwrap_or(0.0);
    }
    groups
}

fn percent(rate: f64) -> String {
    format!("{:.1} %", 100.0 * rate)
}

fn shown_ratio(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}"))
}

/// A target, what was measured, and whether it was met.
struct Target {
    what: &'static str,
    least: String,
    measured: String,
    met: bool,
}

/// The tables as Markdown.
pub fn zero_shot_tables(rows: &[ZeroShotRow], command: &str) -> String {
    let groups = pool(rows);
    let policies: std::collections::BTreeSet<&str> =
        rows.iter().map(|row| row.policy.as_str()).collect();
    let maps = rows.first().map_or(0, |row| row.evaluation.episodes);
    let mut text = format!(
        "# Machines carried out without training\n\n\
         Made by `{command}`. Every machine is carried out on {maps} held-out maps by {} polic{} ({}), sampled actions; every episode \
         started counts. The policies were never trained on a machine or on these maps. The planner is told in which cells the atoms \
         are, which per-state policies are not. *Steps ÷ shortest* is over successful episodes, from the same starts.\n",
        policies.len(),
        if policies.len() == 1 { "y" } else { "ies" },
        policies.iter().copied().collect::<Vec<_>>().join(", "),
    );
    text += "\n## Targets\n\n| target | to reach | measured | met |\n|---|---|---|---|\n";
    for target in targets(&groups) {
        let met = if target.met { "yes" } else { "no" };
        let Target {
            what,
            least,
            measured,
            ..
        } = target;
        let _ = writeln!(text, "| {what} | {least} | {measured} | {met} |");
    }
    for (group, title) in [
        (ZeroShotGroup::Paper, "Tasks of the paper"),
        (ZeroShotGroup::Rooms, "Other rooms"),
        (ZeroShotGroup::Random, "Random machines"),
    ] {
        let _ = write!(
            text,
            "\n## {title}\n\n| | states | shield | success | worst policy | dead ends | out of time | steps ÷ shortest | random |\n\
             |---|---|---|---|---|---|---|---|---|\n"
        );
        let mut lines: Vec<(&String, bool, &Pooled)> = Vec::new();
        for shield in [false, true] {
            let Some(found) = groups.get(&(group, shield)) else {
                continue;
            };
            lines.extend(found.iter().map(|(name, pooled)| (name, shield, pooled)));
        }
        lines.sort_by_key(|(name, shield, _)| (name.as_str(), *shield));
        for (name, shield, pooled) in lines {
            let _ = writeln!(
                text,
                "| {name} | {} | {} | {} | {} | {} | {} | {} | {} |",
                pooled.states,
                if shield { "yes" } else { "no" },
                percent(pooled.success()),
                percent(pooled.worst),
                pooled.dead_ends,
                pooled.out_of_time,
                shown_ratio(pooled.ratio()),
                percent(pooled.random),
            );
        }
    }
    text
}

fn targets(groups: &Groups) -> Vec<Target> {
    let none = BTreeMap::new();
    let of = |group, shield| groups.get(&(group, shield)).unwrap_or(&none);
    let worst = |group, shield| {
        let machines: &BTreeMap<String, Pooled> = of(group, shield);
        machines.values().map(Pooled::success).fold(1.0, f64::min)
    };
    let mut targets = Vec::new();
    let mut at_least = |what, least: f64, measured: f64| {
        targets.push(Target {
            what,
            least: format!("≥ {}", percent(least)),
            measured: percent(measured),
            met: measured >= least,
        });
    };
    for (shield, what) in [
        (false, "worst task of the paper, no shield"),
        (true, "worst task of the paper, shield"),
    ] {
        at_least(what, 0.995, worst(ZeroShotGroup::Paper, shield));
    }
    for (shield, what) in [
        (false, "median random machine, no shield"),
        (true, "median random machine, shield"),
    ] {
        let machines = of(ZeroShotGroup::Random, shield).values();
        let measured = median(&machines.map(Pooled::success).collect::<Vec<_>>()).unwrap_or(0.0);
        at_least(what, 0.995, measured);
    }
    at_least(
        "worst random machine, no shield",
        0.97,
        worst(ZeroShotGroup::Random, false),
    );
    at_least(
        "worst random machine, shield",
        0.99,
        worst(ZeroShotGroup::Random, true),
    );
    for (shield, what) in [
        (false, "worst machine in another room, no shield"),
        (true, "worst machine in another room, shield"),
    ] {
        at_least(what, 0.95, worst(ZeroShotGroup::Rooms, shield));
    }
    for (shield, what) in [
        (false, "steps ÷ shortest, median random machine, no shield"),
        (true, "steps ÷ shortest, median random machine, shield"),
    ] {
        let machines = of(ZeroShotGroup::Random, shield).values();
        let measured = median(&machines.filter_map(Pooled::ratio).collect::<Vec<_>>());
        targets.push(Target {
            what,
            least: "≤ 1.15".to_owned(),
            measured: shown_ratio(measured),
            met: measured.is_some_and(|ratio| ratio <= 1.15),
        });
    }
    let dead_ends: u64 = (groups.iter())
        .filter(|((_, shield), _)| *shield)
        .flat_map(|(_, machines)| machines.values())
        .map(|pooled| pooled.dead_ends)
        .sum();
    targets.push(Target {
        what: "dead ends with shield, all machines",
        least: "0".to_owned(),
        measured: dead_ends.to_string(),
        met: dead_ends == 0,
    });
    targets
}
