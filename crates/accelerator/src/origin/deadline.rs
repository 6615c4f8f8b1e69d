//! Time limits.

use std::time::Duration;

use units::Nanos;

/// Waits for an outcome no longer than `limit`; then returns the error that `late` makes.
pub(super) async fn within<T, E>(
    limit: Nanos,
    future: impl Future<Output = Result<T, E>>,
    late: impl FnOnce() -> E,
) -> Result<T, E> {
    let outcome = tokio::time::timeout(Duration::from_nanos(limit.0), future).await;
    outcome.unwrap_or_else(|_| Err(late()))
}
