//! Prints the random machines of the experiment `zero-shot`, one per line: what `src/zero_shot/machines.jsonl` holds.

fn main() -> anyhow::Result<()> {
    print!("{}", form_paper::draw_machines()?);
    Ok(())
}
