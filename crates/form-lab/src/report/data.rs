//! The data of the page, a JSON object inside it. The scripts in `page` read nothing else.

use form_core::Notation;
use serde::Serialize;

/// Everything on the page.
#[derive(Clone, Debug, Serialize)]
pub(super) struct PageData {
    /// The version of the program.
    pub(super) version: &'static str,
    /// How often the page polls; none if it is complete.
    pub(super) live: Option<Live>,
    pub(super) runs: Vec<RunData>,
}

/// A live page polls for new data.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Live {
    /// Seconds between two polls.
    pub(super) seconds: u64,
}

/// One run.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct RunData {
    pub(super) name: String,
    pub(super) task: Option<String>,
    pub(super) method: Option<String>,
    pub(super) seed: Option<u64>,
    /// The `ending` of `result.json`, or `unfinished`.
    pub(super) status: String,
    pub(super) message: String,
    /// Its success rate: of the last evaluation.
    pub(super) success: Option<f64>,
    /// The success rate of random play on the same episodes, if known.
    pub(super) random: Option<f64>,
    /// Problems with its files.
    pub(super) notes: Vec<String>,
    pub(super) facts: Vec<(&'static str, String)>,
    pub(super) config: Vec<(String, String)>,
    pub(super) files: Vec<FileData>,
    pub(super) curves: Curves,
    pub(super) thinned: Option<Thinned>,
    pub(super) policies: Vec<PolicyData>,
    pub(super) machines: Vec<MachineData>,
    pub(super) evaluations: Vec<EvaluationData>,
    pub(super) rooms: Vec<String>,
    pub(super) replays: Vec<ReplayData>,
}

/// A file of the run.
#[derive(Clone, Debug, Serialize)]
pub(super) struct FileData {
    pub(super) name: String,
    /// The link from the page.
    pub(super) href: Option<String>,
    pub(super) bytes: u64,
}

/// The columns of `metrics.csv` and the seconds of `timings.csv`: one value per iteration.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Curves {
    pub(super) iteration: Vec<u64>,
    pub(super) steps: Vec<u64>,
    /// None if there are no timings.
    pub(super) seconds: Option<Vec<Option<f64>>>,
    /// Of evaluations, in the iterations that have one.
    pub(super) success: Vec<Option<f64>>,
    #[serde(rename = "return")]
    pub(super) return_: Vec<Option<f64>>,
    pub(super) length: Vec<Option<f64>>,
    /// Of the training episodes that ended.
    pub(super) episodes: Vec<u64>,
    pub(super) ended_success: Vec<Option<f64>>,
    pub(super) ended_length: Vec<Option<f64>>,
    pub(super) shaped_return: Vec<Option<f64>>,
    pub(super) states: Vec<u64>,
    pub(super) edges: Vec<u64>,
    pub(super) counterexamples: Vec<u64>,
}

/// A run with too many iterations for the page is thinned.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Thinned {
    pub(super) kept: usize,
    pub(super) of: usize,
}

/// The policy of one state: its total samples and its last update.
#[derive(Clone, Debug, Serialize)]
pub(super) struct PolicyData {
    pub(super) state: String,
    pub(super) updates: u64,
    pub(super) samples: u64,
    pub(super) policy_loss: Option<f64>,
    pub(super) value_loss: Option<f64>,
    pub(super) entropy: Option<f64>,
    pub(super) kl: Option<f64>,
    pub(super) clipped: Option<f64>,
    pub(super) gradient: Option<f64>,
}

/// One of the machines of a run.
#[derive(Clone, Debug, Serialize)]
pub(super) struct MachineData {
    pub(super) number: u64,
    /// Its file; none if only the checkpoint has it.
    pub(super) file: Option<String>,
    pub(super) svg: String,
    pub(super) states: Vec<String>,
    pub(super) initial: usize,
    pub(super) accept: usize,
    pub(super) reject: Option<usize>,
    pub(super) edges: Vec<EdgeData>,
    /// When it was learnt.
    pub(super) iteration: Option<u64>,
    pub(super) steps: Option<u64>,
    /// How long the learner took.
    pub(super) seconds: Option<f64>,
    /// Renamed states: the names in the previous machine and in this one.
    pub(super) renamed: Vec<(String, String)>,
    /// Edges of the previous machine that are gone.
    pub(super) gone: Vec<GoneEdge>,
    /// The number of new traces.
    pub(super) counterexamples: usize,
    /// A new trace that the previous machine misjudges.
    pub(super) counterexample: Option<CounterexampleData>,
}

/// An edge.
#[derive(Clone, Debug, Serialize)]
pub(super) struct EdgeData {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) formula: String,
    pub(super) reward: f64,
    /// Whether the previous machine did not have it.
    pub(super) is_new: bool,
}

/// An edge of the previous machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct GoneEdge {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) formula: String,
}

/// A trace that a machine misjudges.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct CounterexampleData {
    /// Its line in `traces.jsonl`.
    pub(super) line: usize,
    pub(super) kind: &'static str,
    pub(super) steps: Vec<Vec<String>>,
    /// The states of the machine: before the first observation, and after each one until the disagreement.
    pub(super) states: Vec<String>,
    /// The truth at that point: `goal`, `dead-end` or `incomplete`.
    pub(super) expected: &'static str,
    /// What the machine says.
    pub(super) said: &'static str,
}

/// The label of an evaluation made for the page.
pub(super) const FOR_THIS_PAGE: &str = "for this page";

/// An evaluation on a set of maps.
#[derive(Clone, Debug, Serialize)]
pub(super) struct EvaluationData {
    /// When it was made: when the run ended, or for this page.
    pub(super) when: &'static str,
    pub(super) held_out: bool,
    pub(super) greedy: bool,
    pub(super) episodes: u64,
    pub(super) successes: u64,
    pub(super) success: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) random: Option<f64>,
    pub(super) length: f64,
    pub(super) shortest: Option<f64>,
    pub(super) shortest_exact: bool,
    pub(super) ratio: Option<f64>,
    pub(super) dead_ends: u64,
    pub(super) out_of_time: u64,
    pub(super) cut_off: u64,
    /// Where episodes fail, as text.
    pub(super) failures: Vec<String>,
}

/// A replayed episode. Times are numbers of steps; an entry holds until the next one.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ReplayData {
    pub(super) set: &'static str,
    pub(super) outcome: &'static str,
    pub(super) success: bool,
    pub(super) refuted: bool,
    /// The number of its map in the set.
    pub(super) map: Option<usize>,
    /// Its room among those of the run.
    pub(super) room: usize,
    /// Its machine among those of the run; none for methods without one.
    pub(super) machine: Option<usize>,
    /// Column, row and direction.
    pub(super) poses: Vec<(usize, usize, usize)>,
    pub(super) actions: Vec<String>,
    pub(super) labels: Vec<(usize, Vec<String>)>,
    pub(super) states: Vec<(usize, usize)>,
    pub(super) edges: Vec<(usize, usize)>,
    pub(super) buffer: Vec<(usize, Vec<String>)>,
}

/// A formula in the notation of the paper.
pub(super) fn in_papers_notation(formula: &form_core::Formula) -> String {
    formula.display(Notation::Unicode).to_string()
}
