//! What carries requests over HTTP/1 and brings replies: a plain connection or an encrypted one.

use model::WebRequest;
use rustix::io::Errno;
use units::{Clock, Nanos};

use super::connection::{self, Arrived, Link, Sent};
use super::failure::Failure;
use super::origin::Origin;

/// An established connection.
#[expect(async_fn_in_trait, reason = "nobody outside implements it, and futures stay on their thread")]
pub trait Carrier: Sized + 'static {
    /// What a user keeps from one connection to the next.
    type Memory;

    /// Makes what a new user keeps.
    fn memory(origin: &Origin) -> Self::Memory;

    /// Connects and sends a request. Returns when the connection was established, too.
    async fn open(
        origin: &Origin,
        memory: &Self::Memory,
        operation: &WebRequest,
    ) -> Result<(Self, Nanos), Failure>;

    /// Sends a request on a kept connection.
    async fn send(self, origin: &Origin, operation: &WebRequest) -> Result<Self, Failure>;

    /// Waits for something to arrive in the thread's buffer.
    async fn read(&mut self, origin: &Origin) -> Result<Arrived, Errno>;

    /// Gives the part of the reply that is in what has arrived to `take`, in one or several pieces or none.
    fn pieces(&mut self, origin: &Origin, arrived: Arrived, take: impl FnMut(&[u8])) -> Result<(), Failure>;

    /// Returns whether the peer has said that nothing follows (`close_notify`), be the socket open or not.
    fn has_ended(&self) -> bool;

    /// Returns whether an end of the stream now could be a cut that somebody made.
    fn is_cut(&self) -> bool;

    /// Returns the socket below.
    fn link(&mut self) -> &mut Link;

    /// Waits until the peer has closed its side of the socket; what it sends until then is left unread.
    async fn closed(mut self) {
        self.link().peer_closes().await;
    }
}

impl Carrier for Link {
    type Memory = ();

    fn memory(_: &Origin) {}

    /// What has to wait is put in a box: it is rare, and the tasks of many users stay small.
    #[inline]
    async fn open(origin: &Origin, _: &(), operation: &WebRequest) -> Result<(Link, Nanos), Failure> {
        let (socket, is_established) = origin.begin()?;
        let connected = origin.clock.now();
        let (sent, rest) = origin.with_request(operation, |request| {
            let sent = connection::send_at_once(socket, is_established, request)?;
            let rest = match &sent {
                Sent::Whole(_) => None,
                Sent::Partly(_, n) => Some(request[*n..].into()),
                Sent::NotYet(_) => Some(request.into()),
            };
            Ok::<(Sent, Option<Box<[u8]>>), Errno>((sent, rest))
        })?;
        let rest = rest.unwrap_or_default();
        match sent {
            Sent::Whole(link) => Ok((link, connected)),
            Sent::Partly(socket, _) => Ok((Box::pin(connection::send_all(socket, &rest)).await?, connected)),
            Sent::NotYet(socket) => {
                Box::pin(async {
                    let socket = connection::established(socket).await?;
                    let connected = origin.clock.now();
                    Ok((connection::send_all(socket, &rest).await?, connected))
                })
                .await
            }
        }
    }

    #[inline]
    async fn send(self, origin: &Origin, operation: &WebRequest) -> Result<Link, Failure> {
        let rest = origin.with_request(operation, |request| self.send_now(request))?;
        match rest {
            None => Ok(self),
            Some(rest) => Ok(Box::pin(self.send_rest(rest)).await?),
        }
    }

    #[inline]
    async fn read(&mut self, origin: &Origin) -> Result<Arrived, Errno> {
        Link::read(self, &origin.buffer, &[]).await
    }

    #[inline]
    fn pieces(
        &mut self,
        origin: &Origin,
        arrived: Arrived,
        mut take: impl FnMut(&[u8]),
    ) -> Result<(), Failure> {
        take(&origin.buffer.borrow()[..arrived.bytes]);
        Ok(())
    }

    fn has_ended(&self) -> bool {
        false
    }

    fn is_cut(&self) -> bool {
        false
    }

    #[inline]
    fn link(&mut self) -> &mut Link {
        self
    }
}
