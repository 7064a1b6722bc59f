//! Weights as safetensors, which Python reads with the library of that name.
//!
//! Tensors are called after their layers (`image.0.weight`, `trunk.2.bias`, `actor.weight`) and hold 32-bit floats. Dense
//! layers and LSTMs are laid out as PyTorch's, one row an output; a convolution's filters have the channel last (filter, row,
//! column, channel), and so has the image that is flattened behind them. What observations are normalised by are 64-bit
//! floats (`normalisation.image.mean`), one a channel or number. The configuration stands in the metadata, under
//! `network`, so that a file is enough to build the network again.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensorError, SafeTensors};

use super::config::NetworkConfig;
use super::network::Network;
use super::normalise::Moments;
use crate::{Error, Result};

/// The configuration's place in the metadata.
const CONFIG: &str = "network";

impl Network {
    /// Writes the weights, all or nothing: a file that was there is replaced once the new one is complete.
    pub fn save(&self, path: &Path) -> Result<()> {
        let damaged = |source| Error::Damaged {
            path: path.to_owned(),
            source,
        };
        let io = |source| Error::Io {
            path: path.to_owned(),
            source,
        };
        let numbers = self.weights().iter();
        let bytes: Vec<u8> = numbers.flat_map(|weight| weight.to_le_bytes()).collect();
        let mut views = Vec::new();
        for tensor in self.tensors() {
            let data = &bytes[4 * tensor.range.start..4 * tensor.range.end];
            let view = TensorView::new(Dtype::F32, tensor.shape.clone(), data);
            views.push((tensor.name.as_str(), view.map_err(damaged)?));
        }
        let little = |numbers: Vec<f64>| -> Vec<u8> {
            numbers.into_iter().flat_map(f64::to_le_bytes).collect()
        };
        let statistics: Vec<(String, Vec<u8>)> = (self.normalisations())
            .flat_map(|of| of.names().into_iter().zip(of.numbers().map(little)))
            .collect();
        for (name, data) in &statistics {
            let view = TensorView::new(Dtype::F64, vec![data.len() / 8], data);
            views.push((name.as_str(), view.map_err(damaged)?));
        }
        let config = serde_json::to_string(self.config()).map_err(SafeTensorError::JsonError);
        let metadata = HashMap::from([(CONFIG.to_owned(), config.map_err(damaged)?)]);
        let file = safetensors::serialize(views, Some(metadata)).map_err(damaged)?;
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let mut partial = tempfile::NamedTempFile::new_in(folder).map_err(io)?;
        partial.write_all(&file).map_err(io)?;
        partial.as_file().sync_all().map_err(io)?;
        partial.persist(path).map_err(|error| io(error.error))?;
        Ok(())
    }

    /// Reads a network that [`Network::save`] wrote.
    pub fn load(path: &Path) -> Result<Self> {
        let file = read(path)?;
        let (_, header) = SafeTensors::read_metadata(&file).map_err(|source| Error::Damaged {
            path: path.to_owned(),
            source,
        })?;
        let mismatch = |problem: String| Error::Mismatch {
            path: path.to_owned(),
            problem,
        };
        let config = (header.metadata().as_ref())
            .and_then(|metadata| metadata.get(CONFIG))
            .ok_or_else(|| mismatch(format!("its metadata have no `{CONFIG}`")))?;
        let config: NetworkConfig = serde_json::from_str(config)
            .map_err(|error| mismatch(format!("`{CONFIG}` in its metadata: {error}")))?;
        let mut network = Self::zeros(&config).map_err(|error| mismatch(error.to_string()))?;
        network.fill(path, &file)?;
        Ok(network)
    }

    /// Reads weights for this network from a file, whoever wrote it. On an error the weights are those of before.
    pub fn read_weights(&mut self, path: &Path) -> Result<()> {
        let file = read(path)?;
        self.fill(path, &file)
    }

    fn fill(&mut self, path: &Path, file: &[u8]) -> Result<()> {
        let mismatch = |problem: String| Error::Mismatch {
            path: path.to_owned(),
            problem,
        };
        let file = SafeTensors::deserialize(file).map_err(|source| Error::Damaged {
            path: path.to_owned(),
            source,
        })?;
        let tensor = |name: &str, dtype: Dtype, shape: &[usize]| {
            let view = (file.tensor(name)).map_err(|_| mismatch(format!("no tensor `{name}`")))?;
            if view.dtype() != dtype {
                let found = view.dtype();
                return Err(mismatch(format!(
                    "tensor `{name}` is of {found:?}, not {dtype:?}"
                )));
            }
            if view.shape() != shape {
                let found = view.shape();
                return Err(mismatch(format!(
                    "tensor `{name}` has the shape {found:?}, not {shape:?}"
                )));
            }
            Ok(view)
        };
        let mut known = Vec::new();
        let mut weights = Vec::with_capacity(self.weights().len());
        for of in self.tensors() {
            let view = tensor(&of.name, Dtype::F32, &of.shape)?;
            let (numbers, _) = view.data().as_chunks::<4>();
            weights.extend(numbers.iter().map(|number| f32::from_le_bytes(*number)));
            known.push(of.name.clone());
        }
        let mut statistics = Vec::new();
        for of in self.normalisations() {
            let mut read = [const { Vec::new() }; 3];
            for (name, numbers) in of.names().into_iter().zip(&mut read) {
                let view = tensor(&name, Dtype::F64, &[of.moments().len()])?;
                let (bytes, _) = view.data().as_chunks::<8>();
                numbers.extend(bytes.iter().map(|number| f64::from_le_bytes(*number)));
                known.push(name);
            }
            statistics.push(Moments::from_numbers(&read).ok_or_else(|| {
                mismatch(format!(
                    "the normalisation of `{}` has impossible statistics",
                    of.name
                ))
            })?);
        }
        let mut names = file.names();
        names.sort_unstable();
        let unknown = |name: &&str| !known.iter().any(|known| known == name);
        if let Some(unknown) = names.into_iter().find(unknown) {
            return Err(mismatch(format!(
                "tensor `{unknown}` is not of this network"
            )));
        }
        self.weights_mut().copy_from_slice(&weights);
        let normalisations = self.normalisations_mut().iter_mut().flatten();
        for (normalisation, moments) in normalisations.zip(statistics) {
            normalisation.set(moments);
        }
        Ok(())
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|source| Error::Io {
        path: path.to_owned(),
        source,
    })
}
