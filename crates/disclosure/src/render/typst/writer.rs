//! From sections and blocks to calls of the layout's functions, one after another in a block of code.

use std::fmt::Write;
use std::mem;

use super::picture::picture;
use super::table::table;
use super::words::{array, listing, rich, words};
use super::{TypstFile, state_word};
use crate::charts::Chart;
use crate::{Block, Document, Figure, Hero, NoteKind, Section, Text, Tile};

/// A writer of markup.
#[derive(Debug, Default)]
pub(super) struct Writer {
    main: String,
    /// Headings that wait for what they are for, so that they stand on the same page.
    headings: String,
    pictures: Vec<TypstFile>,
    /// Number of enclosing folds.
    depth: usize,
}

/// The number of sections from which a report has a table of contents.
const CONTENTS_MIN: usize = 4;

impl Writer {
    /// Writes what stands before the sections, title, verdict and headline, laid out by a function of the layout.
    pub(super) fn opening(&mut self, layout: &str, document: &Document) {
        let banner = &document.banner;
        let hero = document.hero.as_ref().map_or("none".to_owned(), hero);
        let lead = document.lead.as_ref().map(|lead| self.chart(&lead.chart, &lead.caption));
        let answer = Some(&document.answer).filter(|answer| !answer.is_empty()).map(rich);
        let fields = [
            ("title", words(&document.title)),
            ("subtitle", words(&document.subtitle)),
            ("state", format!("\"{}\"", state_word(banner.state))),
            ("judgement", rich(&banner.text)),
            ("reasons", array(banner.reasons.iter().map(rich))),
            ("modified", array(banner.modified.iter().map(rich))),
            ("hero", hero),
            ("answer", answer.unwrap_or("none".to_owned())),
            ("lead", lead.unwrap_or("none".to_owned())),
            ("contents", (CONTENTS_MIN <= document.sections.len()).to_string()),
            ("colophon", rich(&document.colophon)),
        ];
        let _ = writeln!(self.main, "#import \"layout.typ\": *\n#show: {layout}.with(");
        for (name, value) in fields {
            let _ = writeln!(self.main, "  {name}: {value},");
        }
        self.main.push_str(")\n#{\n");
        if !document.brief.is_empty() {
            self.call("facts", document.brief.iter().map(|(name, value)| array([words(name), rich(value)])));
        }
    }

    /// Writes a section.
    pub(super) fn section(&mut self, section: &Section) {
        self.heading(1, &section.title);
        section.blocks.iter().for_each(|block| self.block(block));
    }

    /// Ends the markup; returns it with its pictures.
    pub(super) fn close(mut self) -> (String, Vec<TypstFile>) {
        self.main.push_str(&self.headings);
        self.main.push_str("}\n");
        (self.main, self.pictures)
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Paragraph(text) => self.call("prose", [rich(text)]),
            Block::Heading(title) => self.heading(self.depth + 2, title),
            Block::Tiles(tiles) => self.call("tiles", tiles.iter().map(tile)),
            Block::Table(one) => table(one, &mut self.headings, &mut self.main),
            Block::Figure(figure) => self.figure(figure),
            Block::Facts(facts) => {
                self.call("facts", facts.iter().map(|(name, value)| array([words(name), rich(value)])));
            }
            Block::Code { caption, text } => self.call("listing", [words(caption), listing(text)]),
            Block::List(items) => self.call("points", items.iter().map(rich)),
            Block::Note(NoteKind::Info, text) => self.call("note", [rich(text)]),
            Block::Note(NoteKind::Warning, text) => self.call("warning", [rich(text)]),
            Block::Fold { title, blocks, .. } => self.fold(title, blocks),
        }
    }

    /// Paper cannot be unfolded: what is inside stands open, a level deeper.
    fn fold(&mut self, title: &str, blocks: &[Block]) {
        self.heading(self.depth + 2, title);
        self.depth += 1;
        blocks.iter().for_each(|block| self.block(block));
        self.depth -= 1;
    }

    fn figure(&mut self, figure: &Figure) {
        let chart = self.chart(&figure.chart, &figure.caption);
        self.main.push_str(&mem::take(&mut self.headings));
        let _ = writeln!(self.main, "{chart}");
        if figure.bulky {
            self.call("left-out", [figure.table.rows.len().to_string()]);
        } else {
            table(&figure.table, &mut self.headings, &mut self.main);
        }
    }

    /// Keeps the picture of a chart; returns the call that shows it.
    fn chart(&mut self, chart: &Chart, caption: &Text) -> String {
        let name = format!("figure-{}.svg", self.pictures.len() + 1);
        self.pictures.push(TypstFile { name: name.clone(), text: picture(chart) });
        let alternative = words(&format!("{}. {}", chart.title, chart.description));
        format!("chart(\"{name}\", {alternative}, {}, {})", words(&chart.title), rich(caption))
    }

    fn heading(&mut self, level: usize, title: &str) {
        let _ = writeln!(self.headings, "heading(level: {level}, {})", words(title));
    }

    fn call(&mut self, function: &str, arguments: impl IntoIterator<Item = String>) {
        let arguments: Vec<String> = arguments.into_iter().collect();
        self.main.push_str(&mem::take(&mut self.headings));
        let _ = writeln!(self.main, "{function}({})", arguments.join(", "));
    }
}

fn hero(hero: &Hero) -> String {
    array([words(&hero.value), words(&hero.unit), rich(&hero.companion)])
}

fn tile(tile: &Tile) -> String {
    array([words(&tile.name), words(&tile.value), words(&tile.note)])
}

#[cfg(test)]
mod tests {
    use analysis::VerdictState;
    use proptest::prelude::*;

    use super::super::words::tests::read_literals;
    use super::super::{TypstSource, typst};
    use crate::charts::{Axis, Chart, DataSeries, Draw, Format, Panel, Point, Spacing};
    use crate::{
        Banner, Block, Column, Document, Figure, Hero, LeadFigure, NoteKind, Row, Section, Table, Text, Tile,
    };

    /// A document with a block of every kind that says the same everywhere.
    fn document(says: &str) -> Document {
        let text = || Text::from(says).strong(says).code(says);
        let columns = || vec![Column::words(says), Column::numbers(says, "ms")];
        let table = || Table::new(says, columns(), vec![Row::plain([says, says])]).note(text());
        let figure = |bulky| Figure { chart: chart(says), caption: text(), table: table(), bulky };
        let blocks = vec![
            Block::Paragraph(text()),
            Block::Heading(says.to_owned()),
            Block::Tiles(vec![Tile { name: says.into(), value: says.into(), note: says.into() }]),
            Block::Table(table()),
            Block::Figure(Box::new(figure(false))),
            Block::Figure(Box::new(figure(true))),
            Block::Facts(vec![(says.to_owned(), text())]),
            Block::Code { caption: says.into(), text: says.into() },
            Block::List(vec![text()]),
            Block::Note(NoteKind::Info, text()),
            Block::Note(NoteKind::Warning, text()),
            Block::bulky_fold(says, vec![Block::Heading(says.into()), Block::Table(table())]),
        ];
        Document {
            title: says.into(),
            subtitle: says.into(),
            banner: Banner {
                state: VerdictState::Invalid,
                text: text(),
                reasons: vec![text()],
                modified: vec![text()],
            },
            brief: vec![(says.to_owned(), text())],
            n_open: 1,
            hero: Some(Hero { value: says.into(), unit: says.into(), companion: text() }),
            answer: text(),
            lead: Some(LeadFigure { chart: chart(says), caption: text() }),
            sections: vec![Section { id: "test", title: says.into(), blocks }],
            colophon: text(),
        }
    }

    fn chart(says: &str) -> Chart {
        let axis = || Axis::new(says, Spacing::FromZero, Format::Plain);
        let series = DataSeries {
            name: says.into(),
            style: 0,
            draw: Draw::Points,
            points: vec![Point::new(1.0, 1.0), Point::new(2.0, 2.0)],
        };
        Chart {
            id: "test",
            title: says.into(),
            description: says.into(),
            x: axis(),
            panels: vec![Panel { y: axis(), series: vec![series], limit: None }],
            zones: vec![],
            marks: vec![],
        }
    }

    fn markup(says: &str) -> (Vec<String>, String) {
        read_literals(&typst(&document(says)).main).expect("markup whose literals have ends")
    }

    #[test]
    fn every_kind_of_block_is_a_call_of_the_layout() {
        let (_, markup) = markup("x");
        let layout = include_str!("layout.typ");
        let called: Vec<&str> =
            markup.lines().filter_map(|line| line.split_once('(')).map(|(name, _)| name.trim()).collect();
        let names = "prose tiles data-table chart left-out facts listing points note warning";
        for name in names.split(' ') {
            assert!(called.contains(&name), "no call of {name} in {called:?}");
            assert!(layout.contains(&format!("#let {name}(")), "the layout has no {name}");
        }
    }

    #[test]
    fn a_fold_stands_open_and_one_level_deeper() {
        let TypstSource { main, .. } = typst(&document("x"));
        let levels: Vec<&str> = main.lines().filter(|line| line.starts_with("heading(")).collect();
        let [one, two, three] = [1, 2, 3].map(|level| format!("heading(level: {level}, \"x\")"));
        assert_eq!(levels, [&one, &two, &two, &three]);
    }

    #[test]
    fn a_bulky_table_is_left_out_and_every_picture_is_there() {
        let TypstSource { main, files } = typst(&document("x"));
        assert_eq!(main.matches("data-table(").count(), 3, "one alone, one of a figure, one in a fold");
        assert!(main.contains("left-out(1)\n"));
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["figure-1.svg", "figure-2.svg", "figure-3.svg", "layout.typ"]);
        assert!(names[..3].iter().all(|name| main.contains(&format!("chart(\"{name}\", "))));
    }

    #[test]
    fn brackets_are_closed_in_the_order_in_which_they_were_opened() {
        let (_, markup) = markup("([{");
        let mut open = Vec::new();
        for c in markup.chars() {
            match c {
                '(' | '[' | '{' => open.push(c),
                ')' => assert_eq!(open.pop(), Some('(')),
                ']' => assert_eq!(open.pop(), Some('[')),
                '}' => assert_eq!(open.pop(), Some('{')),
                _ => {}
            }
        }
        assert!(open.is_empty());
    }

    #[test]
    fn a_document_without_a_headline_says_so() {
        let document = Document { hero: None, answer: Text::default(), lead: None, ..document("x") };
        let main = typst(&document).main;
        assert!(main.contains("  hero: none,\n  answer: none,\n  lead: none,\n"), "{main}");
    }

    proptest! {
        /// Method: markup with its literals emptied must be the same, whatever the document says.
        #[test]
        fn no_word_of_the_document_becomes_markup(says in "[\u{1}-\u{ff}\u{2028}\u{202e}#$*_`@<>\\\\\"/]{1,12}") {
            let (said, with_words) = markup(&says);
            let (_, without) = markup("x");
            prop_assert_eq!(with_words, without);
            prop_assert!(said.iter().all(|literal| !literal.chars().any(|c| c.is_control() && c != '\n' && c != '\t')));
        }
    }
}
