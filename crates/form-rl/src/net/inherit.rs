//! What a new network takes over from an old one, and tensor by tensor what became of it.
//!
//! A machine that was learnt anew may have other indicators, a task other planes: the layers that see them are adapted, column
//! by column, and the others are taken as they are or stay fresh.

use super::config::LayerConfig;
use super::layer::Tensor;
use super::network::Network;
use super::normalise::{Moments, Normalisation};

/// What became of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inheritance {
    /// Its name, as in the file.
    pub tensor: String,
    /// What became of it.
    pub origin: WeightOrigin,
}

/// What can become of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WeightOrigin {
    /// It was taken as it was.
    Loaded,
    /// It belongs to an input of other numbers or channels.
    Adapted {
        /// Numbers or channels of the input whose weights were taken.
        kept: usize,
        /// Those that the other network did not know: their weights are as they were.
        fresh: usize,
    },
    /// Its weights are as they were.
    Fresh {
        /// Why.
        reason: String,
    },
    /// Only the other network has it.
    Unused,
}

/// For every column where it comes from; or why none of them comes from anywhere.
type Plan = Result<Vec<Option<usize>>, String>;

impl Network {
    /// Takes over what fits of another network's weights and normalisation, and says of every tensor what became of it.
    ///
    /// Tensors of the same name and shape are taken. Where the sizes of a vector differ, its first layer, if dense, is adapted: number
    /// `i` of the vector is what number `columns[i]` was, or new where that is `None`. Without such a list the numbers that both have
    /// are the same. So are the channels of the image, if its first layer is a convolution. A list that does not fit leaves the
    /// layer fresh, and the reason says so.
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
