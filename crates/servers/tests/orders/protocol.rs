//! Requests that are none, or that ask for too much, and faults.

use std::io::{Read, Write};
use std::time::Duration;

use frame::{Crc32c, REPLY_BYTES, RequestHeader, ServerStamps};
use orders::wire::{OrderEntryOperation, OrderEntryStatus, WireError, read_output, write_output};
use orders::{
    DeliveryInput, DeliveryOutput, TransactionInput, TransactionKind, TransactionOutput, TransactionType,
};
use servers::FrameFaultPlan;
use servers::orders::FAULTS;

use super::client::{Client, FORMAT, User, faulty, on_disk, options, request, start};

const PAGE: &str = include_str!("../../../../docs/protocols/order-entry.md");

/// Requests that come too early, ask for too much, or are none. The session survives all of them.
#[test]
fn requests_out_of_their_bounds_are_refused() {
    use OrderEntryOperation::{
        Bye, Check, Delivery, Hello, Load, NewOrder, OrderStatus, Payment, Stats, StockLevel,
    };
    use OrderEntryStatus::{BadRequest, OutOfPhase, OverLimit};
    let words = |values: &[u32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let parent = on_disk();
    let server = start(options(parent.path()));
    let mut client = Client::connect(server.address());
    let order = |warehouse, lines: &[u32]| {
        let n_lines = u8::try_from(lines.len() / 3).unwrap();
        [words(&[warehouse, 1, 1]), vec![0, n_lines], words(lines)].concat()
    };
    let refused: [(OrderEntryOperation, u64, Vec<u8>, OrderEntryStatus); 25] = [
        (Stats, 1, vec![], BadRequest),
        (Stats, 0, vec![0], BadRequest),
        (Delivery, 0, words(&[1, 1]), OutOfPhase),
        (Load, 0, vec![], OutOfPhase),
        (Check, 1, vec![], OutOfPhase),
        (Hello, 8, vec![], OverLimit),
        (Hello, u64::MAX, vec![], OverLimit),
        (Hello, 0, vec![0; 7], BadRequest),
        (Hello, 0, vec![], OrderEntryStatus::Ok),
        (Load, 2, vec![], BadRequest),
        (Load, 0, vec![0], BadRequest),
        (Check, 13, vec![], BadRequest),
        (Check, 1, vec![0], BadRequest),
        (Delivery, 1, words(&[1, 1]), BadRequest),
        (Delivery, 0, words(&[1]), BadRequest),
        (Delivery, 0, words(&[0, 1]), OverLimit),
        (Delivery, 0, words(&[3, 1]), OverLimit),
        (Delivery, 0, words(&[1, 11]), OverLimit),
        (StockLevel, 0, words(&[1, 11, 10]), OverLimit),
        (OrderStatus, 0, [words(&[1, 1]), vec![2], words(&[1])].concat(), BadRequest),
        (OrderStatus, 0, [words(&[1, 1]), vec![0], words(&[31])].concat(), OrderEntryStatus::MissingRow),
        (Payment, 0, [words(&[1, 1, 1, 1]), vec![0], words(&[1, 0, 0])].concat(), OverLimit),
        (NewOrder, 0, order(1, &[]), OverLimit),
        (NewOrder, 0, order(1, &[1, 3, 1]), OverLimit),
        (NewOrder, 0, order(1, &[1; 16 * 3]), BadRequest),
    ];
    for (operation, argument, payload, expected) in refused {
        let found = client.status(operation, argument, &payload);
        assert_eq!(found, expected, "{operation:?} {argument} {payload:?}");
    }
    // No operation has the number, but the frame is one.
    let unknown = client.frame(77, 0, &[]);
    client.stream.write_all(&unknown).unwrap();
    assert_eq!(client.receive().0.status, BadRequest as u16);
    let mut flags = client.frame(Delivery as u8, 0, &words(&[1, 1]));
    flags[6] = 1;
    client.stream.write_all(&flags).unwrap();
    assert_eq!(client.receive().0.status, BadRequest as u16);
    let mut changed = client.frame(Delivery as u8, 0, &words(&[1, 1]));
    changed[33] ^= 1;
    client.stream.write_all(&changed).unwrap();
    assert_eq!(client.receive().0.status, OrderEntryStatus::WrongChecksum as u16);
    assert_eq!(client.violated(), [0; 0], "nothing has changed");
    // The connection ends after any `BYE`.
    assert_eq!(client.status(Bye, 1, &[]), BadRequest);
    assert!(client.rest().is_empty());
}

/// Bytes that are no frame of this protocol end the connection, and nobody else's.
#[test]
fn bytes_that_are_no_frame_end_the_connection() {
    let parent = on_disk();
    let server = start(options(parent.path()));
    let mut other = Client::open(&server, 1);
    let changed = |at: usize, value: u8| {
        let mut client = Client::connect(server.address());
        let mut frame = client.frame(OrderEntryOperation::Hello as u8, 0, &[]);
        frame[at] = value;
        client.stream.write_all(&frame).unwrap();
        client.rest()
    };
    // The magic number, the version, and the highest byte of a length of 4 GB.
    for (at, value) in [(0, b'G'), (4, 2), (27, 0xFF), (26, 1)] {
        assert!(changed(at, value).is_empty(), "byte {at}");
    }
    let mut client = Client::connect(server.address());
    client.stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    assert!(client.rest().is_empty());
    assert_eq!(other.violated(), [0; 0]);
}

/// Requests that arrive in pieces, or several at once, have one reply each, in order.
#[test]
fn requests_are_found_however_they_arrive() {
    let parent = on_disk();
    let server = start(options(parent.path()));
    let mut client = Client::open(&server, 0);
    let mut user = User::new(0, &client.hello());
    let inputs: Vec<_> = TransactionType::ALL.map(|kind| (kind, user.input_of(kind))).into();
    let mut many = Vec::new();
    for (_, input) in &inputs {
        let (operation, payload) = request(input);
        many.extend(client.frame(operation as u8, 0, &payload));
    }
    for piece in many.chunks(50) {
        client.stream.write_all(piece).unwrap();
    }
    client.stream.write_all(&many).unwrap();
    client.stream.shutdown(std::net::Shutdown::Write).unwrap();
    for (kind, input) in inputs.iter().chain(&inputs) {
        let (header, payload) = client.receive();
        assert_eq!((header.operation, header.status), (OrderEntryOperation::of_transaction(*kind) as u8, 0));
        assert_eq!(read_output(*kind, &payload).unwrap().kind(), input.kind());
    }
    assert!(client.rest().is_empty());
}

/// With a status nothing has been performed; any other fault comes after the transaction.
#[test]
fn faults_concern_replies_and_statuses_the_transaction_too() {
    for fault in &FAULTS {
        let parent = on_disk();
        let server = faulty(parent.path(), fault.name);
        let mut client = Client::open(&server, 0);
        let before = client.totals();
        let data = client.hello();
        let mut user = User::new(0, &data);
        let mut order = user.input_of(TransactionType::NewOrder);
        while order.kind() != TransactionKind::NewOrder {
            order = user.input_of(TransactionType::NewOrder);
        }
        client.send_input(&order);
        let is_status = match fault.name {
            "busy" | "storage-failed" => {
                assert_eq!(u32::from(client.receive().0.status), fault.code);
                true
            }
            "stall" => {
                client.stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
                assert!(client.stream.read(&mut [0]).is_err(), "no reply, and no end");
                false
            }
            "closed-session" | "short-reply" => {
                let sent = if fault.name == "short-reply" { REPLY_BYTES / 2 } else { 0 };
                assert_eq!(client.rest().len(), sent);
                false
            }
            "garbage" => {
                let mut start = [0; REPLY_BYTES];
                client.stream.read_exact(&mut start).unwrap();
                assert_eq!(start, [b'?'; REPLY_BYTES]);
                false
            }
            name => {
                assert_reply(&mut client, name);
                false
            }
        };
        let mut observer = Client::open(&server, 1);
        // A stalled session gets no reply, but its order is placed before anything behind it in the queue.
        observer.status(OrderEntryOperation::Load, 77, &[]);
        let placed = observer.totals().placed_since(&before);
        assert_eq!(placed, i64::from(!is_status), "{}", fault.name);
    }
}

fn assert_reply(client: &mut Client, fault: &str) {
    let (header, payload) = client.receive();
    let output = read_output(TransactionType::NewOrder, &payload);
    let is_right_checksum = header.checksum == Crc32c::of(&payload);
    assert_eq!(is_right_checksum, fault != "wrong-checksum", "{fault}");
    match fault {
        "short-payload" => assert!(matches!(output, Err(WireError::Truncated(_))), "{output:?}"),
        "long-payload" => assert_eq!(output, Err(WireError::Trailing(payload.len() - 1))),
        _ => assert!(output.is_ok(), "{fault}: {output:?}"),
    }
    let (_, service) = header.stamps.times().unwrap();
    match fault {
        "wrong-times" => assert!(1 << 40 <= service),
        "slow" => assert!(20_000_000 <= service),
        "trailing-byte" => client.stream.read_exact(&mut [0]).unwrap(),
        _ => {}
    }
}

/// The example of `docs/protocols/order-entry.md`.
#[test]
fn a_request_and_its_reply_have_these_bytes() {
    let delivery = DeliveryInput { warehouse: 3, carrier: 10 };
    let (operation, payload) = request(&TransactionInput::Delivery(delivery));
    let header = RequestHeader { operation: operation as u8, number: 7, ..RequestHeader::default() };
    let header = header.with_payload(&payload);
    let mut orders = [None; 10];
    orders[1] = Some(22);
    let mut output = Vec::new();
    write_output(&TransactionOutput::Delivery(DeliveryOutput { orders }), &mut output);
    let mut reply = header.reply(0, 0).with_payload(&output);
    reply.stamps = ServerStamps { received: 0x0102, started: 0x0203, ended: 0x0304 };
    let page: String = PAGE.split_whitespace().collect();
    let frames =
        [[&header.to_bytes(FORMAT)[..], &payload].concat(), [&reply.to_bytes(FORMAT)[..], &output].concat()];
    for frame in frames {
        let hex: String = frame.iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(page.contains(&hex), "`docs/protocols/order-entry.md` lacks `{hex}`");
    }
}

#[test]
fn the_page_lists_every_fault() {
    let rows = FAULTS.iter().map(|fault| format!("| `{}` | {} |\n", fault.name, fault.does));
    let table = format!("| `--fault` | the server |\n|---|---|\n{}", rows.collect::<String>());
    assert!(PAGE.ends_with(&table), "`docs/protocols/order-entry.md` lacks this table:\n{table}");
}

#[test]
fn mistakes_in_faults_have_a_remedy() {
    let refused = |item| FrameFaultPlan::parse(&FAULTS, [item]).unwrap_err().to_string();
    assert_eq!(refused("gabage"), "unknown fault `gabage`\nhint: did you mean `garbage`?");
}
