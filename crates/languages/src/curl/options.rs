//! The table of cURL's options, by what becomes of them: those of `curl --help all` of version 7.88, and later ones.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A reason why an option is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CurlReason {
    /// It is about what cURL prints or stores.
    Output,
    /// It is about redirects.
    Redirects,
    /// It repeats what has failed.
    Repetition,
    /// It limits times.
    Times,
    /// It is about the pace of transfers, or how many are made at once.
    Pace,
    /// It tunes connections.
    Connections,
    /// It is about versions and ciphers of TLS.
    Tls,
    /// It stores what servers say about themselves, or uses it: cookies, HSTS, other services.
    Memory,
    /// It connects through a proxy.
    Proxy,
    /// It reads options or data from files.
    Files,
    /// It needs an exchange of messages, or a signature for each request.
    Authentication,
    /// It speaks another protocol than HTTP up to version 2.
    Protocol,
    /// It changes how names are resolved, or where connections come from.
    Addresses,
    /// It is about keys and authorities in other forms than PEM.
    Certificates,
    /// It changes how a message is written.
    Message,
}

impl CurlReason {
    /// Returns whether a request would be another one without the option.
    pub fn is_refused(self) -> bool {
        match self {
            CurlReason::Output
            | CurlReason::Redirects
            | CurlReason::Repetition
            | CurlReason::Times
            | CurlReason::Pace
            | CurlReason::Connections
            | CurlReason::Tls
            | CurlReason::Memory => false,
            CurlReason::Proxy
            | CurlReason::Files
            | CurlReason::Authentication
            | CurlReason::Protocol
            | CurlReason::Addresses
            | CurlReason::Certificates
            | CurlReason::Message => true,
        }
    }
}

/// The effect of an option on a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    Agent,
    Authorities,
    Basic,
    Bearer,
    Certificate,
    CertificateType,
    Compressed,
    ConnectTo,
    Cookie,
    Data,
    DataEncoded,
    DataRaw,
    Form,
    FormText,
    Get,
    Head,
    Header,
    Http(&'static str),
    Insecure,
    Json,
    Key,
    Method,
    Next,
    NoGlob,
    PathAsIs,
    Query,
    Range,
    Referer,
    Resolve,
    UnixSocket,
    Url,
    User,
    LeftOut(CurlReason),
}

/// An option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CurlOption {
    pub effect: Effect,
    pub takes_value: bool,
}

/// Names of options, separated by blanks, each with its letter behind a slash.
type Names = &'static str;

/// Options that are taken: without and with a value.
const FLAGS: [(Names, Effect); 13] = [
    ("basic", Effect::Basic),
    ("compressed", Effect::Compressed),
    ("get/G", Effect::Get),
    ("globoff/g", Effect::NoGlob),
    ("head/I", Effect::Head),
    ("http1.0/0", Effect::Http("1.0")),
    ("http1.1", Effect::Http("1.1")),
    ("http2", Effect::Http("2")),
    ("http2-prior-knowledge", Effect::Http("2")),
    ("insecure/k", Effect::Insecure),
    ("next/:", Effect::Next),
    ("path-as-is", Effect::PathAsIs),
    ("disable/q", Effect::Basic),
];

const VALUES: [(Names, Effect); 25] = [
    ("cacert", Effect::Authorities),
    ("cert/E", Effect::Certificate),
    ("cert-type key-type", Effect::CertificateType),
    ("connect-to", Effect::ConnectTo),
    ("cookie/b", Effect::Cookie),
    ("data/d data-ascii data-binary", Effect::Data),
    ("data-raw", Effect::DataRaw),
    ("data-urlencode", Effect::DataEncoded),
    ("form/F", Effect::Form),
    ("form-string", Effect::FormText),
    ("header/H", Effect::Header),
    ("json", Effect::Json),
    ("key", Effect::Key),
    ("oauth2-bearer", Effect::Bearer),
    ("range/r", Effect::Range),
    ("referer/e", Effect::Referer),
    ("request/X", Effect::Method),
    ("resolve", Effect::Resolve),
    ("unix-socket", Effect::UnixSocket),
    ("url", Effect::Url),
    ("url-query", Effect::Query),
    ("user/u", Effect::User),
    ("user-agent/A", Effect::Agent),
    ("interface local-port", Effect::LeftOut(CurlReason::Addresses)),
    ("request-target", Effect::LeftOut(CurlReason::Message)),
];

/// Options that are not taken: the reason, those without a value, and those with one.
const LEFT_OUT: [(CurlReason, Names, Names); 15] = [
    (
        CurlReason::Output,
        "silent/s show-error/S verbose/v include/i show-headers remote-name/O remote-name-all remote-header-name/J \
         remote-time/R no-buffer/N progress-bar/# no-progress-meter create-dirs trace-time trace-ids styled-output \
         no-styled-output no-clobber remove-on-error skip-existing xattr fail/f fail-with-body fail-early \
         suppress-connect-headers out-null disallow-username-in-url use-ascii/B crlf metalink raw",
        "output/o output-dir write-out/w trace trace-ascii trace-config stderr dump-header/D libcurl create-file-mode \
         max-filesize",
    ),
    (
        CurlReason::Redirects,
        "location/L location-trusted follow post301 post302 post303",
        "max-redirs proto-redir",
    ),
    (CurlReason::Repetition, "retry-connrefused retry-all-errors", "retry retry-delay retry-max-time"),
    (
        CurlReason::Times,
        "",
        "max-time/m connect-timeout speed-time/y speed-limit/Y expect100-timeout happy-eyeballs-timeout-ms keepalive-time \
         keepalive-cnt",
    ),
    (CurlReason::Pace, "parallel/Z parallel-immediate", "limit-rate rate parallel-max parallel-max-host"),
    (
        CurlReason::Connections,
        "tcp-nodelay tcp-fastopen mptcp no-keepalive no-sessionid no-alpn no-npn ipv4/4 ipv6/6 \
         compressed-ssh",
        "noproxy ip-tos vlan-priority",
    ),
    (
        CurlReason::Tls,
        "tlsv1/1 tlsv1.0 tlsv1.1 tlsv1.2 tlsv1.3 sslv2/2 sslv3/3 ssl ssl-reqd ssl-allow-beast ssl-no-revoke ssl-revoke-best-effort \
         false-start tls-earlydata",
        "tls-max ciphers tls13-ciphers curves signature-algorithms ech",
    ),
    (CurlReason::Memory, "junk-session-cookies/j", "cookie-jar/c hsts alt-svc etag-save ssl-sessions"),
    (
        CurlReason::Proxy,
        "proxytunnel/p proxy-basic proxy-digest proxy-ntlm proxy-negotiate proxy-anyauth proxy-insecure proxy-http2 \
         proxy-ca-native proxy-ssl-allow-beast proxy-ssl-auto-client-cert proxy-tlsv1 haproxy-protocol socks5-basic socks5-gssapi \
         socks5-gssapi-nec",
        "proxy/x preproxy proxy-user/U proxy-header proxy1.0 proxy-cacert proxy-capath proxy-cert proxy-cert-type \
         proxy-ciphers proxy-crlfile proxy-key proxy-key-type proxy-pass proxy-pinnedpubkey proxy-service-name \
         proxy-tls13-ciphers proxy-tlsauthtype proxy-tlspassword proxy-tlsuser haproxy-clientip socks4 socks4a socks5 \
         socks5-hostname socks5-gssapi-service",
    ),
    (
        CurlReason::Files,
        "netrc/n netrc-optional",
        "config/K netrc-file variable upload-file/T etag-compare time-cond/z continue-at/C expand-data expand-url expand-header",
    ),
    (
        CurlReason::Authentication,
        "digest ntlm ntlm-wb negotiate anyauth",
        "aws-sigv4 delegation krb service-name sasl-authzid login-options tlsauthtype tlspassword tlsuser",
    ),
    (
        CurlReason::Protocol,
        "http0.9 http3 http3-only append/a list-only/l ftp-pasv ftp-create-dirs ftp-skip-pasv-ip ftp-pret ftp-ssl-ccc \
         ftp-ssl-control disable-eprt disable-epsv tftp-no-options sasl-ir mail-rcpt-allowfails",
        "quote/Q telnet-option/t ftp-port/P ftp-account ftp-alternative-to-user ftp-method ftp-ssl-ccc-mode mail-from \
         mail-rcpt mail-auth tftp-blksize proto proto-default pubkey hostpubmd5 hostpubsha256 upload-flags",
    ),
    (
        CurlReason::Addresses,
        "doh-insecure doh-cert-status",
        "doh-url dns-servers dns-interface dns-ipv4-addr dns-ipv6-addr abstract-unix-socket",
    ),
    (
        CurlReason::Certificates,
        "cert-status ca-native ssl-auto-client-cert",
        "capath crlfile pinnedpubkey pass engine random-file egd-file",
    ),
    (CurlReason::Message, "tr-encoding ignore-content-length form-escape", ""),
];

/// All rows of the table: names, whether they take a value, effect.
fn rows() -> impl Iterator<Item = (Names, CurlOption)> {
    let flags = FLAGS.into_iter().map(|(names, effect)| (names, CurlOption { effect, takes_value: false }));
    let values = VALUES.into_iter().map(|(names, effect)| (names, CurlOption { effect, takes_value: true }));
    let left_out = LEFT_OUT.into_iter().flat_map(|(reason, flags, values)| {
        let effect = Effect::LeftOut(reason);
        [
            (flags, CurlOption { effect, takes_value: false }),
            (values, CurlOption { effect, takes_value: true }),
        ]
    });
    flags.chain(values).chain(left_out)
}

/// The options by their names, `--head`, and their letters, `I`.
static BY_NAME: LazyLock<HashMap<String, CurlOption>> = LazyLock::new(|| {
    let mut all = HashMap::new();
    for (names, option) in rows() {
        for name in names.split_whitespace() {
            let (long, short) = name.split_once('/').unwrap_or((name, ""));
            all.insert(format!("--{long}"), option);
            if !short.is_empty() {
                all.insert(short.to_owned(), option);
            }
        }
    }
    all
});

/// Returns an option by its name, or by its letter.
pub(super) fn find(name: &str) -> Option<CurlOption> {
    BY_NAME.get(name).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_stands_once() {
        let names: Vec<&str> = rows().flat_map(|(names, _)| names.split_whitespace()).collect();
        let mut parts: Vec<String> = Vec::new();
        for name in names {
            let (long, short) = name.split_once('/').unwrap_or((name, ""));
            parts.push(format!("--{long}"));
            parts.extend((!short.is_empty()).then(|| short.to_owned()));
            assert!(short.chars().count() <= 1, "{name}");
        }
        for (index, part) in parts.iter().enumerate() {
            assert!(!parts[..index].contains(part), "{part} twice");
            assert!(find(part).is_some(), "{part}");
        }
        assert!(150 < parts.len(), "{}", parts.len());
    }
}
