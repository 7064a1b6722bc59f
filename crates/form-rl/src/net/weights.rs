//! Weights as safetensors, which Python reads with the library of that name.
//!
//! Tensors are called after their layers (`image.0.weight`, `trunk.2.bias`, `actor.weight`) and hold 32-bit floats. Dense
//! layers and LSTMs are laid out as in PyTorch, one row per output; a convolution's filters have the channel last (filter, row,
//! column, channel), and so has the image that is flattened behind them. What observations are normalised by are 64-bit
//! floats (`normalisation.image.mean`), one per channel or entry. The configuration is in the metadata, under
//! `network`, so that a file is enough to build the network again. One more tensor, `crc32`, is the checksum of all the others.

use std::path::Path;

use super::config::NetworkConfig;
use super::network::Network;
use super::normalise::Moments;
use crate::bundle::Bundle;
use crate::{Error, Result};

/// The configuration's place in the metadata.
const CONFIG: &str = "network";

impl Network {
    /// Writes the weights atomically: an existing file is replaced once the new one is complete.
    pub fn save(&self, path: &Path) -> Result<()> {
        let mut bundle = Bundle::default();
        self.put_into(&mut bundle, "");
        bundle.write(path, CONFIG, self.config())
    }

    /// Reads a network that [`Network::save`] wrote.
    pub fn load(path: &Path) -> Result<Self> {
        let bundle = Bundle::read(path)?;
        let config: NetworkConfig = bundle.description(path, CONFIG)?;
        let mut network = Self::zeros(&config).map_err(|error| Error::Mismatch {
            path: path.to_owned(),
            problem: error.to_string(),
        })?;
        network.fill(path, &bundle)?;
        Ok(network)
    }

    /// Reads weights for this network from a safetensors file. On an error the weights are unchanged.
    pub fn read_weights(&mut self, path: &Path) -> Result<()> {
        self.fill(path, &Bundle::read(path)?)
    }

    fn fill(&mut self, path: &Path, bundle: &Bundle) -> Result<()> {
        let result = self.take_from(bundle, "");
        result.map_err(|problem| Error::Mismatch {
            path: path.to_owned(),
            problem,
        })
    }

    /// Adds all tensors to a bundle, with this prefix.
    pub(crate) fn put_into(&self, bundle: &mut Bundle, start: &str) {
        for tensor in self.tensors() {
            let numbers = &self.weights()[tensor.range.clone()];
            bundle.put_shaped(&format!("{start}{}", tensor.name), &tensor.shape, numbers);
        }
        for of in self.normalisations() {
            for (name, numbers) in of.names().into_iter().zip(of.numbers()) {
                bundle.put_doubles(&format!("{start}{name}"), &numbers);
            }
        }
    }

    /// Reads the tensors that [`Network::put_into`] wrote; on an error nothing changes.
    pub(crate) fn take_from(&mut self, bundle: &Bundle, start: &str) -> Result<(), String> {
        let expect = |name: &str, shape: &[usize]| match bundle.shape(name) {
            Some(found) if found != shape => Err(format!(
                "tensor `{name}` has the shape {found:?}, not {shape:?}"
            )),
            _ => Ok(()),
        };
        let mut known = Vec::new();
        let mut weights = Vec::with_capacity(self.weights().len());
        for of in self.tensors() {
            let name = format!("{start}{}", of.name);
            expect(&name, &of.shape)?;
            let numbers = bundle.numbers(&name)?;
            if let Some(number) = numbers.iter().find(|number| !number.is_finite()) {
                return Err(format!(
                    "tensor `{name}` holds {number}, which is not finite"
                ));
            }
            weights.extend(numbers);
            known.push(of.name.clone());
        }
        let mut statistics = Vec::new();
        for of in self.normalisations() {
            let mut read = [const { Vec::new() }; 3];
            for (name, numbers) in of.names().into_iter().zip(&mut read) {
                let name_there = format!("{start}{name}");
                expect(&name_there, &[of.moments().len()])?;
                *numbers = bundle.doubles(&name_there)?;
                known.push(name);
            }
            statistics.push(Moments::from_numbers(&read).ok_or_else(|| {
                format!(
                    "the normalisation of `{}` has impossible statistics",
                    of.name
                )
            })?);
        }
        let unknown = |name: &&str| !known.iter().any(|known| known == name);
        if let Some(unknown) = bundle.names(start).find(unknown) {
            return Err(format!(
                "tensor `{start}{unknown}` does not belong to this network"
            ));
        }
        self.weights_mut().copy_from_slice(&weights);
        let normalisations = self.normalisations_mut().iter_mut().flatten();
        for (normalisation, moments) in normalisations.zip(statistics) {
            normalisation.set(moments);
        }
        Ok(())
    }
}
