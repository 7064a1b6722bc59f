//! From a trace file to a drawn machine.

use std::error::Error;
use std::fs::File;

use form_core::{TraceFile, to_svg};
use form_learn::{Learner, Limits, Options, Outcome};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "examples/all_yellow.jsonl".to_owned());
    let open = || TraceFile::new(&path, File::open(&path)?).map_err(Box::<dyn Error>::from);
    let signature = open()?.signature()?;
    let mut learner = Learner::new(&signature, &Options::default());
    for (_, trace) in open()?.traces(&signature)? {
        learner.add(&trace);
    }
    if let Outcome::Minimal(learnt) = learner.learn(&Limits::default())? {
        std::fs::write(
            std::env::temp_dir().join("learnt.svg"),
            to_svg(&learnt.machine),
        )?;
    }
    Ok(())
}
