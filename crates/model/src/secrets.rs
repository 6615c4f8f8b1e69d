//! The values of secrets, which cannot be written down: whoever makes requests puts them into their places with
//! [`Secrets::fill`].

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use languages::{REDACTED, credential_spans, is_auth_scheme, is_credential, is_credential_name};

use crate::workload::has_placeholders;
use crate::{
    DataTable, PathPattern, Request, Secret, SecretLocation, SecretSource, TemplatePiece, template_pieces,
};

/// The shortest value that is redacted in texts; shorter ones occur there by chance.
const TELLING_BYTES_MIN: usize = 4;

/// The values of a workload's secrets, and those of its data. They are shown nowhere, not even by `Debug`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets {
    /// The values by the request's index and the key of the part.
    values: BTreeMap<(usize, String), String>,
    /// The values of the workload's data, in its order.
    data: Vec<Arc<DataTable>>,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.values.len())
    }
}

/// A secret has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` of request `{request}` has no value: it comes from {origin}, which is not available")]
pub struct MissingSecret {
    /// The name of the request.
    pub request: String,
    /// The key of the part.
    pub key: String,
    /// The source that has no value.
    pub origin: String,
}

impl Secrets {
    /// Adds the value of a part of the request at `kind`.
    pub fn insert(&mut self, kind: usize, part: &SecretLocation, value: String) {
        self.values.insert((kind, part.key()), value);
    }

    /// Returns the values of parts by the request's index and the key of the part, for the encrypted link to a load agent.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (usize, &str, &str)> {
        self.values.iter().map(|((kind, key), value)| (*kind, key.as_str(), value.as_str()))
    }

    /// Adds the value of a part by its key, as a load agent receives it.
    pub fn insert_entry(&mut self, kind: usize, key: String, value: String) {
        self.values.insert((kind, key), value);
    }

    /// Sets the values of the workload's data, in its order.
    pub fn set_data(&mut self, data: Vec<Arc<DataTable>>) {
        self.data = data;
    }

    /// Returns the values of the workload's data, in its order.
    pub fn data(&self) -> &[Arc<DataTable>] {
        &self.data
    }

    /// Returns a text without the values of these secrets, for texts of a peer that may repeat what it received.
    pub fn redact_from<'a>(&'a self, text: &str) -> String {
        // A peer may repeat only the second word of `Bearer abc`.
        let last_word = |value: &'_ str| value.rfind(' ').map_or(0, |at| at + 1);
        let whole_and_word = |value: &'a String| [value.as_str(), &value[last_word(value)..]];
        let mut values: Vec<&str> = self.values.values().flat_map(whole_and_word).collect();
        values.retain(|value| TELLING_BYTES_MIN <= value.len());
        // Longer values first: replacing a part of another value would leave the rest of that value.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        values.iter().fold(text.to_owned(), |text, value| text.replace(value, REDACTED))
    }

    /// Returns the request at `kind` with its secrets in their places, as it is to be sent.
    ///
    /// # Errors
    ///
    /// The first secret without a value.
    pub fn fill(&self, kind: usize, request: &Request) -> Result<Request, MissingSecret> {
        let mut filled = Request { secrets: Vec::new(), ..request.clone() };
        for secret in &request.secrets {
            let missing = || MissingSecret {
                request: request.name.clone(),
                key: secret.part.key(),
                origin: secret.source.to_string(),
            };
            let value = self.values.get(&(kind, secret.part.key())).ok_or_else(missing)?;
            let value = format!("{}{value}", secret.prefix);
            match &secret.part {
                SecretLocation::Header(name) => filled.headers.push((name.clone(), value)),
                SecretLocation::Body => filled.body = value,
                SecretLocation::Parameter(name) => {
                    let parameter = filled.parameters.iter_mut().find(|parameter| parameter.name == *name);
                    parameter.ok_or_else(missing)?.texts = vec![value];
                }
                SecretLocation::Path => filled.path = value.parse().map_err(|_| missing())?,
            }
        }
        Ok(filled)
    }
}

impl Request {
    /// Returns the reason why a value is not allowed in a part of this request, if any; never repeats the value.
    pub fn fault_of(&self, part: &SecretLocation, value: &str) -> Option<&'static str> {
        match part {
            // In headers and bodies a value is encoded for its place.
            SecretLocation::Parameter(name) if !self.path.names().contains(name) && !value.is_empty() => None,
            _ => part.fault(value),
        }
    }

    /// Takes out whatever looks like a credential and is not disclosed on purpose; returns what was taken, each with
    /// its value. The request then says of each that it came from the definition.
    pub fn take_credentials(&mut self) -> Vec<(Secret, String)> {
        let of = |part| Secret { part, prefix: String::new(), source: SecretSource::Definition };
        let mut taken = Vec::new();
        for (name, value) in std::mem::take(&mut self.headers) {
            let is_secret = if has_placeholders(&value) {
                has_own_credential(&name, &value)
            } else {
                is_credential(&name, &value)
            };
            if is_secret && !self.disclosed.contains(&name) {
                taken.push((of(SecretLocation::Header(name)), value));
            } else {
                self.headers.push((name, value));
            }
        }
        if !self.discloses("body") && !credential_spans(&without_values(&self.body)).is_empty() {
            taken.push((of(SecretLocation::Body), std::mem::take(&mut self.body)));
        }
        let path = self.path.to_string();
        if !self.discloses("path")
            && let Some(shown) = path_without_credentials(&path)
        {
            self.path = shown;
            taken.push((of(SecretLocation::Path), path));
        }
        self.secrets.extend(taken.iter().map(|(secret, _)| secret.clone()));
        taken
    }

    fn discloses(&self, key: &str) -> bool {
        self.disclosed.iter().any(|disclosed| disclosed == key)
    }
}

/// Returns a path without the credentials in its query; `None` if there are none. A parameter, as in `token={token}`,
/// is none.
fn path_without_credentials(path: &str) -> Option<PathPattern> {
    let query = path.find('?')?;
    let mut shown = path.to_owned();
    let spans = credential_spans(&path[query..]);
    for span in spans.iter().rev() {
        let span = query + span.start..query + span.end;
        if !shown[span.clone()].contains(['{', '}']) {
            shown.replace_range(span, REDACTED);
        }
    }
    if shown == path { None } else { shown.parse().ok() }
}

/// Returns whether a header value with placeholders has a credential besides them.
pub(crate) fn has_own_credential(name: &str, value: &str) -> bool {
    let shown = without_values(value);
    let is_word = |word: &str| !word.is_empty() && !word.ends_with('=') && !is_auth_scheme(word);
    let rest = shown.replace(REDACTED, "");
    !credential_spans(&shown).is_empty()
        || (is_credential_name(name) && rest.split([' ', ';', ',', '&']).any(is_word))
}

/// Returns a text with [`REDACTED`] for each placeholder.
pub(crate) fn without_values(text: &str) -> String {
    let shown = |piece: &TemplatePiece| match piece {
        TemplatePiece::Text(text) => (*text).to_owned(),
        _ => REDACTED.to_owned(),
    };
    template_pieces(text).iter().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Parameter;

    fn request() -> Request {
        Request {
            path: "/x?api_key=k1&id={id}&token={token}".parse().unwrap(),
            parameters: vec![
                Parameter::texts("id", vec!["a".into(), "b".into()]),
                Parameter::texts("token", vec![REDACTED.into()]),
            ],
            headers: vec![("Accept".into(), "*/*".into()), ("Authorization".into(), "Bearer h1".into())],
            body: "password=b1".into(),
            secrets: vec![Secret {
                part: SecretLocation::Parameter("token".into()),
                prefix: "v-".into(),
                source: SecretSource::Env("TOKEN".into()),
            }],
            ..Request::file("/", 0)
        }
    }

    #[test]
    fn removed_secrets_can_be_restored_and_are_not_stored() {
        let mut stored = request();
        let taken = stored.take_credentials();
        let json = serde_json::to_string(&stored).unwrap();
        for value in ["k1", "h1", "b1"] {
            assert!(!json.contains(value), "{value}: {json}");
        }
        assert_eq!(stored.path_of(1), "/x?api_key=[redacted]&id=b&token=[redacted]");
        let mut secrets = Secrets::default();
        for (secret, value) in &taken {
            secrets.insert(3, &secret.part, value.clone());
        }
        assert!(secrets.fill(3, &stored).unwrap_err().to_string().contains("`parameters.token`"));
        secrets.insert(3, &SecretLocation::Parameter("token".into()), "t1".into());
        let filled = secrets.fill(3, &stored).unwrap();
        assert_eq!(filled.path_of(1), "/x?api_key=k1&id=b&token=v-t1");
        assert_eq!((filled.headers, filled.body), (request().headers, request().body));
        assert_eq!(serde_json::from_str::<Request>(&json).unwrap(), stored);
        assert!(!format!("{secrets:?}").contains("h1"));
    }

    #[test]
    fn values_disclosed_on_purpose_stay() {
        let disclosed = ["Authorization", "body", "path"].map(str::to_owned).to_vec();
        let mut open = Request { disclosed, ..request() };
        assert_eq!(open.take_credentials(), []);
        assert_eq!(open.path_of(0), "/x?api_key=k1&id=a&token=[redacted]");
    }

    #[test]
    fn a_plan_without_secrets_is_stored_as_it_always_was() {
        let json = serde_json::to_string(&Request::file("/a", 1)).unwrap();
        assert!(!json.contains("secrets") && !json.contains("disclosed"), "{json}");
    }

    #[test]
    fn a_secret_that_a_peer_repeats_is_redacted() {
        let mut secrets = Secrets::default();
        secrets.insert(0, &SecretLocation::Body, "abcd".into());
        secrets.insert(1, &SecretLocation::Body, "abcdef".into());
        secrets.insert(2, &SecretLocation::Body, "a".into());
        secrets.insert(3, &SecretLocation::Body, "Bearer wxyz".into());
        assert_eq!(secrets.redact_from("a abcd, abcdef"), "a [redacted], [redacted]");
        assert_eq!(secrets.redact_from("Bearer wxyz wxyz"), "[redacted] [redacted]");
    }
}
