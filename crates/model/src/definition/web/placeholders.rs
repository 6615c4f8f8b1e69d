//! Checks of placeholders: that each stands for something, and that a user has it by then.

use std::ops::Range;

use languages::reader::{TomlTable, ValueError};
use languages::{credential_spans, nearest};

use super::DataDefinition;
use crate::secrets::{has_own_credential, without_values};
use crate::workload::has_placeholders;
use crate::{EXTRACTED_MAX, Page, Request, SessionValue, TemplatePiece, template_pieces};

/// A text of a request that may have placeholders, with its place in the definition.
pub(super) struct RequestText<'a> {
    /// The keys of the request's table that lead to it.
    path: Vec<&'a str>,
    text: &'a str,
}

impl<'a> RequestText<'a> {
    /// The value of a header field.
    pub(super) fn header(name: &'a str, text: &'a str) -> RequestText<'a> {
        RequestText { path: vec!["headers", name], text }
    }

    /// The body.
    pub(super) fn body(text: &'a str) -> RequestText<'a> {
        RequestText { path: vec!["body"], text }
    }

    /// Returns the names of its parameters, some of them perhaps repeatedly.
    pub(super) fn parameters(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        template_pieces(self.text).into_iter().filter_map(|piece| match piece {
            TemplatePiece::Parameter { name, .. } => Some(name),
            _ => None,
        })
    }

    fn session_values(&self) -> impl Iterator<Item = SessionValue<'a>> + use<'a> {
        template_pieces(self.text).into_iter().filter_map(|piece| match piece {
            TemplatePiece::Session(value) => Some(value),
            _ => None,
        })
    }

    /// Reports a mistake in it.
    pub(super) fn reject(&self, table: &TomlTable, error: ValueError) {
        table.reject_inner(&self.path, error);
    }

    fn span(&self, table: &TomlTable) -> Range<usize> {
        table.span_of(self.path[0])
    }
}

/// Returns the texts of a request that may have placeholders; `path` is the text of its path.
fn texts<'a>(request: &'a Request, path: &'a str) -> Vec<RequestText<'a>> {
    let headers = request.headers.iter().map(|(name, value)| RequestText::header(name, value));
    let path = RequestText { path: vec!["path"], text: path };
    [path].into_iter().chain(headers).chain([RequestText::body(&request.body)]).collect()
}

/// Checks that no literal credential is beside a placeholder: it would be stored with it.
pub(super) fn check_credentials(table: &TomlTable, request: &Request) {
    let error = || {
        let error = ValueError::new("something here looks like a credential, and would be stored");
        error.hint("take it from the environment: `parameters.NAME = { env = \"VARIABLE\" }`, and write `{NAME}` here")
    };
    let is_disclosed = |key: &str| request.disclosed.iter().any(|disclosed| disclosed == key);
    for (name, value) in request.headers.iter().filter(|(name, _)| !is_disclosed(name)) {
        if has_placeholders(value) && has_own_credential(name, value) {
            RequestText::header(name, value).reject(table, error());
        }
    }
    let has_credential = !credential_spans(&without_values(&request.body)).is_empty();
    if !is_disclosed("body") && has_placeholders(&request.body) && has_credential {
        RequestText::body(&request.body).reject(table, error());
    }
}

/// Checks that users have the values that requests need, and notes the columns of `data` that are used.
pub(super) fn check_session_values(
    tables: &[TomlTable],
    requests: &[Request],
    pages: &[Page],
    data: &mut [DataDefinition],
) {
    check_number(tables, requests);
    for (table, request) in tables.iter().zip(requests) {
        let path = request.path.to_string();
        for text in texts(request, &path) {
            for value in text.session_values() {
                match value {
                    SessionValue::Column { data: name, column } => {
                        check_column(table, &text, (name, column), data)
                    }
                    SessionValue::Extracted(name) => check_extracted(table, &text, name, requests),
                }
            }
        }
    }
    if tables.first().is_some_and(|table| !table.has_mistake()) {
        pages.iter().for_each(|page| check_order(tables, requests, page));
    }
}

fn check_column(table: &TomlTable, text: &RequestText, of: (&str, &str), data: &mut [DataDefinition]) {
    let (name, column) = of;
    let span = text.span(table);
    let names: Vec<String> = data.iter().map(|data| data.name.clone()).collect();
    match data.iter_mut().find(|data| data.name == name) {
        Some(data) => data.columns.push((column.to_owned(), span)),
        None => {
            let error = ValueError::new(format!("`{{{name}.{column}}}`: there are no data `{name}`"));
            let hint = match nearest(name, names.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("add `[workload.data.{name}]` with `file = \"{name}.csv\"`"),
            };
            text.reject(table, error.hint(hint));
        }
    }
}

fn check_extracted(table: &TomlTable, text: &RequestText, name: &str, requests: &[Request]) {
    let names = || requests.iter().flat_map(|request| &request.extracts).map(|extract| extract.name.as_str());
    if names().any(|known| known == name) {
        return;
    }
    let error = ValueError::new(format!("`{{extract.{name}}}`: no reply gives `{name}`"));
    let hint = match nearest(name, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("add `extract.{name} = {{ json = \"/{name}\" }}` to the request whose reply has it"),
    };
    text.reject(table, error.hint(hint));
}

fn check_number(tables: &[TomlTable], requests: &[Request]) {
    let mut names: Vec<&str> = Vec::new();
    for (table, request) in tables.iter().zip(requests) {
        for extract in &request.extracts {
            if !names.contains(&extract.name.as_str()) {
                names.push(&extract.name);
            }
            if names.len() == EXTRACTED_MAX + 1 && names.last() == Some(&extract.name.as_str()) {
                let error = ValueError::new(format!("more than {EXTRACTED_MAX} values are extracted"));
                table.reject_inner(
                    &["extract", &extract.name],
                    error.hint("a name may be used in several requests"),
                );
            }
        }
    }
}

/// Checks that each value was extracted by an earlier request of the page, or is kept from an earlier page.
fn check_order(tables: &[TomlTable], requests: &[Request], page: &Page) {
    let kept = |name: &str| {
        requests
            .iter()
            .flat_map(|request| &request.extracts)
            .any(|extract| extract.keep && extract.name == name)
    };
    let mut known: Vec<&str> = Vec::new();
    for index in &page.requests {
        let table = &tables[*index as usize];
        let request = &requests[*index as usize];
        let path = request.path.to_string();
        for text in texts(request, &path) {
            for value in text.session_values() {
                if let SessionValue::Extracted(name) = value
                    && !known.contains(&name)
                    && !kept(name)
                {
                    let error =
                        ValueError::new(format!("no earlier request of the page gives `{{extract.{name}}}`"));
                    let hint = "name the request whose reply has it earlier in `[[workload.pages]]`, or add `keep = true` there";
                    text.reject(table, error.hint(hint));
                }
            }
        }
        known.extend(request.extracts.iter().map(|extract| extract.name.as_str()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::parse::{EVERY_SESSION_KEY, problem_of};
    use crate::{
        BodyEncoding, Cookies, Definition, ExtractSource, Redirects, ReplyBody, RowPick, WorkloadSource,
    };

    #[test]
    fn every_key_of_a_session_is_read() {
        let web = Definition::parse("my.toml", EVERY_SESSION_KEY).unwrap().workload.web().unwrap().clone();
        assert_eq!(web.cookies, Cookies::User);
        assert_eq!((web.data[0].name.as_str(), web.data[0].pick), ("users", RowPick::Unique));
        let columns: Vec<&str> = web.data[0].columns.iter().map(|(column, _)| column.as_str()).collect();
        assert_eq!(columns, ["name", "password", "name", "name", "name"]);
        assert_eq!(web.secrets, [], "placeholders are no credentials");
        let WorkloadSource::Requests(requests, pages) = &web.source else { panic!("requests") };
        let [form, login, buy, upload] = &requests[..] else { panic!("four requests") };
        assert_eq!(form.reply, ReplyBody::Length { least: 10, most: 10_000 });
        assert_eq!(login.body, "csrf={extract.csrf}&name={users.name}&password={users.password}");
        assert_eq!(
            (login.status, &login.other_statuses[..], login.redirects),
            (200, &[204][..], Redirects::Follow)
        );
        assert_eq!((login.body_encoding, buy.body_encoding), (BodyEncoding::Form, BodyEncoding::Json));
        assert_eq!(login.extracts[0].from, ExtractSource::Header("X-Token".into()));
        assert!(login.extracts[0].keep && !form.extracts[0].keep);
        let media_type = |request: &Request| {
            request.headers.iter().find(|(name, _)| name == "Content-Type").map(|(_, value)| value.clone())
        };
        assert_eq!(media_type(buy).as_deref(), Some("application/json"));
        let boundary = media_type(upload).unwrap().split_once("boundary=").unwrap().1.to_owned();
        assert!(upload.body.ends_with(&format!("\r\n--{boundary}--\r\n")), "{}", upload.body);
        let workload = web.workload(requests.clone(), pages.clone());
        assert_eq!(
            (workload.extracted_names(), workload.has_sessions()),
            (vec!["csrf", "token", "id"], true)
        );
        let stored = serde_json::to_string(&workload).unwrap();
        assert_eq!(serde_json::from_str::<crate::WebWorkload>(&stored).unwrap(), workload);
    }

    #[test]
    fn mistakes_in_sessions_have_a_position() {
        let found = [
            ("cookies = \"user\"", "cookies = \"jar\""),
            ("pick = \"unique\"", "pick = \"uniqe\""),
            ("format = \"csv\"", ""),
            ("[workload.data.users]", "[workload.data.extract]"),
            ("{users.password}", "{user.password}"),
            ("{users.password}", "s3cret"),
            ("Bearer {extract.token}", "Bearer abcdefgh {extract.token}"),
            ("csrf = \"{extract.csrf}\"", "csrf = \"{extract.crsf}\""),
            ("\"login\", \"buy\", \"upload\"]", "\"login\", \"upload\", \"buy\"]"),
            ("shop {shop}", "shop {shp}"),
            ("'{\"item\": {item}", "'{\"item\": {itm}"),
            ("'{\"item\": {item},", "'{\"item\" {item},"),
            ("count = 100 }", "count = 100 }\nparameters.other = { count = 1 }"),
            ("([0-9a-f]+)", "([0-9a-f+)"),
            ("([0-9a-f]+)", "(?=a)"),
            ("json = \"/id\"", "json = \"id\""),
            ("json = \"/id\"", "json = \"/id\", header = \"X\""),
            ("header = \"X-Token\"", "header = \"Set-Cookie\""),
            ("redirects = \"follow\"", "redirects = \"folow\""),
            ("status = [200, 204]", "status = [200, 100]"),
            ("\"/ok\" = true", "\"ok\" = true"),
            ("\"/ok\" = true", "\"/ok\" = [1]"),
            ("{ any = true }", "{ any = false }"),
            ("length-max = 10_000", "length-max = 1"),
            ("length-max = 10_000", "contains = \"x\""),
            ("csrf = \"{extract.csrf}\" } }", "csrf = \"{extract.csrf}\" }, value = \"x\" }"),
        ];
        let found = found.map(|(piece, slip)| problem_of(EVERY_SESSION_KEY, piece, slip)).join("\n");
        insta::assert_snapshot!(found, @r#"
        line 11, `"jar"`: `workload.cookies` is not valid: expected `none` or `page` or `user`, found `jar`
        line 16, `"uniqe"`: `workload.data.users.pick` is not valid: expected `sequential` or `random` or `unique`, found `uniqe`
        line 14, `"users.txt"`: `workload.data.users.file` is not valid: the file name does not reveal its format
        line 13, `extract`: `workload.data.extract` is not valid: `extract` cannot be the name of data
        line 32, `{ form = { name = "{users.name}", password = "{user.password}", csrf = "{extract.csrf}" } }`: `workload.requests.body` is not valid: `{user.password}`: there are no data `user`
        line 32, `{ form = { name = "{users.name}", password = "s3cret", csrf = "{extract.csrf}" } }`: `workload.requests.body` is not valid: something here looks like a credential, and would be stored
        line 42, `"Bearer abcdefgh {extract.token}"`: `workload.requests.headers.Authorization` is not valid: something here looks like a credential, and would be stored
        line 32, `{ form = { name = "{users.name}", password = "{users.password}", csrf = "{extract.crsf}" } }`: `workload.requests.body` is not valid: `{extract.crsf}`: no reply gives `crsf`
        line 51, `"/upload/{extract.id}"`: `workload.requests.path` is not valid: no earlier request of the page gives `{extract.id}`
        line 30, `"shop {shp}"`: `workload.requests.headers.X-Shop` is not valid: `{shp}` has no values
        line 43, `item`: `workload.requests.parameters.item` is not valid: nothing has `{item}`
        line 43, `item`: `workload.requests.parameters.item` is not valid: nothing has `{item}`
        line 44, `other`: `workload.requests.parameters.other` is not valid: nothing has `{other}`
        line 24, `'name="csrf" value="([0-9a-f+)"'`: `workload.requests.extract.csrf.regex` is not valid: not a regular expression: unclosed character class
        line 24, `'name="csrf" value="(?=a)"'`: `workload.requests.extract.csrf.regex` is not valid: not a regular expression: look-around, including look-ahead and look-behind, is not supported
        line 46, `"id"`: `workload.requests.extract.id.json` is not valid: expected a JSON pointer
        line 46, `id`: `workload.requests.extract.id` is not valid: expected one of `json`, `header` and `regex`
        line 36, `"Set-Cookie"`: `workload.requests.extract.token.header` is not valid: cookies are not extracted
        line 34, `"folow"`: `workload.requests.redirects` is not valid: expected `count` or `follow`, found `folow`
        line 33, `[200, 100]`: `workload.requests.status` is not valid: expected a whole number from 200 to 599, found 100
        line 45, `true`: `workload.requests.reply.json.ok` is not valid: expected a JSON pointer
        line 45, `[1]`: `workload.requests.reply.json./ok` is not valid: expected a string, a number or a truth value, found an array
        line 45, `{ any = false }`: `workload.requests.reply.json./id` is not valid: expected `{ any = true }`
        line 23, `1`: `workload.requests.reply.length-max` is not valid: the greatest length is below the least
        line 23, `10`: `workload.requests.reply.length-min` is not valid: expected one of `file`, `letters`, `html-letters`, `contains`, `content-type`, `json` and `length-min` with `length-max`
        line 32, `"x"`: `workload.requests.body.value` is not valid: `form` is the whole body
        "#);
    }
}
