//! One line of a trace file.
//!
//! A line is parsed straight from its bytes: atoms go to a sink as they are met, without an intermediate form. So gigabytes of
//! traces can be streamed.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::trace::Kind;
use crate::error::Fault;
use crate::machine::step_mode::StepMode;

/// A consumer of the atoms of a line.
pub(crate) trait Sink {
    /// An atom of the current step; an error says what is wrong with it.
    fn atom(&mut self, text: &str) -> Result<(), String>;
    /// The current step is complete.
    fn end_of_step(&mut self);
    /// The atoms since then were no step, but a signature.
    fn end_of_signature(&mut self);
}

/// The content of a line, besides the atoms that went to the sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A declaration of the signature, or of which steps count, or of both.
    Header(Header),
    /// A trace, which may bring a signature of its own.
    Trace(Kind),
}

/// What the first line of a file declares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Header {
    /// Whether it declares the signature.
    pub(crate) signature: bool,
    /// Which environment steps its traces have.
    pub(crate) steps: Option<StepMode>,
}

/// A mistake in a line, and its byte.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LineFault {
    pub(crate) at: usize,
    pub(crate) problem: String,
}

/// Parses a line.
pub(crate) fn parse(line: &[u8], sink: &mut impl Sink) -> Result<Line, LineFault> {
    let start = line.iter().take_while(|b| b.is_ascii_whitespace()).count();
    if line.get(start) != Some(&b'{') {
        return Err(LineFault {
            at: start,
            problem: r#"expected a trace `{"kind":…,"steps":…}`, or `{"signature":…}`"#.to_owned(),
        });
    }
    let mut context = Context {
        line,
        sink,
        fault: None,
    };
    let mut json = serde_json::Deserializer::from_slice(line);
    let parsed = json.deserialize_map(LineVisitor {
        context: &mut context,
    });
    let parsed = parsed.and_then(|line| json.end().map(|()| line));
    match (parsed, context.fault) {
        (Ok(line), None) => Ok(line),
        (_, Some(fault)) => Err(fault),
        (Err(error), None) => {
            let Fault { at, problem } = Fault::json(line, &error);
            Err(LineFault {
                at: at.start,
                problem,
            })
        }
    }
}

struct Context<'l, 's, S> {
    line: &'l [u8],
    sink: &'s mut S,
    /// The first error of the sink, with its byte if that is known.
    fault: Option<LineFault>,
}

impl<S: Sink> Context<'_, '_, S> {
    fn atom(&mut self, text: &str) -> Result<(), String> {
        self.sink.atom(text).inspect_err(|problem| {
            // A string without escapes is a slice of the line.
            let start = text.as_ptr() as usize;
            let offset = start.wrapping_sub(self.line.as_ptr() as usize);
            if offset < self.line.len() {
                self.fault = Some(LineFault {
                    at: offset,
                    problem: problem.clone(),
                });
            }
        })
    }
}

struct LineVisitor<'c, 'l, 's, S> {
    context: &'c mut Context<'l, 's, S>,
}

impl<'de, S: Sink> Visitor<'de> for LineVisitor<'_, '_, '_, S> {
    type Value = Line;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `kind` and `steps`, or with `signature`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Line, A::Error> {
        let (mut kind, mut steps, mut signature) = (None, None, false);
        while let Some(key) = map.next_key::<Field>()? {
            match key {
                Field::Kind if kind.is_some() => return Err(A::Error::duplicate_field("kind")),
                Field::Steps if steps.is_some() => return Err(A::Error::duplicate_field("steps")),
                Field::Signature if signature => {
                    return Err(A::Error::duplicate_field("signature"));
                }
                Field::Kind => kind = Some(map.next_value::<KindValue>()?.0),
                Field::Steps => {
                    steps = Some(map.next_value_seed(Steps {
                        context: self.context,
                    })?);
                }
                Field::Signature => {
                    map.next_value_seed(Atoms {
                        context: self.context,
                    })?;
                    self.context.sink.end_of_signature();
                    signature = true;
                }
                Field::Other => {
                    map.next_value::<serde::de::IgnoredAny>()?;
                }
            }
        }
        match (kind, steps, signature) {
            (Some(kind), Some(StepsValue::List), _) => Ok(Line::Trace(kind)),
            (None, None, true) => Ok(Line::Header(Header {
                signature,
                steps: None,
            })),
            (None, Some(StepsValue::Mode(mode)), _) => Ok(Line::Header(Header {
                signature,
                steps: Some(mode),
            })),
            (None, ..) => Err(A::Error::missing_field("kind")),
            (_, None, _) => Err(A::Error::missing_field("steps")),
            (_, Some(_), _) => Err(A::Error::custom(
                "the steps of a trace are a list; which steps count is said in the first line",
            )),
        }
    }
}

#[derive(serde::Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Field {
    Kind,
    Steps,
    Signature,
    /// An identifier, a date, …: of no meaning here.
    #[serde(other)]
    Other,
}

struct KindValue(Kind);

impl<'de> serde::Deserialize<'de> for KindValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KindVisitor;
        impl Visitor<'_> for KindVisitor {
            type Value = KindValue;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`goal`, `dead-end` or `incomplete`")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<KindValue, E> {
                text.parse().map(KindValue).map_err(E::custom)
            }
        }
        deserializer.deserialize_str(KindVisitor)
    }
}

/// The value of `steps`.
enum StepsValue {
    /// Those of a trace, which went to the sink.
    List,
    /// Which steps count, in the first line.
    Mode(StepMode),
}

/// `[[atom, …], …]`, or `"all"` or `"changes"`.
struct Steps<'c, 'l, 's, S> {
    context: &'c mut Context<'l, 's, S>,
}

impl<'de, S: Sink> DeserializeSeed<'de> for Steps<'_, '_, '_, S> {
    type Value = StepsValue;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<StepsValue, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, S: Sink> Visitor<'de> for Steps<'_, '_, '_, S> {
    type Value = StepsValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of steps, each a list of atoms")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut steps: A) -> Result<StepsValue, A::Error> {
        while steps
            .next_element_seed(Atoms {
                context: self.context,
            })?
            .is_some()
        {
            self.context.sink.end_of_step();
        }
        Ok(StepsValue::List)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<StepsValue, E> {
        text.parse().map(StepsValue::Mode).map_err(E::custom)
    }
}

/// `[atom, …]`
struct Atoms<'c, 'l, 's, S> {
    context: &'c mut Context<'l, 's, S>,
}

impl<'de, S: Sink> DeserializeSeed<'de> for Atoms<'_, '_, '_, S> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, S: Sink> Visitor<'de> for Atoms<'_, '_, '_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of atoms")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut atoms: A) -> Result<(), A::Error> {
        while atoms
            .next_element_seed(AtomText {
                context: self.context,
                lifetime: PhantomData,
            })?
            .is_some()
        {}
        Ok(())
    }
}

struct AtomText<'c, 'l, 's, S> {
    context: &'c mut Context<'l, 's, S>,
    lifetime: PhantomData<&'l ()>,
}

impl<'de, S: Sink> DeserializeSeed<'de> for AtomText<'_, '_, '_, S> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<S: Sink> Visitor<'_> for AtomText<'_, '_, '_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an atom such as `yellow(o1)`, as a string")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<(), E> {
        self.context.atom(text).map_err(E::custom)
    }
}
