//! Clients that cost more than they pay: what they do ends, and takes little memory meanwhile.

use std::time::Duration;

use accelerator::front::http2::{Ended, Http2Settings};
use tokio::io::AsyncWriteExt;

use crate::frames::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, ENHANCE_YOUR_CALM, HEADERS, PING, REFUSED_STREAM, SETTINGS,
    STATUS_200, Said, flood, frame, listen, pack, preface, request, reset,
};
use crate::service::{Client, SHORT, bench, connect, get, limits, run, usual};

/// The most that the process may grow by: other tests run in it as well.
const GROWTH_BYTES_MAX: usize = 32 << 20;

/// How much memory the process takes.
fn resident_bytes() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

/// Begins with `start`, then sends what `more` makes for each stream number in turn, so often at most. Returns what the
/// server said, how it ended, and the most requests that were under way at a time.
async fn attack(
    settings: Http2Settings,
    start: Vec<u8>,
    times: usize,
    mut more: impl FnMut(u32) -> Vec<u8>,
) -> (Vec<Said>, Ended, usize) {
    let before = resident_bytes();
    let mut limits = limits();
    limits.idle_timeout = SHORT;
    let mut bench = bench(limits, settings);
    bench.near.write_all(&[preface(), start].concat()).await.unwrap();
    let said = flood(bench.near, times, |k| more(2 * k as u32 + 1)).await;
    let ended = bench.serving.await.unwrap();
    let growth = resident_bytes().saturating_sub(before);
    assert!(growth < GROWTH_BYTES_MAX, "{growth} bytes more");
    (said, ended, bench.script.under_way_max.get())
}

fn head(stream: u32, target: &str) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | END_STREAM, stream, &request(target))
}

/// Goal: "rapid reset" (CVE-2023-44487): opening and resetting at once ends the connection after a few.
#[test]
fn streams_that_are_reset_at_once_end_the_connection() {
    run(async {
        let more = |stream| [head(stream, "/wait"), reset(stream)].concat();
        let (said, ended, under_way) = attack(Http2Settings::default(), Vec::new(), 100_000, more).await;
        assert!(said.contains(&Said::GoAway(ENHANCE_YOUR_CALM)), "{said:?}");
        assert!(matches!(ended, Ended::Failed(_) | Ended::ResetFlood), "{ended:?}");
        assert!(under_way <= 2 * 100, "{under_way}");
    });
}

/// Asks and takes the request back once it is being handled.
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
fn requests_taken_back_again_and_again_end_the_connection() {
    run(async {
        let settings = Http2Settings { resets_max: 10, ..Http2Settings::default() };
        let mut client = connect(limits(), settings, 65_535).await;
        let mut taken_back = 0;
        while taken_back < 100 && take_back(&mut client).await.is_ok() {
            taken_back += 1;
        }
        assert!((11..20).contains(&taken_back), "{taken_back}");
        assert!(matches!(client.serving.await.unwrap(), Ended::ResetFlood));
        let error = client.connection.await.unwrap().unwrap_err();
        assert_eq!(error.reason(), Some(h2::Reason::ENHANCE_YOUR_CALM));
        assert_eq!(client.script.under_way.get(), 0, "nobody works for it any longer");
    });
}

#[test]
fn who_mostly_takes_its_replies_may_take_back_some_requests() {
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
fn streams_beyond_the_most_are_refused() {
    run(async {
        let settings = Http2Settings { streams_max: 10, ..Http2Settings::default() };
        let mut bench = bench(limits(), settings);
        let heads: Vec<u8> = (0..50).flat_map(|k| head(2 * k + 1, "/hold")).collect();
        bench.near.write_all(&[preface(), heads].concat()).await.unwrap();
        for _ in 10..50 {
            assert_eq!(listen(&mut bench.near).await, Said::Reset(REFUSED_STREAM));
        }
        while bench.script.under_way.get() < 10 {
            bench.script.asked.notified().await;
        }
        // Each that ends makes room for another.
        bench.script.go.notify_one();
        assert_eq!(listen(&mut bench.near).await, Said::Head(STATUS_200));
        bench.near.write_all(&head(101, "/hello")).await.unwrap();
        assert_eq!(listen(&mut bench.near).await, Said::Head(STATUS_200));
        assert_eq!(bench.script.under_way_max.get(), 10);
    });
}

#[test]
fn heads_without_an_end_end_the_connection() {
    run(async {
        let start = frame(HEADERS, END_STREAM, 1, &request("/wait"));
        let field = pack(&[(b"x", &[b'x'; 1000])]);
        for piece in [field, Vec::new()] {
            let more = |_| frame(CONTINUATION, 0, 1, &piece);
            let (said, ended, under_way) =
                attack(Http2Settings::default(), start.clone(), 100_000, more).await;
            assert!(matches!(ended, Ended::Failed(_)), "{ended:?} {said:?}");
            assert_eq!(under_way, 0);
        }
    });
}

/// Goal: a head of 4 KiB that unpacks to 16 MiB is not unpacked to its end.
#[test]
fn a_head_that_unpacks_to_much_more_is_refused() {
    run(async {
        // A literal that goes into the table (RFC 7541 §6.2.1), where it is the first after the 61 fixed ones.
        let mut block = [request("/wait"), vec![0x40]].concat();
        let literal = pack(&[(b"x", &[b'x'; 4000])]);
        block.extend_from_slice(&literal[1..]);
        block.extend(std::iter::repeat_n(0x80 | 62, 4000));
        let start = frame(HEADERS, END_HEADERS | END_STREAM, 1, &block);
        let (said, _, under_way) = attack(Http2Settings::default(), start, 0, |_| Vec::new()).await;
        assert!(
            matches!(said[..], [Said::GoAway(_), ..] | [Said::Head(_), ..] | [Said::Reset(_), ..]),
            "{said:?}"
        );
        assert_eq!(under_way, 0);
    });
}

#[test]
fn mistakes_that_make_us_reset_streams_are_limited() {
    run(async {
        let wrong = |stream| {
            let fields = pack(&[(b"connection", b"close")]);
            frame(HEADERS, END_HEADERS | END_STREAM, stream, &[request("/hello"), fields].concat())
        };
        let (said, ended, under_way) = attack(Http2Settings::default(), Vec::new(), 100_000, wrong).await;
        assert!(said.contains(&Said::GoAway(ENHANCE_YOUR_CALM)), "{said:?}");
        assert!(matches!(ended, Ended::Failed(_)), "{ended:?}");
        assert!(said.len() < 1_000 && under_way == 0);
    });
}

#[test]
fn empty_pieces_of_a_body_end_the_connection() {
    run(async {
        let start = frame(HEADERS, END_HEADERS, 1, &request("/echo"));
        let (said, ended, _) =
            attack(Http2Settings::default(), start, 1_000_000, |_| frame(DATA, 0, 1, &[])).await;
        assert!(said.contains(&Said::GoAway(ENHANCE_YOUR_CALM)), "{said:?}");
        assert!(matches!(ended, Ended::Failed(_)), "{ended:?}");
    });
}

/// Goal: control frames are answered, but are no progress: the connection ends as idle.
#[test]
fn pings_and_settings_do_not_keep_a_connection() {
    run(async {
        for control in [frame(PING, 0, 0, &[0; 8]), frame(SETTINGS, 0, 0, &[])] {
            let mut limits = limits();
            limits.idle_timeout = SHORT;
            let mut bench = bench(limits, Http2Settings::default());
            bench.near.write_all(&preface()).await.unwrap();
            let talking = async {
                loop {
                    if bench.near.write_all(&control).await.is_err() {
                        return;
                    }
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            };
            let ended = tokio::select! {
                ended = &mut bench.serving => ended.unwrap(),
                () = talking => bench.serving.await.unwrap(),
            };
            assert!(matches!(ended, Ended::Idle | Ended::Closed), "{ended:?}");
        }
    });
}

/// Goal: the same as fast as they are answered.
#[test]
fn a_flood_of_pings_does_not_keep_a_connection() {
    run(async {
        let pings = |_| frame(PING, 0, 0, &[0; 8]).repeat(100);
        let (_, ended, _) = attack(Http2Settings::default(), Vec::new(), usize::MAX, pings).await;
        assert!(matches!(ended, Ended::Idle | Ended::Closed), "{ended:?}");
    });
}

/// Goal: who does not read what it asked for is not answered without end either.
#[test]
fn who_does_not_read_is_not_read_from() {
    run(async {
        let mut bench = bench(limits(), Http2Settings::default());
        bench.near.write_all(&preface()).await.unwrap();
        let mut taken = 0;
        let pings = frame(PING, 0, 0, &[0; 8]).repeat(1_000);
        let talking = async {
            loop {
                taken += bench.near.write(&pings).await.unwrap();
            }
        };
        assert!(tokio::time::timeout(Duration::from_millis(300), talking).await.is_err());
        assert!(taken < 1 << 20, "{taken} bytes");
    });
}

#[test]
fn one_connection_does_not_hold_up_another() {
    run(async {
        let mut other = usual().await;
        let mut bench = bench(limits(), Http2Settings::default());
        bench.near.write_all(&preface()).await.unwrap();
        let flooding = flood(bench.near, usize::MAX, |_| frame(PING, 0, 0, &[0; 8]).repeat(100));
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
