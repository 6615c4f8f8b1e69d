//! Servers with TLS.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use accelerator::message::BodyError;
use accelerator::origin::{OriginFailure, OriginSettings, OriginTlsSettings};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::script::{ScriptedOrigin, Step, body, get, get_text, origins, play, reply, run, send, settings};

/// A certificate for `origin.example`, and its file.
struct Identity {
    config: Arc<ServerConfig>,
    directory: TempDir,
}

impl Identity {
    fn new() -> Identity {
        let made = rcgen::generate_simple_self_signed(["origin.example".to_owned()]).unwrap();
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("ca.pem"), made.cert.pem()).unwrap();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config =
            ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config =
            config.with_no_client_auth().with_single_cert(vec![made.cert.der().clone()], key).unwrap();
        Identity { config: Arc::new(config), directory }
    }

    fn ca_file(&self) -> PathBuf {
        self.directory.path().join("ca.pem")
    }

    /// Starts a server that runs one script per connection; returns settings for it.
    async fn serve(&self, scripts: Vec<Vec<Step>>, ends_properly: bool) -> OriginSettings {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let acceptor = TlsAcceptor::from(Arc::clone(&self.config));
        tokio::spawn(async move {
            for script in scripts {
                let (stream, _) = listener.accept().await.unwrap();
                // A client that does not trust the certificate ends here.
                let Ok(mut stream) = acceptor.accept(stream).await else { continue };
                play(&mut stream, script, Arc::new(Mutex::new(Vec::new()))).await;
                if ends_properly {
                    let _ = stream.shutdown().await;
                }
            }
        });
        let mut settings = settings(&[address]);
        settings.servers[0].tls = true;
        let server_name = Some("origin.example".to_owned());
        settings.tls = OriginTlsSettings { ca_file: Some(self.ca_file()), server_name };
        settings
    }
}

#[test]
fn verified_servers_are_used_and_connections_reused() {
    run(async {
        let identity = Identity::new();
        let script = vec![Step::Read, reply("one"), Step::Read, reply("two"), Step::Hold];
        let (origins, servers) = origins(identity.serve(vec![script], true).await);
        assert_eq!([get_text(&origins).await, get_text(&origins).await], ["one", "two"]);
        assert_eq!(servers.report()[0].connections, 1);
    });
}

#[test]
fn servers_with_wrong_certificates_are_refused() {
    run(async {
        let identity = Identity::new();
        let other = Identity::new();
        let script = || vec![vec![Step::Read, reply("bad")]];
        let mut wrong_name = identity.serve(script(), true).await;
        wrong_name.tls.server_name = Some("other.example".to_owned());
        let mut number = identity.serve(script(), true).await;
        number.tls.server_name = None;
        let mut wrong_issuer = identity.serve(script(), true).await;
        wrong_issuer.tls.ca_file = Some(other.ca_file());
        for settings in [wrong_name, number, wrong_issuer] {
            let failure = get(&origins(settings).0).await.unwrap_err();
            assert!(matches!(failure, OriginFailure::Tls(_)), "{failure}");
            assert_eq!(failure.status(), 502);
        }
    });
}

#[test]
fn servers_without_tls_are_refused() {
    run(async {
        let plain = vec![Step::ReadBody(1), send("HTTP/1.1 400 x\r\n\r\n")];
        let server = ScriptedOrigin::start(vec![plain]).await;
        let mut settings = settings(&[server.address]);
        settings.servers[0].tls = true;
        let identity = Identity::new();
        settings.tls.ca_file = Some(identity.ca_file());
        let failure = get(&origins(settings).0).await.unwrap_err();
        assert!(matches!(failure, OriginFailure::Tls(_)), "{failure}");
    });
}

#[test]
fn a_body_to_eof_needs_close_notify() {
    run(async {
        let identity = Identity::new();
        let script = vec![Step::Read, send("HTTP/1.1 200 OK\r\n\r\nwhole")];
        let whole = identity.serve(vec![script.clone()], true).await;
        assert_eq!(get_text(&origins(whole).0).await, "whole");
        let cut = identity.serve(vec![script], false).await;
        let mut reply = get(&origins(cut).0).await.unwrap();
        assert_eq!(body(&mut reply).await, Err(BodyError::Truncated));
    });
}
