//! Records traces: random walks in the paper's room (Figure 1a), labelled by a machine that stands for the task.
//!
//! ```text
//! cargo run --release -p form-learn --example random_walk -- examples/all_yellow.form 20 7
//! ```
//! prints 20 traces of each kind that the machine can end in, drawn with seed 7 (without arguments: two of them). Every
//! episode has its own map.

#![allow(clippy::print_stdout, reason = "the traces are its output")]

use std::error::Error;

use form_core::Machine;
use form_learn::walks::Walks;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument =
        |i: usize, default: &'static str| arguments.get(i).map_or(default, String::as_str);
    let machine: Machine =
        std::fs::read_to_string(argument(0, "examples/all_yellow.form"))?.parse()?;
    let walks = Walks::new(machine, argument(2, "7").parse()?).each(argument(1, "2").parse()?);
    let signature = walks.signature()?;
    let atoms: Vec<String> = signature.atoms().iter().map(ToString::to_string).collect();
    println!("{}", serde_json::json!({ "signature": atoms }));
    for trace in walks.record()? {
        println!("{}", trace.to_json(&signature));
    }
    Ok(())
}
