//! Requests made for one operation from templates and the user's values.

use languages::is_credential;
use model::{Request, SecretLocation};

use super::SessionContext;
use super::template::{Template, ValueEncoding};
use super::user::UserValues;
use crate::web::composed_request::RequestParts;
use crate::web::missing_value::MissingValue;

/// The templates of one kind of request.
#[derive(Debug)]
pub(super) struct Composer {
    /// The request with its secrets.
    sent: Request,
    path: Template,
    headers: Vec<(String, Template)>,
    /// Header fields that are secrets, sent as they are.
    secret_headers: Vec<(String, String)>,
    /// `None` where the body is a secret, sent as it is.
    body: Option<Template>,
}

impl Composer {
    /// Resolves the placeholders of a request; `sent` is the same request with its secrets.
    pub(super) fn new(request: &Request, sent: &Request, session: &SessionContext) -> Composer {
        let template = |text: &str, encoding| Template::new(text, encoding, sent, session);
        let has_secret_body = request.secrets.iter().any(|secret| secret.part == SecretLocation::Body);
        let headers = request.headers.iter();
        Composer {
            sent: sent.clone(),
            path: template(&sent.path.to_string(), ValueEncoding::Path),
            headers: headers
                .map(|(name, value)| (name.clone(), template(value, ValueEncoding::Header)))
                .collect(),
            secret_headers: sent.headers[request.headers.len()..].to_vec(),
            body: (!has_secret_body)
                .then(|| template(&request.body, ValueEncoding::Body(request.body_encoding))),
        }
    }

    /// Makes the parts of the request for an object.
    pub(super) fn compose(&self, number: u64, user: &UserValues) -> Result<RequestParts, MissingValue> {
        let write = |template: &Template| template.write(&self.sent, number, user);
        let mut headers = Vec::with_capacity(self.headers.len() + self.secret_headers.len() + 1);
        for (name, template) in &self.headers {
            headers.push((name.clone(), write(template)?));
        }
        headers.extend_from_slice(&self.secret_headers);
        Ok(RequestParts {
            method: self.sent.method.clone(),
            path: write(&self.path)?,
            headers,
            body: self.body.as_ref().map_or_else(|| Ok(self.sent.body.clone()), write)?,
        })
    }

    /// Returns the header fields of a request that another server may see: those without a value of the user, and
    /// without a credential.
    pub(super) fn public_headers(&self) -> Vec<(String, String)> {
        let literal =
            self.headers.iter().zip(&self.sent.headers).filter(|((_, template), _)| !template.varies());
        let public = literal.map(|(_, header)| header).filter(|(name, value)| !is_credential(name, value));
        public.cloned().collect()
    }
}
