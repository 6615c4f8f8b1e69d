//! Payloads byte for byte, values that come back as they were written, and bytes of strangers.

use orders::wire::{
    CHECK_ROWS_MAX, ConditionResult, DataDescription, ExpectedData, OrderEntryOperation, OrderEntryStatus,
    OrderServerStats, WireError, check_argument, checked_condition, read_input, read_output, read_totals,
    write_input, write_output, write_totals,
};
use orders::{
    BasisPoints, Cents, ConsistencyCondition, Credit, CustomerDetails, CustomerSelector, DataScale,
    DeliveryInput, DeliveryOutput, DistrictKey, InputGenerator, NewOrderInput, NewOrderOutput, OrderDetails,
    OrderStatusInput, OrderStatusLine, OrderStatusOutput, OrderTotals, OrderedItem, OrderedItems,
    PaymentInput, PaymentOutput, PlacedOrder, PostalAddress, PricedLine, RolledBackOrder, RunConstants,
    ShortText, StockLevelInput, StockLevelOutput, Terminal, TransactionInput, TransactionOutput,
    TransactionType,
};
use proptest::prelude::*;
use units::{Rng, StreamPurpose, WallTime};

const PAGE: &str = include_str!("../../../docs/protocols/order-entry.md");

const DISTRICT: DistrictKey = DistrictKey { warehouse: 3, district: 7 };

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Asserts that the page of the protocol has these bytes as an example.
#[track_caller]
fn assert_documented(bytes: &str) {
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    assert!(squeezed(PAGE).contains(&squeezed(bytes)), "`docs/protocols/order-entry.md` lacks `{bytes}`");
}

fn text<const MAX: usize>(text: &str) -> ShortText<MAX> {
    ShortText::new(text).unwrap()
}

fn new_order() -> TransactionInput {
    let line = |item, supply_warehouse, quantity| OrderedItem { item, supply_warehouse, quantity };
    let items = OrderedItems::new(&[line(500, 3, 4), line(1001, 2, 10)]).unwrap();
    TransactionInput::NewOrder(NewOrderInput {
        district: DISTRICT,
        customer: 29,
        items,
        is_rolled_back: true,
    })
}

fn input_bytes(input: &TransactionInput) -> Vec<u8> {
    let mut payload = Vec::new();
    write_input(input, &mut payload);
    payload
}

fn output_bytes(output: &TransactionOutput) -> Vec<u8> {
    let mut payload = Vec::new();
    write_output(output, &mut payload);
    payload
}

/// The examples of `docs/protocols/order-entry.md`.
#[test]
fn inputs_have_these_bytes() {
    let customer_district = DistrictKey { warehouse: 4, district: 1 };
    let by_name = CustomerSelector::LastName(371);
    let cases = [
        (
            new_order(),
            "03000000 07000000 1d000000 01 02 f4010000 03000000 04000000 e9030000 02000000 0a000000",
        ),
        (
            TransactionInput::Payment(PaymentInput {
                district: DISTRICT,
                customer_district,
                customer: by_name,
                amount: Cents(123_456),
            }),
            "03000000 07000000 04000000 01000000 01 73010000 40e2010000000000",
        ),
        (
            TransactionInput::OrderStatus(OrderStatusInput {
                district: DISTRICT,
                customer: CustomerSelector::Number(29),
            }),
            "03000000 07000000 00 1d000000",
        ),
        (TransactionInput::Delivery(DeliveryInput { warehouse: 3, carrier: 10 }), "03000000 0a000000"),
        (
            TransactionInput::StockLevel(StockLevelInput { district: DISTRICT, threshold: 15 }),
            "03000000 07000000 0f000000",
        ),
    ];
    for ((input, expected), kind) in cases.into_iter().zip(TransactionType::ALL) {
        let bytes = input_bytes(&input);
        assert_eq!(hex(&bytes), expected.replace(' ', ""), "{kind:?}");
        assert_documented(expected);
        assert_eq!(read_input(kind, &bytes), Ok(input));
    }
}

fn customer() -> CustomerDetails {
    CustomerDetails {
        id: 29,
        first: text("Ada"),
        middle: text("OE"),
        last: text("BARPRESBAR"),
        balance: Cents(-1_000),
    }
}

fn address(street_1: &str) -> PostalAddress {
    let state = text("MA");
    let zip = text("123411111");
    PostalAddress { street_1: text(street_1), street_2: text("b"), city: text("c"), state, zip }
}

/// An output of each type, and of those with a choice the other one.
fn outputs() -> Vec<(TransactionType, TransactionOutput)> {
    let line = PricedLine {
        name: text("bolt"),
        in_stock: 91,
        is_original: true,
        price: Cents(250),
        amount: Cents(1_000),
    };
    let placed = PlacedOrder {
        order: 31,
        entered: WallTime(1_000),
        customer_last: text("BARBARBAR"),
        credit: Credit::Bad,
        discount: BasisPoints(500),
        warehouse_tax: BasisPoints(100),
        district_tax: BasisPoints(200),
        lines: vec![line],
        total: Cents(979),
    };
    let rolled_back = RolledBackOrder {
        order: 31,
        customer_last: text("BARBARBAR"),
        credit: Credit::Good,
        missing_item: 1001,
    };
    let payment = |data| {
        TransactionOutput::Payment(Box::new(PaymentOutput {
            paid: WallTime(1_000),
            warehouse: address("w"),
            district: address("d"),
            customer: customer(),
            address: address("a"),
            phone: text("0123456789012345"),
            since: WallTime(-1),
            credit: Credit::Bad,
            credit_limit: Cents(5_000_000),
            discount: BasisPoints(1),
            data,
        }))
    };
    let line = |delivered| OrderStatusLine {
        item: 500,
        supply_warehouse: 3,
        quantity: 5,
        amount: Cents(0),
        delivered,
    };
    let order = OrderDetails {
        id: 30,
        entered: WallTime(900),
        carrier: Some(10),
        lines: vec![line(Some(WallTime(950))), line(None)],
    };
    let status = |order| TransactionOutput::OrderStatus(OrderStatusOutput { customer: customer(), order });
    let mut orders = [None; 10];
    orders[1] = Some(22);
    vec![
        (TransactionType::NewOrder, TransactionOutput::NewOrder(NewOrderOutput::Placed(placed))),
        (TransactionType::NewOrder, TransactionOutput::NewOrder(NewOrderOutput::RolledBack(rolled_back))),
        (TransactionType::Payment, payment(Some(text("29 7 3 4 1 12.34 | é")))),
        (TransactionType::Payment, payment(None)),
        (TransactionType::OrderStatus, status(Some(order))),
        (TransactionType::OrderStatus, status(None)),
        (TransactionType::Delivery, TransactionOutput::Delivery(DeliveryOutput { orders })),
        (TransactionType::StockLevel, TransactionOutput::StockLevel(StockLevelOutput { n_low: 12 })),
    ]
}

/// The examples of `docs/protocols/order-entry.md`.
#[test]
fn outputs_have_these_bytes() {
    let expected = [
        "01 1f000000 e803000000000000 0900 424152424152424152 01 f401 6400 c800 01 \
         0400 626f6c74 5b00000000000000 01 fa00000000000000 e803000000000000 d303000000000000",
        "00 1f000000 0900 424152424152424152 00 e9030000",
        "e803000000000000 0100 77 0100 62 0100 63 0200 4d41 0900 313233343131313131 \
         0100 64 0100 62 0100 63 0200 4d41 0900 313233343131313131 \
         1d000000 0300 416461 0200 4f45 0a00 42415250524553424152 18fcffffffffffff \
         0100 61 0100 62 0100 63 0200 4d41 0900 313233343131313131 \
         1000 30313233343536373839303132333435 ffffffffffffffff 01 404b4c0000000000 0100 \
         01 1500 32392037203320342031 2031322e3334207c20c3a9",
        "e803000000000000 0100 77 0100 62 0100 63 0200 4d41 0900 313233343131313131 \
         0100 64 0100 62 0100 63 0200 4d41 0900 313233343131313131 \
         1d000000 0300 416461 0200 4f45 0a00 42415250524553424152 18fcffffffffffff \
         0100 61 0100 62 0100 63 0200 4d41 0900 313233343131313131 \
         1000 30313233343536373839303132333435 ffffffffffffffff 01 404b4c0000000000 0100 00",
        "1d000000 0300 416461 0200 4f45 0a00 42415250524553424152 18fcffffffffffff \
         01 1e000000 8403000000000000 01 0a000000 02 \
         f4010000 03000000 05000000 0000000000000000 01 b603000000000000 \
         f4010000 03000000 05000000 0000000000000000 00",
        "1d000000 0300 416461 0200 4f45 0a00 42415250524553424152 18fcffffffffffff 00",
        "00 01 16000000 00 00 00 00 00 00 00 00",
        "0c000000",
    ];
    for ((kind, output), expected) in outputs().into_iter().zip(expected) {
        let bytes = output_bytes(&output);
        assert_eq!(hex(&bytes), expected.replace(' ', ""), "{kind:?}");
        assert_eq!(read_output(kind, &bytes), Ok(output));
    }
    for index in [0, 1, 4, 6, 7] {
        assert_documented(expected[index]);
    }
}

#[test]
fn the_data_of_a_server_have_these_bytes() {
    let expected = ExpectedData { warehouses: 800, divisor: 100 };
    let mut payload = Vec::new();
    expected.write(&mut payload);
    assert_eq!(hex(&payload), "2003000064000000");
    assert_eq!(ExpectedData::read(&payload), Ok(Some(expected)));
    assert_eq!(ExpectedData::read(&[]), Ok(None));
    let data = DataDescription {
        warehouses: 800,
        divisor: 100,
        c_load: 5,
        format: 1,
        seed: 42,
        loaded_at: WallTime(1_000),
        readers: 2,
        is_untouched: true,
        file_bytes: 1 << 20,
        rows: [1, 2, 3, 4, 5, 6, 7, 8, 9],
        database: text("SQLite"),
    };
    let mut payload = Vec::new();
    data.write(&mut payload);
    assert_eq!(
        hex(&payload),
        "20030000 64000000 05000000 01000000 2a00000000000000 e803000000000000 02000000 01 0000100000000000 \
         0100000000000000 0200000000000000 0300000000000000 0400000000000000 0500000000000000 \
         0600000000000000 0700000000000000 0800000000000000 0900000000000000 0600 53514c697465"
            .replace(' ', "")
    );
    assert_eq!(DataDescription::read(&payload), Ok(data));
}

/// A description leads to the population whose constant it states, and to none if this build makes another one.
#[test]
fn a_description_has_the_population_of_its_seed() {
    let scale = DataScale::new(2, 1).unwrap();
    let population = orders::Population::new(9, scale, WallTime(5));
    let mut data = DataDescription {
        warehouses: 2,
        divisor: 1,
        c_load: population.c_load(),
        format: 1,
        seed: 9,
        loaded_at: WallTime(5),
        readers: 1,
        is_untouched: false,
        file_bytes: 0,
        rows: [0; 9],
        database: ShortText::default(),
    };
    assert_eq!(data.population(), Some(population));
    data.c_load += 1;
    assert_eq!(data.population(), None);
    (data.c_load, data.divisor) = (population.c_load(), 3);
    assert_eq!(data.population(), None);
}

#[test]
fn checks_have_these_bytes() {
    let result = ConditionResult { n_violations: 2, rows: vec!["w_id 1".into()] };
    let mut payload = Vec::new();
    result.write(&mut payload);
    assert_eq!(hex(&payload), "0200000000000000010600775f69642031");
    assert_eq!(ConditionResult::read(&payload), Ok(result));
    let totals = OrderTotals { orders: 1, new_orders: 2, next_orders: 3 };
    let mut payload = Vec::new();
    write_totals(&totals, &mut payload);
    assert_eq!(hex(&payload), "010000000000000002000000000000000300000000000000");
    assert_eq!(read_totals(&payload), Ok(totals));
    assert_eq!(checked_condition(0), None);
    assert_eq!(checked_condition(13), None);
    for condition in ConsistencyCondition::ALL {
        assert_eq!(checked_condition(check_argument(condition)), Some(condition));
    }
}

/// The payload stays bounded for any number of rows of any length.
#[test]
fn rows_of_a_check_are_bounded() {
    let result = ConditionResult { n_violations: 1000, rows: vec!["é".repeat(400); 1000] };
    let mut payload = Vec::new();
    result.write(&mut payload);
    let read = ConditionResult::read(&payload).unwrap();
    assert_eq!((read.n_violations, read.rows.len()), (1000, CHECK_ROWS_MAX));
    assert!(read.rows.iter().all(|row| *row == "é".repeat(150)));
    assert!(payload.len() < orders::wire::PAYLOAD_MAX as usize);
}

#[test]
fn the_load_of_a_server_has_these_bytes() {
    let stats = OrderServerStats {
        threads: 3,
        busy_threads: 2,
        queued: 12,
        queue_max: 1024,
        connections: 61,
        queued_writes: 10,
        performed: 0x0102_0304_0506,
        refused: 7,
        lock_waits: 8,
        checkpoints: 9,
        checkpoint_pages: 10,
    };
    let mut payload = Vec::new();
    stats.write(&mut payload);
    assert_eq!(
        hex(&payload),
        "03000000 02000000 0c000000 00040000 3d000000 0a000000 0605040302010000 0700000000000000 \
         0800000000000000 0900000000000000 0a00000000000000"
            .replace(' ', "")
    );
    assert_eq!(OrderServerStats::read(&payload), Ok(stats));
    assert_eq!(OrderServerStats::read(&payload[1..]), Err(WireError::Truncated(56)));
}

#[test]
fn numbers_name_operations_and_statuses() {
    for operation in OrderEntryOperation::ALL {
        assert_eq!(OrderEntryOperation::from_number(operation as u8), Some(operation));
    }
    for number in [0, 11, 255] {
        assert_eq!(OrderEntryOperation::from_number(number), None);
    }
    for status in OrderEntryStatus::ALL {
        assert_eq!(OrderEntryStatus::from_number(status as u16), Some(status));
    }
    assert_eq!(OrderEntryStatus::from_number(12), None);
    for kind in TransactionType::ALL {
        assert_eq!(OrderEntryOperation::of_transaction(kind).transaction(), Some(kind));
    }
    assert_eq!(OrderEntryOperation::Check.transaction(), None);
}

#[test]
fn payloads_of_another_form_are_refused() {
    let bytes = input_bytes(&new_order());
    let read = |bytes: &[u8]| read_input(TransactionType::NewOrder, bytes);
    for end in 0..bytes.len() {
        assert!(matches!(read(&bytes[..end]), Err(WireError::Truncated(_))), "{end}");
    }
    assert_eq!(read(&[&bytes[..], &[0]].concat()), Err(WireError::Trailing(bytes.len())));
    let mut flag = bytes.clone();
    flag[12] = 2;
    assert_eq!(read(&flag), Err(WireError::Value(12)));
    let mut lines = bytes[..14].to_vec();
    lines[13] = 16;
    lines.extend([0; 16 * 12]);
    assert_eq!(read(&lines), Err(WireError::Value(13)));
    // A text of a byte that is no UTF-8, and one that is longer than the schema allows.
    let bytes = output_bytes(&outputs()[1].1);
    let read = |bytes: &[u8]| read_output(TransactionType::NewOrder, bytes);
    let mut wrong = bytes.clone();
    wrong[7] = 0xFF;
    assert_eq!(read(&wrong), Err(WireError::Value(5)));
    let long = [&bytes[..5], &[17, 0], &[b'x'; 17], &[0; 5]].concat();
    assert_eq!(read(&long), Err(WireError::Value(5)));
}

#[test]
fn inputs_beyond_the_data_are_told_from_those_within() {
    let scale = DataScale::new(3, 100).unwrap();
    assert!(new_order().is_within(&scale));
    assert!(!new_order().is_within(&DataScale::new(2, 100).unwrap()));
    let is_within = |line: OrderedItem| {
        let items = OrderedItems::new(&[line]).unwrap();
        let input = NewOrderInput { district: DISTRICT, customer: 0, items, is_rolled_back: false };
        TransactionInput::NewOrder(input).is_within(&scale)
    };
    let line = OrderedItem { item: u32::MAX, supply_warehouse: 1, quantity: 10 };
    assert!(is_within(line));
    assert!(
        !is_within(OrderedItem { quantity: 0, ..line }) && !is_within(OrderedItem { quantity: 11, ..line })
    );
    assert!(!is_within(OrderedItem { supply_warehouse: 0, ..line }));
    let payment = |amount, district| {
        let customer_district = DistrictKey { warehouse: 1, district };
        let customer = CustomerSelector::Number(1);
        let amount = Cents(amount);
        TransactionInput::Payment(PaymentInput { district: DISTRICT, customer_district, customer, amount })
            .is_within(&scale)
    };
    assert!(payment(1, 1) && payment(500_000, 10));
    assert!(!payment(0, 1) && !payment(-5, 1) && !payment(500_001, 1) && !payment(1, 11) && !payment(1, 0));
    let carrier =
        |carrier| TransactionInput::Delivery(DeliveryInput { warehouse: 3, carrier }).is_within(&scale);
    assert!(carrier(10) && !carrier(11) && !carrier(0));
}

proptest! {
    /// Inputs that terminals draw come back, and are within the data.
    #[test]
    fn inputs_come_back_as_they_were_written(seed: u64, warehouses in 1u32..20, user in 0u32..200) {
        let scale = DataScale::new(warehouses, 100).unwrap();
        let mut rng = Rng::new(seed, StreamPurpose::Data, 0);
        let generator = InputGenerator::new(&scale, &RunConstants::draw(&scale, 3, &mut rng));
        let terminal = Terminal::of_user(user, &scale);
        for kind in TransactionType::ALL {
            let input = generator.input(kind, &terminal, &mut rng);
            prop_assert!(input.is_within(&scale));
            prop_assert_eq!(read_input(kind, &input_bytes(&input)), Ok(input));
        }
    }

    /// Any bytes that are read as a value are written as they were.
    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(0u8..4, 0..200)) {
        for kind in TransactionType::ALL {
            if let Ok(input) = read_input(kind, &bytes) {
                prop_assert_eq!(&input_bytes(&input), &bytes);
            }
            if let Ok(output) = read_output(kind, &bytes) {
                prop_assert_eq!(&output_bytes(&output), &bytes);
            }
        }
        let mut written = Vec::new();
        if let Ok(data) = DataDescription::read(&bytes) {
            data.write(&mut written);
            prop_assert_eq!(&written, &bytes);
        }
    }
}
