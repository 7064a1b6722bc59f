//! The file from which training resumes: weights, both optimisers and the number of updates made.

use std::path::Path;

use form_env::Room;

use super::imitation::{Imitation, ImitationConfig};
use super::value_iteration::{SCALE, WEIGHTS};
use crate::adam::Adam;
use crate::bundle::Bundle;
use crate::{Error, Result};

/// The place of the configuration in a file's metadata.
const CONFIG: &str = "imitation";

impl Imitation {
    /// Writes training in progress atomically.
    pub fn save(&self, path: &Path) -> Result<()> {
        let mut bundle = Bundle::default();
        bundle.put_numbers("weights", &self.weights);
        bundle.put_counts("iteration", &[self.iteration]);
        for (name, adam) in [("kernels", &self.adam), ("heads", &self.heads)] {
            let (means, squares) = adam.moments();
            bundle.put_numbers(&format!("{name}.means"), means);
            bundle.put_numbers(&format!("{name}.squares"), squares);
            bundle.put_counts(&format!("{name}.steps"), &[adam.steps() as u64]);
        }
        bundle.write(path, CONFIG, &self.config)
    }

    /// Resumes training of this configuration from a file.
    pub fn resume(path: &Path, config: ImitationConfig, rooms: Vec<Room>) -> Result<Self> {
        let mismatch = |problem: String| Error::Mismatch {
            path: path.to_owned(),
            problem,
        };
        let bundle = Bundle::read(path)?;
        let saved: ImitationConfig = bundle.description(path, CONFIG)?;
        if saved != config {
            return Err(mismatch(
                "it belongs to a run with another configuration".to_owned(),
            ));
        }
        let numbers = |name: &str, len: usize| {
            let numbers = bundle.numbers(name).map_err(mismatch)?;
            match numbers.len() == len && numbers.iter().all(|number| number.is_finite()) {
                true => Ok(numbers),
                false => Err(mismatch(format!("tensor `{name}` is damaged"))),
            }
        };
        let count = |name: &str| match bundle.counts(name).map_err(mismatch)?.as_slice() {
            [count] => Ok(*count),
            _ => Err(mismatch(format!("tensor `{name}` is damaged"))),
        };
        let adam = |name: &str, len: usize| {
            let steps = count(&format!("{name}.steps"))?;
            let means = numbers(&format!("{name}.means"), len)?;
            let squares = numbers(&format!("{name}.squares"), len)?;
            Ok::<_, Error>(Adam::restore(steps as i32, means, squares, 0.0))
        };
        let mut imitation = Self::new(config, rooms);
        imitation.weights = numbers("weights", WEIGHTS)?;
        imitation.iteration = count("iteration")?;
        imitation.adam = adam("kernels", SCALE)?;
        imitation.heads = adam("heads", WEIGHTS - SCALE)?;
        Ok(imitation)
    }
}
