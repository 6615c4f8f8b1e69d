//! The parts of a running web server.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use model::FileSet;

use super::probe::{ProbeError, connect_tls, probe};
use super::request::WebParts;
use super::reverse_proxy::ReverseProxy;
use super::warm::{NotServed, fetch_all};
use crate::page_cache::evict;
use crate::populate::PopulatedFiles;
use crate::recipe::WebVariant;
use crate::sut::certificate::Certificate;
use crate::sut::memory_limit::{MemoryLimitProof, prove};
use crate::sut::running::RunningSut;
use crate::sut::{SutError, ready};

/// Request that checks whether pages are generated.
const PAGE_PROBE: &str = "/dyn?size=1";

/// The parts of a running web server; other servers have none.
#[derive(Debug)]
pub(in crate::sut) struct RunningWeb {
    /// Its file set on disk; `None` if it is given none.
    pub populated: Option<PopulatedFiles>,
    /// The accelerator in front of it.
    pub proxy: Option<ReverseProxy>,
    /// The result of the first warm-up under a memory limit.
    pub memory_limit_proof: Option<MemoryLimitProof>,
    /// Path requested by readiness checks: a page if pages are generated, else the smallest file.
    probe_path: String,
}

impl RunningWeb {
    /// Returns the parts of a server that has been prepared as asked for.
    pub(in crate::sut) fn new(
        asked: &WebParts,
        populated: Option<PopulatedFiles>,
        proxy: Option<ReverseProxy>,
    ) -> RunningWeb {
        let smallest = || asked.files.as_ref().map_or_else(|| "/".to_owned(), smallest_file);
        let probe_path = if asked.gateway.is_some() { PAGE_PROBE.to_owned() } else { smallest() };
        RunningWeb { populated, proxy, memory_limit_proof: None, probe_path }
    }

    /// Requests the file that shows whether a server is ready.
    ///
    /// # Errors
    /// The reason why it is not.
    pub(in crate::sut) fn probe(
        &self,
        address: SocketAddr,
        variant: WebVariant,
        certificate: Option<&Certificate>,
    ) -> Result<(), ProbeError> {
        probe(address, variant, &self.probe_path, certificate)
    }
}

impl RunningSut {
    /// Returns its variant, as web benchmarks ask for it.
    pub(in crate::sut) fn web_variant(&self) -> WebVariant {
        self.web.proxy.as_ref().map_or(self.choice.web_variant(), ReverseProxy::variant)
    }

    /// Returns the address as a URL.
    pub fn url(&self) -> String {
        format!("{}://{}/", self.web_variant().scheme(), self.addr())
    }

    /// Requests every file once, so that an accelerator has it in its cache when load begins; works for a
    /// server alone, too. The requests resemble those of the load: over HTTP/1.0, they send no host.
    ///
    /// # Errors
    /// The first file that is not served.
    pub fn warm(&mut self, files: &FileSet, is_http10: bool) -> Result<(), SutError> {
        self.warm_unless(files, is_http10, &AtomicBool::new(false))
    }

    /// Does the same, but requests no more files when `stop` is set.
    ///
    /// # Errors
    /// As for [`RunningSut::warm`].
    pub fn warm_unless(
        &mut self,
        files: &FileSet,
        is_http10: bool,
        stop: &AtomicBool,
    ) -> Result<(), SutError> {
        self.fetch(files, is_http10, stop)?;
        if let Some(proxy) = &mut self.web.proxy {
            proxy.n_warmed = files.files.len() as u64;
        }
        Ok(())
    }

    /// Evicts the file set from the page cache, then requests its files until the server reaches its memory
    /// limit and needs evicted pages again; requests resemble those of the load. Pages already in memory were
    /// charged to whoever read them first, and would cost this server nothing. Ends early when `stop` is set.
    ///
    /// Returns the result; the facts contain the first one. `None` if no memory limit is enforced.
    ///
    /// # Errors
    /// A file that cannot be read, or that the server does not serve.
    pub fn prove_memory_limit(
        &mut self,
        files: &FileSet,
        is_http10: bool,
        stop: &AtomicBool,
    ) -> Result<Option<MemoryLimitProof>, SutError> {
        let (Some(limit), Ok(group)) = (self.held().memory, &self.group) else { return Ok(None) };
        if let Some(PopulatedFiles { directory, .. }) = &self.web.populated {
            let paths = files.files.iter().map(|file| directory.join(file.path.trim_start_matches('/')));
            evict(paths).map_err(|(path, source)| SutError::File {
                what: "file of the set",
                path,
                source,
            })?;
        }
        let account = || group.memory();
        let fetch = |part: &FileSet| self.fetch(part, is_http10, stop);
        let proof = prove(limit, files, account, fetch, || stop.load(Ordering::Relaxed));
        // A server that was killed for its memory is a better explanation than a broken connection.
        self.check_alive()?;
        let proof = proof?;
        self.web.memory_limit_proof = self.web.memory_limit_proof.or(proof);
        Ok(proof)
    }

    /// Requests files, one after another, as the load does: over HTTP/1.0, without a host.
    fn fetch(&self, files: &FileSet, is_http10: bool, stop: &AtomicBool) -> Result<(), SutError> {
        let address = self.addr();
        let named = address.to_string();
        let host = Some(named.as_str()).filter(|_| !is_http10);
        let warmed = match self.certificate.as_ref() {
            None => fetch_all(files, host, stop, || Ok(ready::connect(address)?)),
            Some(certificate) => fetch_all(files, host, stop, || connect_tls(address, certificate)),
        };
        let title = || self.web.proxy.as_ref().map_or(&self.recipe, |proxy| &proxy.recipe).title.clone();
        warmed.map_err(|NotServed { path, reason }| SutError::NotWarmed {
            title: title(),
            path,
            why: reason.to_string(),
        })
    }
}

fn smallest_file(files: &FileSet) -> String {
    let smallest = files.files.iter().min_by_key(|file| file.bytes);
    smallest.map_or_else(|| "/".to_owned(), |file| file.path.clone())
}
