//! HTTP of the admin page: one request per connection, with limits on everything.

use http1::{
    BodyReader, Framing, HeadError, Http1Version, Parsed, RequestHead, RequestMethod, ResponseHead, header,
    parse_request, write_response_head,
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// The most bytes of a request's head.
const HEAD_BYTES_MAX: usize = 16 << 10;

/// The most bytes of a body: ten thousand URLs of a hundred bytes.
const BODY_BYTES_MAX: usize = 1 << 20;

/// A request to the admin page.
#[derive(Debug)]
pub(super) struct AdminRequest {
    pub(super) method: RequestMethod,
    /// The path, without the query.
    pub(super) path: String,
    /// The requested host, with its port if given; `None` if an HTTP/1.0 client sent none.
    pub(super) host: Option<String>,
    /// The value of `Authorization`.
    pub(super) authorization: Option<Vec<u8>>,
    /// The value of `Origin`: the site whose page made the request, if one did.
    pub(super) origin: Option<String>,
    /// The values of `Sec-Fetch-Site` and `Sec-Fetch-Mode`: the relation of the requesting site, and the mode of the
    /// request.
    pub(super) fetch: (Option<String>, Option<String>),
    pub(super) body: Vec<u8>,
}

/// A response of the admin page.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AdminResponse {
    pub(super) status: u16,
    pub(super) content_type: &'static str,
    pub(super) body: String,
    /// The allowed methods, for a 405.
    pub(super) allow: Option<&'static str>,
}

impl AdminResponse {
    /// Makes a 200 with this body.
    pub(super) fn text(content_type: &'static str, body: String) -> AdminResponse {
        AdminResponse { status: 200, content_type, body, allow: None }
    }

    /// Makes a response with a JSON body.
    pub(super) fn json(status: u16, value: &serde_json::Value) -> AdminResponse {
        AdminResponse { status, ..AdminResponse::text("application/json", format!("{value:#}\n")) }
    }

    /// Makes an error response; a hint may follow the message on a line of its own.
    pub(super) fn refused(status: u16, why: &str) -> AdminResponse {
        let (error, hint) =
            why.split_once("\nhint: ").map_or((why, None), |(error, hint)| (error, Some(hint)));
        let mut value = serde_json::json!({ "error": error });
        if let Some(hint) = hint {
            value["hint"] = hint.into();
        }
        AdminResponse::json(status, &value)
    }

    /// Returns the bytes to send; without the body for HEAD.
    fn bytes(&self, method: RequestMethod) -> Vec<u8> {
        let framing = Framing::Length(self.body.len() as u64);
        let head =
            ResponseHead { status: self.status, version: Http1Version::Http11, framing, keep_alive: false };
        let mut fields: Vec<(&str, &[u8])> = vec![
            ("Content-Type", self.content_type.as_bytes()),
            ("Cache-Control", b"no-store"),
            ("X-Content-Type-Options", b"nosniff"),
            (
                "Content-Security-Policy",
                b"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
            ),
        ];
        if self.status == 401 {
            fields.push(("WWW-Authenticate", b"Bearer"));
        }
        if let Some(methods) = self.allow {
            fields.push(("Allow", methods.as_bytes()));
        }
        let mut out = Vec::new();
        write_response_head(&mut out, &head, &fields).expect("a head of our own");
        if method != RequestMethod::Head {
            out.extend_from_slice(self.body.as_bytes());
        }
        out
    }
}

/// Reads a request.
///
/// # Errors
/// The response to send instead; `None` if the client has gone.
pub(super) async fn read<S>(stream: &mut S) -> Result<AdminRequest, Option<AdminResponse>>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut came = Vec::new();
    let (head, length) = loop {
        match parse_request(&came) {
            Ok(Parsed::Complete { head, length }) => break (head, length),
            Err(HeadError::Oversized(_)) => {
                return Err(Some(AdminResponse::refused(431, "the head is too long")));
            }
            Err(why) => return Err(Some(AdminResponse::refused(400, &why.to_string()))),
            Ok(Parsed::Partial) if HEAD_BYTES_MAX <= came.len() => {
                return Err(Some(AdminResponse::refused(431, "the head is too long")));
            }
            Ok(Parsed::Partial) => more(stream, &mut came).await?,
        }
    };
    let came_of_body = came.split_off(length);
    if header(&came, "expect").is_some_and(|value| value.eq_ignore_ascii_case(b"100-continue")) {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await.map_err(|_| None)?;
    }
    let body = read_body(stream, head.framing, came_of_body).await?;
    Ok(admin_request(&came, &head, body))
}

fn admin_request(came: &[u8], head: &RequestHead, body: Vec<u8>) -> AdminRequest {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let target = String::from_utf8_lossy(came.get(head.target.clone()).unwrap_or_default());
    let line = |name| header(came, name).map(text);
    AdminRequest {
        method: head.method,
        path: target.split('?').next().unwrap_or_default().to_owned(),
        host: head.host.clone().and_then(|host| came.get(host)).map(text),
        origin: line("origin"),
        fetch: (line("sec-fetch-site"), line("sec-fetch-mode")),
        authorization: header(came, "authorization").map(<[u8]>::to_vec),
        body,
    }
}

async fn read_body<S>(
    stream: &mut S,
    framing: Framing,
    mut came: Vec<u8>,
) -> Result<Vec<u8>, Option<AdminResponse>>
where
    S: AsyncRead + Unpin,
{
    let mut reader = BodyReader::new(framing);
    let mut body = Vec::new();
    while !reader.is_done() {
        if came.is_empty() {
            more(stream, &mut came).await?;
        }
        let piece = reader.read(&came).map_err(|why| Some(AdminResponse::refused(400, &why.to_string())))?;
        body.extend_from_slice(came.get(piece.data).unwrap_or_default());
        if BODY_BYTES_MAX < body.len() {
            return Err(Some(AdminResponse::refused(413, "the body is longer than 1 MiB")));
        }
        came.drain(..piece.consumed);
    }
    Ok(body)
}

async fn more<S: AsyncRead + Unpin>(stream: &mut S, came: &mut Vec<u8>) -> Result<(), Option<AdminResponse>> {
    match stream.read_buf(came).await {
        Ok(0) | Err(_) => Err(None),
        Ok(_) => Ok(()),
    }
}

/// Sends a response; nothing follows it.
pub(super) async fn send<S>(
    stream: &mut S,
    response: &AdminResponse,
    method: RequestMethod,
) -> std::io::Result<()>
where
    S: AsyncWrite + Unpin,
{
    stream.write_all(&response.bytes(method)).await?;
    stream.shutdown().await
}
