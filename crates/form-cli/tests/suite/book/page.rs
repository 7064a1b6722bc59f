//! A page taken apart: its fenced blocks, links, images, headings and comments, each with its line.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// A page with what the checks look at, in the order of the text.
pub struct Page {
    /// Where it stands in the repository.
    pub name: String,
    pub pieces: Vec<(usize, Piece)>,
}

/// One thing on a page.
#[derive(Debug, PartialEq)]
pub enum Piece {
    /// A block of code: what stands behind the fence, and what is in it.
    Block {
        info: String,
        text: String,
    },
    /// A block without a fence, or one that is not at the beginning of its line.
    Stray(&'static str),
    Link(String),
    Image(String),
    /// The anchor of a heading.
    Heading(String),
    /// What stands between `<!--` and `-->`.
    Comment(String),
}

impl Page {
    /// Takes the text of a page apart.
    pub fn new(name: &str, text: &str) -> Self {
        let line = |at: usize| text[..at].matches('\n').count() + 1;
        let options = Options::ENABLE_TABLES
            | Options::ENABLE_FOOTNOTES
            | Options::ENABLE_STRIKETHROUGH
            | Options::ENABLE_TASKLISTS;
        let mut pieces = Vec::new();
        let mut heading: Option<String> = None;
        let mut block: Option<(String, String)> = None;
        for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
            let here = line(range.start);
            match event {
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                    if range.start > 0 && !text[..range.start].ends_with('\n') {
                        let problem = "a block that does not stand at the beginning of a line";
                        pieces.push((here, Piece::Stray(problem)));
                    }
                    block = Some((info.to_string(), String::new()));
                }
                Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)) => {
                    let problem = "a block without a fence: nothing says what it is";
                    pieces.push((here, Piece::Stray(problem)));
                }
                Event::End(TagEnd::CodeBlock) => {
                    if let Some((info, text)) = block.take() {
                        pieces.push((here, Piece::Block { info, text }));
                    }
                }
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    let said = heading.take().unwrap_or_default();
                    let anchor = anchor(&said, &pieces);
                    pieces.push((here, Piece::Heading(anchor)));
                }
                Event::Start(Tag::Link { dest_url, .. }) => {
                    pieces.push((here, Piece::Link(dest_url.to_string())));
                }
                Event::Start(Tag::Image { dest_url, .. }) => {
                    pieces.push((here, Piece::Image(dest_url.to_string())));
                }
                Event::Text(said) | Event::Code(said) => {
                    if let Some((_, text)) = &mut block {
                        text.push_str(&said);
                    } else if let Some(heading) = &mut heading {
                        heading.push_str(&said);
                    }
                }
                Event::Html(said) | Event::InlineHtml(said) => {
                    let inside = said.trim().strip_prefix("<!--");
                    if let Some(comment) = inside.and_then(|said| said.strip_suffix("-->")) {
                        pieces.push((here, Piece::Comment(comment.trim().to_owned())));
                    }
                }
                _ => {}
            }
        }
        let name = name.to_owned();
        Self { name, pieces }
    }

    /// A complaint about a line of this page.
    pub fn complaint(&self, line: usize, problem: &str) -> String {
        format!("{}:{line}: {problem}", self.name)
    }

    /// Its blocks: the line, what stands behind the fence, and the text.
    pub fn blocks(&self) -> impl Iterator<Item = (usize, &str, &str)> {
        self.pieces.iter().filter_map(|(line, piece)| match piece {
            Piece::Block { info, text } => Some((*line, info.as_str(), text.as_str())),
            _ => None,
        })
    }

    /// The anchors of its headings.
    pub fn anchors(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|(_, piece)| match piece {
            Piece::Heading(anchor) => Some(anchor.as_str()),
            _ => None,
        })
    }
}

/// The anchor that mdBook gives a heading: a number is added to one that there is already.
fn anchor(heading: &str, before: &[(usize, Piece)]) -> String {
    let plain: String = (heading.trim().chars())
        .filter_map(|letter| match letter {
            letter if letter.is_alphanumeric() || letter == '_' || letter == '-' => {
                Some(letter.to_ascii_lowercase())
            }
            letter if letter.is_whitespace() => Some('-'),
            _ => None,
        })
        .collect();
    let taken = |name: &str| {
        (before.iter()).any(|(_, piece)| matches!(piece, Piece::Heading(known) if known == name))
    };
    let mut name = plain.clone();
    let mut number = 0;
    while taken(&name) {
        number += 1;
        name = format!("{plain}-{number}");
    }
    name
}
