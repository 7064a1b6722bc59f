//! Weight transfer: a network inherits the weights of another one, and reports the origin of each tensor.
//!
//! A new machine may have other indicators, a new task other planes: the input layers are adapted column by column; other layers
//! are copied, or keep their initial weights if their shapes differ.

use super::config::LayerConfig;
use super::layer::Tensor;
use super::network::Network;
use super::normalise::{Moments, Normalisation};

/// One tensor and the origin of its weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inheritance {
    /// Its name, as in the file.
    pub tensor: String,
    /// The origin of its weights.
    pub origin: WeightOrigin,
}

/// The origin of a tensor's weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WeightOrigin {
    /// Copied from the other network.
    Loaded,
    /// The tensor of an input with other columns: copied column by column.
    Adapted {
        /// The number of columns that were copied.
        kept: usize,
        /// The number of columns that the other network does not have: their weights are unchanged.
        fresh: usize,
    },
    /// Its weights are unchanged.
    Fresh {
        /// Why.
        reason: String,
    },
    /// A tensor of the other network that this one does not have.
    Unused,
}

/// The source of every column; or why no column is copied.
type Plan = Result<Vec<Option<usize>>, String>;

impl Network {
    /// Copies the weights and normalisation of another network where they fit, and reports the origin of every tensor.
    ///
    /// Tensors of the same name and shape are copied. If the sizes of a vector differ, its first layer, if dense, is adapted: column
    /// `i` is copied from column `columns[i]` of the other network, or left unchanged for `None`. Without a list for an input, column
    /// `i` is copied from column `i`. Image channels are treated alike if the first layer is a convolution. With a list that does
    /// not fit, the layer is left unchanged, and the report says why.
    pub fn inherit(
        &mut self,
        other: &Self,
        columns: &[(&str, Vec<Option<usize>>)],
    ) -> Vec<Inheritance> {
        let mut inherited = Vec::new();
        for tensor in self.tensors().to_vec() {
            let plan = self.plan(&tensor, other, columns);
            if let (Ok(plan), Some(from)) = (&plan, other.tensor(&tensor.name)) {
                let (to_width, from_width) = (plan.len(), from.shape[from.shape.len() - 1]);
                let rows = (self.weights_mut()[tensor.range.clone()].chunks_exact_mut(to_width))
                    .zip(other.weights()[from.range.clone()].chunks_exact(from_width));
                for (to, from) in rows {
                    for (to, place) in to.iter_mut().zip(plan) {
                        *to = place.map_or(*to, |place| from[place]);
                    }
                }
            }
            let width = other
                .tensor(&tensor.name)
                .and_then(|from| from.shape.last().copied());
            inherited.push(Inheritance {
                origin: origin(plan, width),
                tensor: tensor.name,
            });
        }
        self.inherit_normalisation(other, columns, &mut inherited);
        let known = |name: &String| inherited.iter().any(|one| one.tensor == *name);
        let theirs = (other.tensors().iter().map(|tensor| tensor.name.clone()))
            .chain(other.normalisations().flat_map(Normalisation::names));
        let unused: Vec<String> = theirs.filter(|name| !known(name)).collect();
        inherited.extend(unused.into_iter().map(|tensor| Inheritance {
            tensor,
            origin: WeightOrigin::Unused,
        }));
        inherited
    }

    fn tensor(&self, name: &str) -> Option<&Tensor> {
        self.tensors().iter().find(|tensor| tensor.name == name)
    }

    /// The input whose numbers or channels are the columns of a tensor.
    fn input_of(&self, tensor: &str) -> Option<&str> {
        let name = tensor.strip_suffix(".0.weight")?;
        let config = self.config();
        let conv = |layer: &LayerConfig| matches!(layer, LayerConfig::Conv { .. });
        let dense = |layer: &LayerConfig| matches!(layer, LayerConfig::Dense { .. });
        let image = config.image.as_ref().map(|image| &image.layers);
        if name == "image" && image.is_some_and(|layers| layers.first().is_some_and(conv)) {
            return Some("image");
        }
        let vector = config.vectors.iter().find(|vector| vector.name == name)?;
        let first = vector.layers.first()?;
        dense(first).then_some(vector.name.as_str())
    }

    fn plan(&self, tensor: &Tensor, other: &Self, columns: &[(&str, Vec<Option<usize>>)]) -> Plan {
        let Some(from) = other.tensor(&tensor.name) else {
            return Err("the other network has no such tensor".to_owned());
        };
        let differ = || {
            Err(format!(
                "its shape is {:?}, the other network's {:?}",
                tensor.shape, from.shape
            ))
        };
        let (Some((width, rows)), Some((from_width, from_rows))) =
            (tensor.shape.split_last(), from.shape.split_last())
        else {
            return differ();
        };
        match self.input_of(&tensor.name) {
            Some(input) if rows == from_rows && other.input_of(&tensor.name) == Some(input) => {
                mapped(*width, *from_width, input, columns)
            }
            _ if tensor.shape == from.shape => Ok((0..*width).map(Some).collect()),
            _ => differ(),
        }
    }

    fn inherit_normalisation(
        &mut self,
        other: &Self,
        columns: &[(&str, Vec<Option<usize>>)],
        inherited: &mut Vec<Inheritance>,
    ) {
        for own in self.normalisations_mut().iter_mut().flatten() {
            let from = other.normalisations().find(|from| from.name == own.name);
            let plan = from.map_or_else(
                || Err("the other network does not normalise it".to_owned()),
                |from| {
                    let (width, from_width) = (own.moments().len(), from.moments().len());
                    mapped(width, from_width, &own.name, columns)
                },
            );
            if let (Ok(plan), Some(from)) = (&plan, from) {
                let take = |(place, own): (&Option<usize>, &Moments)| {
                    place.map_or(*own, |place| from.moments()[place])
                };
                own.set(plan.iter().zip(own.moments()).map(take).collect());
            }
            let origin = origin(plan, from.map(|from| from.moments().len()));
            inherited.extend(own.names().into_iter().map(|tensor| Inheritance {
                tensor,
                origin: origin.clone(),
            }));
        }
    }
}

/// The columns of an input, by its list or by position.
fn mapped(
    width: usize,
    from_width: usize,
    input: &str,
    columns: &[(&str, Vec<Option<usize>>)],
) -> Plan {
    let Some((_, list)) = columns.iter().find(|(name, _)| *name == input) else {
        let place = |place| (place < from_width).then_some(place);
        return Ok((0..width).map(place).collect());
    };
    if list.len() != width {
        return Err(format!(
            "the list of columns has {} entries for {width} columns",
            list.len()
        ));
    }
    if let Some(beyond) = (list.iter().flatten()).find(|place| **place >= from_width) {
        return Err(format!(
            "the list of columns names column {beyond} of {from_width}"
        ));
    }
    Ok(list.clone())
}

fn origin(plan: Plan, from_width: Option<usize>) -> WeightOrigin {
    let plan = match plan {
        Ok(plan) => plan,
        Err(reason) => return WeightOrigin::Fresh { reason },
    };
    let mut places = plan.iter().enumerate();
    let same = places.all(|(place, from)| *from == Some(place));
    if same && from_width == Some(plan.len()) {
        return WeightOrigin::Loaded;
    }
    let kept = plan.iter().flatten().count();
    WeightOrigin::Adapted {
        kept,
        fresh: plan.len() - kept,
    }
}
