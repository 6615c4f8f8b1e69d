//! The session of one user: its page, its values, its cookies.

use std::rc::Rc;

use languages::REDACTED;
use model::{Cookies, EXTRACTED_MAX, UserPage};

use super::SessionContext;
use super::cookies::CookieJar;
use crate::web::missing_value::MissingValue;

/// The shortest value that is redacted in texts; shorter ones occur there by chance.
const TELLING_BYTES_MIN: usize = 4;

/// A user among those of a load point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionUser {
    /// Seed of the run.
    pub seed: u64,
    /// The number of the user, from 0.
    pub user: u32,
    /// Number of users; above zero.
    pub users: u32,
}

/// The session of one user.
pub(super) struct WebSession {
    pub(super) values: UserValues,
    pub(super) cookies: CookieJar,
}

/// The values that a user has.
pub(super) struct UserValues {
    context: Rc<SessionContext>,
    user: SessionUser,
    /// The number of the user's page, from 0; `None` before the first.
    page: Option<u64>,
    /// The values taken from replies, by their numbers.
    extracted: [Option<Box<str>>; EXTRACTED_MAX],
}

impl WebSession {
    pub(super) fn new(context: Rc<SessionContext>, user: SessionUser) -> WebSession {
        let values = UserValues { context, user, page: None, extracted: Default::default() };
        WebSession { values, cookies: CookieJar::default() }
    }

    /// Begins a page: values that are not kept are gone, and cookies where every page has somebody new.
    pub(super) fn begin_page(&mut self) {
        let values = &mut self.values;
        values.page = Some(values.page.map_or(0, |page| page + 1));
        let kept = values.context.kept();
        for (value, _) in values.extracted.iter_mut().zip(kept).filter(|(_, is_kept)| !**is_kept) {
            *value = None;
        }
        if values.context.cookies() == Cookies::Page {
            self.cookies.clear();
        }
    }

    /// Returns a text without the user's values, for texts of a peer that may repeat what it received.
    pub(super) fn redact(&self, text: String) -> String {
        let telling = |value: &&str| TELLING_BYTES_MIN <= value.len();
        let mut values: Vec<&str> = self.values.all().filter(telling).collect();
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        let text = values.iter().fold(text, |text, value| text.replace(value, REDACTED));
        self.cookies.redact(text, TELLING_BYTES_MIN)
    }
}

impl UserValues {
    /// Returns a column of the user's row in some data, by their numbers.
    pub(super) fn value(&self, data: usize, column: usize) -> Result<&str, MissingValue> {
        let row = self.row(data).ok_or(MissingValue::NoRow(data))?;
        Ok(self.context.table(data).value(row, column))
    }

    /// Returns a value taken from an earlier reply, by its number.
    pub(super) fn extracted(&self, number: usize) -> Result<&str, MissingValue> {
        self.extracted[number].as_deref().ok_or(MissingValue::NotYet(number))
    }

    /// Sets a value taken from a reply.
    pub(super) fn set(&mut self, number: usize, value: String) {
        self.extracted[number] = Some(value.into());
    }

    fn row(&self, data: usize) -> Option<u64> {
        let SessionUser { seed, user, users } = self.user;
        self.context.row(data, UserPage { seed, user, users, page: self.page.unwrap_or(0) })
    }

    fn all(&self) -> impl Iterator<Item = &str> {
        let rows = (0..self.context.n_data()).filter_map(|data| Some((data, self.row(data)?)));
        let of_rows = rows.flat_map(|(data, row)| {
            let table = self.context.table(data);
            (0..table.columns().len()).map(move |column| table.value(row, column))
        });
        self.extracted.iter().filter_map(Option::as_deref).chain(of_rows)
    }
}
