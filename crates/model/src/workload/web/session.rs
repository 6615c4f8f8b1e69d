//! The sessions of users: whether cookies are kept, how redirects are treated, and which requests need a session.

use languages::names;
use serde::{Deserialize, Serialize};

use super::template::{TemplatePiece, template_pieces};
use super::{Request, WebWorkload};

/// The most redirects that are followed for one operation.
pub const REDIRECTS_MAX: u64 = 10;

names! {
    /// The lifetime of a user's cookies.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Cookies {
        /// No cookies are kept.
        #[default]
        None = "none",
        /// Cookies are kept until the end of the page: every page is visited by somebody new.
        Page = "page",
        /// Cookies are kept as long as the user is there.
        User = "user",
    }
}

names! {
    /// The treatment of redirects.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Redirects {
        /// A redirect is a reply like any other.
        #[default]
        Count = "count",
        /// A redirect is followed, as a part of the operation.
        Follow = "follow",
    }
}

names! {
    /// The encoding of values that are put into a body.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum BodyEncoding {
        /// As they are.
        #[default]
        Text = "text",
        /// As parts of JSON strings.
        Json = "json",
        /// As parts of a form (`application/x-www-form-urlencoded`).
        Form = "form",
    }
}

/// Returns whether a stored value is the one that an absent value stands for.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl WebWorkload {
    /// Returns whether users have sessions: something that they keep from one request to the next, or requests whose
    /// header and body differ from time to time. Without sessions the requests of a run are made beforehand.
    pub fn has_sessions(&self) -> bool {
        self.cookies != Cookies::None
            || !self.data.is_empty()
            || self.requests.iter().any(Request::needs_session)
    }

    /// Returns whether redirects are followed.
    pub fn follows_redirects(&self) -> bool {
        self.requests.iter().any(|request| request.redirects == Redirects::Follow)
    }

    /// Returns the names of the values that are extracted from replies, in the order of their numbers.
    pub fn extracted_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for extract in self.requests.iter().flat_map(|request| &request.extracts) {
            if !names.contains(&extract.name.as_str()) {
                names.push(&extract.name);
            }
        }
        names
    }
}

impl Request {
    /// Returns whether the request is made anew each time, or something of its reply is kept.
    pub(crate) fn needs_session(&self) -> bool {
        let has_values = |text: &str| {
            template_pieces(text).iter().any(|piece| match piece {
                TemplatePiece::Text(_) => false,
                TemplatePiece::Parameter { name, .. } => self.parameter_index(name).is_some(),
                TemplatePiece::Session(_) => true,
            })
        };
        self.redirects == Redirects::Follow
            || !self.extracts.is_empty()
            || self.path.has_session_values()
            || self.headers.iter().any(|(_, value)| has_values(value))
            || has_values(&self.body)
    }

    /// Returns the index of a parameter by its name.
    pub fn parameter_index(&self, name: &str) -> Option<usize> {
        self.parameters.iter().position(|parameter| parameter.name == name)
    }

    /// Returns whether a status is one of the right reply.
    #[inline]
    pub fn expects_status(&self, status: u16) -> bool {
        status == self.status || self.other_statuses.contains(&status)
    }
}
