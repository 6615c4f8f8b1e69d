//! Arithmetic on figures, in claims and definitions: `sum(disks.size * disks.number) <= 36.16 GB`.
//!
//! Texts are in quotes. Names may contain `-`, so a minus sign needs spaces around it. A name without a dot is a
//! figure of the same row.

use super::cursor::Cursor;
use super::number::PrintedNumber;

/// An expression computed from figures.
#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    /// A literal number; exact, unless it has the prefix `~`.
    Number(PrintedNumber),
    /// A literal text.
    Text(String),
    /// A figure, or a column of figures.
    Figure(Reference),
    /// A function of lists or numbers.
    Call(Function, Vec<Expression>),
    /// An operator on two sides, applied cell by cell to lists.
    Binary(Operator, Box<Expression>, Box<Expression>),
}

/// A reference to a figure or a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The record or table; the one that contains the expression, if absent.
    pub table: Option<String>,
    /// The key of the row; all rows, if absent.
    pub key: Option<Vec<String>>,
    /// The figure or column.
    pub column: String,
}

/// An operator on two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// +
    Plus,
    /// −
    Minus,
    /// ·
    Times,
    /// ÷
    Over,
}

/// A function of one list, or of several numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    /// The sum.
    Sum,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// The mean.
    Mean,
    /// Number of cells; absent ones do not count.
    Count,
    /// The first.
    First,
    /// The last.
    Last,
    /// The square root of a number.
    Sqrt,
    /// The ceiling of a number.
    Ceil,
    /// The floor of a number.
    Floor,
}

/// A comparison between two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparator {
    /// =
    Equal,
    /// <
    Below,
    /// ≤
    AtMost,
    /// >
    Above,
    /// ≥
    AtLeast,
    /// A number or text that a text contains.
    In,
}

/// Two expressions that are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// The statement as written.
    pub text: String,
    /// The left side.
    pub left: Expression,
    /// The comparison.
    pub comparator: Comparator,
    /// The right side.
    pub right: Expression,
}

/// A reason why a text is not an expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExpressionError {
    /// The message: what was expected and found.
    pub message: String,
    /// The position of the mistake, in bytes from the start of the text.
    pub at: usize,
}

pub(super) const FUNCTIONS: [(&str, Function); 10] = [
    ("sum", Function::Sum),
    ("min", Function::Min),
    ("max", Function::Max),
    ("mean", Function::Mean),
    ("count", Function::Count),
    ("first", Function::First),
    ("last", Function::Last),
    ("sqrt", Function::Sqrt),
    ("ceil", Function::Ceil),
    ("floor", Function::Floor),
];

/// The signs of comparisons, longer ones first, so that `<=` is not read as `<`.
pub(super) const COMPARATORS: [(&str, Comparator); 6] = [
    ("<=", Comparator::AtMost),
    (">=", Comparator::AtLeast),
    ("=", Comparator::Equal),
    ("<", Comparator::Below),
    (">", Comparator::Above),
    ("in ", Comparator::In),
];

impl Function {
    /// Returns the name in expressions.
    pub fn name(self) -> &'static str {
        FUNCTIONS.iter().find(|(_, function)| *function == self).map_or("", |(name, _)| name)
    }
}

impl Comparator {
    /// Returns the symbol.
    pub fn sign(self) -> &'static str {
        match self {
            Comparator::Equal => "=",
            Comparator::Below => "<",
            Comparator::AtMost => "≤",
            Comparator::Above => ">",
            Comparator::AtLeast => "≥",
            Comparator::In => "in",
        }
    }
}

impl Operator {
    /// Returns the symbol.
    pub fn sign(self) -> &'static str {
        match self {
            Operator::Plus => "+",
            Operator::Minus => "−",
            Operator::Times => "·",
            Operator::Over => "÷",
        }
    }
}

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    ///
    /// The first syntax error.
    pub fn parse(text: &str) -> Result<Expression, ExpressionError> {
        let mut cursor = Cursor::new(text);
        let expression = cursor.sum()?;
        cursor.expect_end("an operator")?;
        Ok(expression)
    }

    /// Calls `visit` with every figure that it refers to.
    pub(crate) fn references<'a>(&'a self, visit: &mut impl FnMut(&'a Reference)) {
        match self {
            Expression::Number(_) | Expression::Text(_) => {}
            Expression::Figure(reference) => visit(reference),
            Expression::Call(_, arguments) => arguments.iter().for_each(|one| one.references(visit)),
            Expression::Binary(_, left, right) => {
                left.references(visit);
                right.references(visit);
            }
        }
    }
}

impl Statement {
    /// Reads two expressions with a comparator between them.
    ///
    /// # Errors
    ///
    /// The first syntax error.
    pub fn parse(text: &str) -> Result<Statement, ExpressionError> {
        let mut cursor = Cursor::new(text);
        let left = cursor.sum()?;
        let comparator = cursor.comparator()?;
        let right = cursor.sum()?;
        cursor.expect_end("an operator")?;
        Ok(Statement { text: text.trim().to_owned(), left, comparator, right })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Writes an expression with all its brackets.
    fn written(expression: &Expression) -> String {
        match expression {
            Expression::Number(number) => number.text.clone(),
            Expression::Text(text) => format!("'{text}'"),
            Expression::Figure(Reference { table, key, column }) => {
                let key = key.as_ref().map_or(String::new(), |key| format!("[{}]", key.join("|")));
                table.as_ref().map_or(column.clone(), |table| format!("{table}{key}.{column}"))
            }
            Expression::Call(function, arguments) => {
                let arguments: Vec<String> = arguments.iter().map(written).collect();
                format!("{}({})", function.name(), arguments.join(", "))
            }
            Expression::Binary(operator, left, right) => {
                format!("({} {} {})", written(left), operator.sign(), written(right))
            }
        }
    }

    fn read(text: &str) -> String {
        Expression::parse(text).map_or_else(|error| error.to_string(), |expression| written(&expression))
    }

    #[test]
    fn products_bind_tighter_than_sums_and_both_are_left_associative() {
        assert_eq!(read("1 + 2 * 3 - 4 / 2 / 2"), "((1 + (2 · 3)) − ((4 ÷ 2) ÷ 2))");
        assert_eq!(read("(1 + 2) * 3"), "((1 + 2) · 3)");
    }

    #[test]
    fn figures_are_named_with_table_and_row() {
        assert_eq!(read("net-disks.size-total"), "net-disks.size-total");
        assert_eq!(read("t[IBM PC Server 330, Mail].users - 1"), "(t[IBM PC Server 330|Mail].users − 1)");
        assert_eq!(read("max(a.b, 2) * sum(c.d * c.e)"), "(max(a.b, 2) · sum((c.d · c.e)))");
        assert_eq!(read("price / users"), "(price ÷ users)");
        assert_eq!(read("sum / 2"), "(sum ÷ 2)");
    }

    #[test]
    fn numbers_have_units_and_are_exact() {
        let Ok(Expression::Number(number)) = Expression::parse("10 Mbit/s") else { panic!("a number") };
        assert_eq!((number.value, number.half), (1.25e6, 0.0));
        let Ok(Expression::Number(number)) = Expression::parse("~1.5 T3") else { panic!("a number") };
        assert!((number.half - 0.05 * 44.736e6 / 8.0).abs() < 1e-6);
        assert_eq!(read("140 /s * 7 KiB"), "(140 /s · 7 KiB)");
        assert_eq!(read("95 % * a.b"), "(95 % · a.b)");
        assert_eq!(read("8 / s.t"), "(8 ÷ s.t)");
        assert_eq!(read("8 / 2"), "(8 ÷ 2)");
    }

    #[test]
    fn comparisons_are_read() {
        let comparison = Statement::parse("max(t.errors) = 0").unwrap();
        assert_eq!(comparison.comparator, Comparator::Equal);
        assert_eq!(Statement::parse("a.b >= 0.9 * a.c").unwrap().comparator, Comparator::AtLeast);
        let named = Statement::parse("a.b in 'PPC 604, 150'").unwrap();
        assert_eq!(
            (named.comparator, named.right),
            (Comparator::In, Expression::Text("PPC 604, 150".into()))
        );
        assert_eq!(Statement::parse("a.b = \"x'y\"").unwrap().right, Expression::Text("x'y".into()));
        assert_eq!(Statement::parse("a.b = 0x4470").unwrap().right, Expression::parse("0x4470").unwrap());
        let error = |text| Statement::parse(text).unwrap_err().to_string();
        assert_eq!(error("a.b"), "expected `=`, `<`, `<=`, `>`, `>=` or `in`, found the end");
        assert_eq!(error("a.b = 1 = 2"), "expected an operator or the end, found `=`");
    }

    #[test]
    fn syntax_errors_have_a_position() {
        let error =
            |text| Expression::parse(text).map(|_| String::new()).unwrap_or_else(|e| format!("{} {e}", e.at));
        assert_eq!(error("1 +"), "3 expected a number, a figure or a function, found the end");
        assert_eq!(error("(1"), "2 expected `)`, found the end");
        assert_eq!(error("a."), "2 expected a name, found the end");
        assert_eq!(error("a[1"), "2 expected `]`, found `1`");
        assert_eq!(error("1 2"), "0 expected a number, found `1`");
        let deep = format!("{}1{}", "(".repeat(40), ")".repeat(40));
        assert!(error(&deep).starts_with("32 expected fewer brackets"));
    }

    #[test]
    fn texts_end() {
        let error = |text| Statement::parse(text).unwrap_err().to_string();
        assert_eq!(error("a.b = 'x"), "expected `'`, found the end");
    }

    #[test]
    fn all_references_are_visited() {
        let expression = Expression::parse("sum(a.b * c) + d[1].e").unwrap();
        let mut names = Vec::new();
        expression.references(&mut |reference| names.push(reference.column.clone()));
        assert_eq!(names, ["b", "c", "e"]);
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text: String) {
            let _ = (Expression::parse(&text), Statement::parse(&text));
        }

        #[test]
        fn any_expression_like_text_is_answered(text in "[a-z0-9 .+*/()<>=,~%\\[\\]-]{0,40}") {
            let _ = (Expression::parse(&text), Statement::parse(&text));
        }
    }
}
