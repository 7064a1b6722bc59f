//! From a trace file to a drawn machine.

use std::error::Error;

use form_core::{TraceFile, to_svg};
use form_learn::{LearnOutcome, Learner, Limits, Options};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "examples/all_yellow.jsonl".to_owned());
    let signature = TraceFile::open(&path)?.signature()?;
    let mut learner = Learner::new(&signature, &Options::default());
    for (_, trace) in TraceFile::open(&path)?.traces(&signature)? {
        learner.add(&trace);
    }
    if let LearnOutcome::Minimal(learnt) = learner.learn(&Limits::default())? {
        std::fs::write(
            std::env::temp_dir().join("learnt.svg"),
            to_svg(&learnt.machine),
        )?;
    }
    Ok(())
}
