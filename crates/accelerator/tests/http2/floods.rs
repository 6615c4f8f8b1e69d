//! Abusive clients: their connections end, and take little memory meanwhile.

use std::time::Duration;

use accelerator::frontend::http2::{ConnectionEnd, Http2Settings};
use tokio::io::AsyncWriteExt;

use super::frames::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, ENHANCE_YOUR_CALM, HEADERS, PING, REFUSED_STREAM, SETTINGS,
    STATUS_200, ServerFrame, flood, frame, listen, pack, preface, request, reset,
};
use super::service::{Client, SHORT, connect, fixture, get, limits, run, usual};

/// The most by which the process may grow: other tests run in it as well.
const GROWTH_BYTES_MAX: usize = 32 << 20;

/// Returns the resident memory of the process.
fn resident_bytes() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

/// Sends `start`, then the frames that `more` makes for each stream number in turn, at most `times`. Returns the
/// frames of the server, the end of the connection, and the most requests in progress at a time.
async fn attack(
    settings: Http2Settings,
    start: Vec<u8>,
    times: usize,
    mut more: impl FnMut(u32) -> Vec<u8>,
) -> (Vec<ServerFrame>, ConnectionEnd, usize) {
    let before = resident_bytes();
    let mut limits = limits();
    limits.idle_timeout = SHORT;
    let mut fixture = fixture(limits, settings);
    fixture.near.write_all(&[preface(), start].concat()).await.unwrap();
    let received = flood(fixture.near, times, |k| more(2 * k as u32 + 1)).await;
    let ended = fixture.serving.await.unwrap();
    let growth = resident_bytes().saturating_sub(before);
    assert!(growth < GROWTH_BYTES_MAX, "{growth} bytes more");
    (received, ended, fixture.script.under_way_max.get())
}

fn head(stream: u32, target: &str) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | END_STREAM, stream, &request(target))
}

/// Goal: "rapid reset" (CVE-2023-44487): opening and resetting streams at once ends the connection after a few.
#[test]
fn rapid_resets_end_the_connection() {
    run(async {
        let more = |stream| [head(stream, "/wait"), reset(stream)].concat();
        let (received, ended, under_way) = attack(Http2Settings::default(), Vec::new(), 100_000, more).await;
        assert!(received.contains(&ServerFrame::GoAway(ENHANCE_YOUR_CALM)), "{received:?}");
        assert!(matches!(ended, ConnectionEnd::Failed(_) | ConnectionEnd::ResetFlood), "{ended:?}");
        assert!(under_way <= 2 * 100, "{under_way}");
    });
}

/// Sends a request and resets it once it is being handled.
async fn take_back(client: &mut Client) -> Result<(), h2::Error> {
    client.send = client.send.clone().ready().await?;
    let (response, mut stream) = client.send.send_request(get("/wait"), true)?;
    tokio::select! {
        () = client.script.asked.notified() => {}
        response = response => return response.map(drop),
    }
    stream.send_reset(h2::Reason::CANCEL);
    Ok(())
}

/// Goal: the same slowly, so that every request is being handled before it is reset.
#[test]
fn slow_resets_end_the_connection() {
    run(async {
        let settings = Http2Settings { resets_max: 10, ..Http2Settings::default() };
        let mut client = connect(limits(), settings, 65_535).await;
        let mut taken_back = 0;
        while taken_back < 100 && take_back(&mut client).await.is_ok() {
            taken_back += 1;
        }
        assert!((11..20).contains(&taken_back), "{taken_back}");
        assert!(matches!(client.serving.await.unwrap(), ConnectionEnd::ResetFlood));
        let error = client.connection.await.unwrap().unwrap_err();
        assert_eq!(error.reason(), Some(h2::Reason::ENHANCE_YOUR_CALM));
        assert_eq!(client.script.under_way.get(), 0, "nobody works for it any longer");
    });
}

#[test]
fn clients_that_complete_requests_may_reset_some() {
    run(async {
        let settings = Http2Settings { resets_max: 3, ..Http2Settings::default() };
        let mut client = connect(limits(), settings, 65_535).await;
        for _ in 0..20 {
            assert_eq!(client.ask(get("/hello")).await.unwrap().body, b"hello");
            client.script.asked.notified().await;
            take_back(&mut client).await.unwrap();
        }
    });
}

#[test]
fn streams_beyond_the_limit_are_refused() {
    run(async {
        let settings = Http2Settings { streams_max: 10, ..Http2Settings::default() };
        let mut fixture = fixture(limits(), settings);
        let heads: Vec<u8> = (0..50).flat_map(|k| head(2 * k + 1, "/hold")).collect();
        fixture.near.write_all(&[preface(), heads].concat()).await.unwrap();
        for _ in 10..50 {
            assert_eq!(listen(&mut fixture.near).await, ServerFrame::Reset(REFUSED_STREAM));
        }
        while fixture.script.under_way.get() < 10 {
            fixture.script.asked.notified().await;
        }
        // Each stream that ends makes room for another.
        fixture.script.go.notify_one();
        assert_eq!(listen(&mut fixture.near).await, ServerFrame::Head(STATUS_200));
        fixture.near.write_all(&head(101, "/hello")).await.unwrap();
        assert_eq!(listen(&mut fixture.near).await, ServerFrame::Head(STATUS_200));
        assert_eq!(fixture.script.under_way_max.get(), 10);
    });
}

#[test]
fn endless_heads_end_the_connection() {
    run(async {
        let start = frame(HEADERS, END_STREAM, 1, &request("/wait"));
        let field = pack(&[(b"x", &[b'x'; 1000])]);
        for piece in [field, Vec::new()] {
            let more = |_| frame(CONTINUATION, 0, 1, &piece);
            let (received, ended, under_way) =
                attack(Http2Settings::default(), start.clone(), 100_000, more).await;
            assert!(matches!(ended, ConnectionEnd::Failed(_)), "{ended:?} {received:?}");
            assert_eq!(under_way, 0);
        }
    });
}

/// Goal: a head of 4 KiB that decompresses to 16 MiB is not decompressed to its end.
#[test]
fn a_header_bomb_is_refused() {
    run(async {
        // A literal that is added to the table (RFC 7541 §6.2.1), where it is the first after the 61 static entries.
        let mut block = [request("/wait"), vec![0x40]].concat();
        let literal = pack(&[(b"x", &[b'x'; 4000])]);
        block.extend_from_slice(&literal[1..]);
        block.extend(std::iter::repeat_n(0x80 | 62, 4000));
        let start = frame(HEADERS, END_HEADERS | END_STREAM, 1, &block);
        let (received, _, under_way) = attack(Http2Settings::default(), start, 0, |_| Vec::new()).await;
        assert!(
            matches!(
                received[..],
                [ServerFrame::GoAway(_), ..] | [ServerFrame::Head(_), ..] | [ServerFrame::Reset(_), ..]
            ),
            "{received:?}"
        );
        assert_eq!(under_way, 0);
    });
}

#[test]
fn locally_reset_streams_are_limited() {
    run(async {
        let wrong = |stream| {
            let fields = pack(&[(b"connection", b"close")]);
            frame(HEADERS, END_HEADERS | END_STREAM, stream, &[request("/hello"), fields].concat())
        };
        let (received, ended, under_way) = attack(Http2Settings::default(), Vec::new(), 100_000, wrong).await;
        assert!(received.contains(&ServerFrame::GoAway(ENHANCE_YOUR_CALM)), "{received:?}");
        assert!(matches!(ended, ConnectionEnd::Failed(_)), "{ended:?}");
        assert!(received.len() < 1_000 && under_way == 0);
    });
}

#[test]
fn empty_data_frames_end_the_connection() {
    run(async {
        let start = frame(HEADERS, END_HEADERS, 1, &request("/echo"));
        let (received, ended, _) =
            attack(Http2Settings::default(), start, 1_000_000, |_| frame(DATA, 0, 1, &[])).await;
        assert!(received.contains(&ServerFrame::GoAway(ENHANCE_YOUR_CALM)), "{received:?}");
        assert!(matches!(ended, ConnectionEnd::Failed(_)), "{ended:?}");
    });
}

/// Goal: control frames are answered, but are no progress: the connection ends as idle.
#[test]
fn pings_and_settings_do_not_prevent_idle_timeout() {
    run(async {
        for control in [frame(PING, 0, 0, &[0; 8]), frame(SETTINGS, 0, 0, &[])] {
            let mut limits = limits();
            limits.idle_timeout = SHORT;
            let mut fixture = fixture(limits, Http2Settings::default());
            fixture.near.write_all(&preface()).await.unwrap();
            let talking = async {
                loop {
                    if fixture.near.write_all(&control).await.is_err() {
                        return;
                    }
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            };
            let ended = tokio::select! {
                ended = &mut fixture.serving => ended.unwrap(),
                () = talking => fixture.serving.await.unwrap(),
            };
            assert!(matches!(ended, ConnectionEnd::Idle | ConnectionEnd::Closed), "{ended:?}");
        }
    });
}

/// Goal: the same as fast as they are answered.
#[test]
fn a_ping_flood_does_not_prevent_idle_timeout() {
    run(async {
        let pings = |_| frame(PING, 0, 0, &[0; 8]).repeat(100);
        let (_, ended, _) = attack(Http2Settings::default(), Vec::new(), usize::MAX, pings).await;
        assert!(matches!(ended, ConnectionEnd::Idle | ConnectionEnd::Closed), "{ended:?}");
    });
}

/// Goal: a client that does not read is not answered without end.
#[test]
fn clients_that_do_not_read_are_not_read_from() {
    run(async {
        let mut fixture = fixture(limits(), Http2Settings::default());
        fixture.near.write_all(&preface()).await.unwrap();
        let mut taken = 0;
        let pings = frame(PING, 0, 0, &[0; 8]).repeat(1_000);
        let talking = async {
            loop {
                taken += fixture.near.write(&pings).await.unwrap();
            }
        };
        assert!(tokio::time::timeout(Duration::from_millis(300), talking).await.is_err());
        assert!(taken < 1 << 20, "{taken} bytes");
    });
}

#[test]
fn a_flooding_connection_does_not_block_another() {
    run(async {
        let mut other = usual().await;
        let mut fixture = fixture(limits(), Http2Settings::default());
        fixture.near.write_all(&preface()).await.unwrap();
        let flooding = flood(fixture.near, usize::MAX, |_| frame(PING, 0, 0, &[0; 8]).repeat(100));
        let asking = async {
            for _ in 0..100 {
                assert_eq!(other.ask(get("/hello")).await.unwrap().body, b"hello");
            }
        };
        tokio::select! {
            _ = flooding => panic!("the flood ended first"),
            () = asking => {}
        }
    });
}
