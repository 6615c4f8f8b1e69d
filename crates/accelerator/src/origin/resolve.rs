//! Name resolution of servers.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::net::lookup_host;
use units::Nanos;

use super::deadline::within;
use super::failure::OriginFailure;

/// The time that addresses are cached. The system does not report their time to live.
const ADDRESS_TTL: Nanos = Nanos::from_secs(10);

/// The addresses of one server, shared by all threads.
#[derive(Debug)]
pub(super) struct Resolver {
    /// `host:port`.
    address: String,
    known: Mutex<CachedAddresses>,
}

#[derive(Debug)]
struct CachedAddresses {
    addresses: Arc<[SocketAddr]>,
    until: Nanos,
}

impl Resolver {
    /// Makes a resolver; a numeric address never changes.
    pub(super) fn new(address: &str) -> Resolver {
        let known = match address.parse::<SocketAddr>() {
            Ok(number) => CachedAddresses { addresses: Arc::new([number]), until: Nanos::MAX },
            Err(_) => CachedAddresses { addresses: Arc::new([]), until: Nanos::ZERO },
        };
        Resolver { address: address.to_owned(), known: Mutex::new(known) }
    }

    /// Returns the server's addresses, at least one; the cached ones if they cannot be resolved again within
    /// `patience`.
    pub(super) async fn addresses(
        &self,
        now: Nanos,
        patience: Nanos,
    ) -> Result<Arc<[SocketAddr]>, OriginFailure> {
        let last = match self.cached(now) {
            Ok(addresses) => return Ok(addresses),
            Err(last) => last,
        };
        let patience = if last.is_empty() { Nanos::MAX } else { patience };
        let looking = async { lookup_host(&self.address).await.map(|found| found.collect::<Arc<[_]>>()) };
        match within(patience, looking, || ErrorKind::TimedOut.into()).await {
            Ok(addresses) if !addresses.is_empty() => {
                let mut known = self.lock();
                *known = CachedAddresses {
                    addresses: Arc::clone(&addresses),
                    until: now.saturating_add(ADDRESS_TTL),
                };
                Ok(addresses)
            }
            _ if !last.is_empty() => Ok(last),
            Ok(_) => Err(OriginFailure::Unresolved(format!("`{}` has no address", self.address))),
            Err(error) => Err(OriginFailure::Unresolved(error.to_string())),
        }
    }

    /// Returns the addresses if they are still valid; else, as error, the expired ones.
    ///
    /// Only the caller that finds them expired resolves them again: for others they stay valid for as long again.
    fn cached(&self, now: Nanos) -> Result<Arc<[SocketAddr]>, Arc<[SocketAddr]>> {
        let mut known = self.lock();
        let addresses = Arc::clone(&known.addresses);
        if now < known.until {
            return Ok(addresses);
        }
        if !addresses.is_empty() {
            known.until = now.saturating_add(ADDRESS_TTL);
        }
        Err(addresses)
    }

    fn lock(&self) -> MutexGuard<'_, CachedAddresses> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(resolver: &Resolver, now: Nanos) -> Result<Vec<SocketAddr>, OriginFailure> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(resolver.addresses(now, Nanos::MAX)).map(|found| found.to_vec())
    }

    /// Has a label of more than 63 letters (RFC 1035 §2.3.4), so that no network is asked for it.
    fn unknown_name() -> String {
        format!("{}:80", "a".repeat(64))
    }

    #[test]
    fn numeric_addresses_are_not_resolved() {
        for text in ["127.0.0.1:80", "[::1]:8080"] {
            let number = text.parse().expect("an address");
            assert_eq!(resolve(&Resolver::new(text), Nanos(u64::MAX - 1)), Ok(vec![number]));
        }
    }

    #[test]
    fn names_are_resolved() {
        let found = resolve(&Resolver::new("localhost:81"), Nanos::ZERO).expect("every system knows it");
        assert!(found.iter().all(|address| address.ip().is_loopback() && address.port() == 81), "{found:?}");
        let unknown = resolve(&Resolver::new(&unknown_name()), Nanos::ZERO);
        assert!(matches!(unknown, Err(OriginFailure::Unresolved(_))), "{unknown:?}");
    }

    #[test]
    fn expired_addresses_are_used_while_resolution_runs_or_fails() {
        let number: SocketAddr = "127.0.0.1:80".parse().expect("an address");
        let resolver = Resolver::new(&unknown_name());
        *resolver.lock() = CachedAddresses { addresses: Arc::new([number]), until: Nanos(5) };
        assert_eq!(resolver.cached(Nanos(4)).as_deref(), Ok(&[number][..]));
        assert_eq!(resolver.cached(Nanos(5)).as_deref().err(), Some(&Arc::from([number])));
        assert_eq!(resolver.cached(Nanos(5)).as_deref(), Ok(&[number][..]));
        assert_eq!(resolve(&resolver, Nanos::from_secs(60)), Ok(vec![number]));
    }

    #[test]
    fn expired_addresses_are_used_when_resolution_is_slow() {
        let number: SocketAddr = "192.0.2.1:80".parse().expect("an address");
        let resolver = Resolver::new("localhost:80");
        *resolver.lock() = CachedAddresses { addresses: Arc::new([number]), until: Nanos::ZERO };
        // The one thread that could look anything up has something else to do.
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let runtime = builder.enable_time().max_blocking_threads(1).build().expect("a runtime");
        let (release, released) = std::sync::mpsc::channel::<()>();
        runtime.spawn_blocking(move || released.recv());
        let found = runtime.block_on(resolver.addresses(Nanos::ZERO, Nanos::from_millis(1)));
        assert_eq!(found.as_deref(), Ok(&[number][..]));
        drop(release);
    }
}
