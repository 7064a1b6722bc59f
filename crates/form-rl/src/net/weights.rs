//! Weights as safetensors, which Python reads with the library of that name.
//!
//! Tensors are called after their layers (`image.0.weight`, `trunk.2.bias`, `actor.weight`) and hold 32-bit floats. Dense
//! layers and LSTMs are laid out as PyTorch's, one row an output; a convolution's filters have the channel last (filter, row,
//! column, channel), and so has the image that is flattened behind them. The configuration stands in the metadata, under
//! `network`, so that a file is enough to build the network again.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensorError, SafeTensors};

use super::config::NetworkConfig;
use super::network::Network;
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
        let mut weights = Vec::with_capacity(self.weights().len());
        for tensor in self.tensors() {
            let name = &tensor.name;
            let view = (file.tensor(name)).map_err(|_| mismatch(format!("no tensor `{name}`")))?;
            if view.dtype() != Dtype::F32 {
                let found = view.dtype();
                return Err(mismatch(format!(
                    "tensor `{name}` is of {found:?}, not F32"
                )));
            }
            if view.shape() != tensor.shape {
                let (found, expected) = (view.shape(), &tensor.shape);
                return Err(mismatch(format!(
                    "tensor `{name}` has the shape {found:?}, not {expected:?}"
                )));
            }
            let (numbers, _) = view.data().as_chunks::<4>();
            weights.extend(numbers.iter().map(|number| f32::from_le_bytes(*number)));
        }
        let mut names = file.names();
        names.sort_unstable();
        let known = |name: &&str| self.tensors().iter().any(|tensor| tensor.name == *name);
        if let Some(unknown) = names.into_iter().find(|name| !known(name)) {
            return Err(mismatch(format!(
                "tensor `{unknown}` is not of this network"
            )));
        }
        self.weights_mut().copy_from_slice(&weights);
        Ok(())
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|source| Error::Io {
        path: path.to_owned(),
        source,
    })
}
