//! The rows before the first transaction.
//!
//! Each table has a random stream of its own per warehouse or district, so that rows do not depend on the order in which
//! tables are loaded, on the number of threads that load them, or on the number of other warehouses.
//!
//! Source: TPC-C revision 5.11, clause 4.3.3.

mod rows;

use units::{Rng, StreamPurpose, WallTime};

pub use rows::{
    Credit, CustomerRow, DistrictKey, DistrictRow, HistoryRow, ItemRow, NewOrderRow, OrderLineRow, OrderRow,
    PostalAddress, StockRow, WarehouseRow,
};

use crate::random::{ORIGINAL, is_percent, permutation, uniform};
use crate::run_constants::c_load;
use crate::schema::OrderTable;
use crate::{BasisPoints, Cents, DISTRICTS, DataScale, LINES_MAX, LINES_MIN, ShortText, last_name};

/// The number of the stream from which C-Load is drawn; the others have tables, warehouses and districts.
const C_LOAD_STREAM: u64 = u64::MAX;

/// The payment that each customer has made; what districts and warehouses have received is its multiple.
const FIRST_PAYMENT: Cents = Cents::from_dollars(10);

/// The quantity of each line of the first orders.
const FIRST_QUANTITY: u32 = 5;

/// The rows of all tables before the first transaction: a function of seed, size and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Population {
    seed: u64,
    scale: DataScale,
    loaded_at: WallTime,
}

impl Population {
    /// Makes a population whose rows bear the time of loading.
    pub fn new(seed: u64, scale: DataScale, loaded_at: WallTime) -> Population {
        Population { seed, scale, loaded_at }
    }

    /// Returns the seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the size.
    pub fn scale(&self) -> &DataScale {
        &self.scale
    }

    /// Returns the time of loading.
    pub fn loaded_at(&self) -> WallTime {
        self.loaded_at
    }

    /// Returns C-Load, the constant of NURand in the last names of customers.
    pub fn c_load(&self) -> u32 {
        c_load(&self.scale, &mut Rng::new(self.seed, StreamPurpose::Content, C_LOAD_STREAM))
    }

    /// Returns the keys of the ten districts of a warehouse.
    pub fn district_keys(&self, warehouse: u32) -> impl Iterator<Item = DistrictKey> + use<> {
        (1..=DISTRICTS).map(move |district| DistrictKey { warehouse, district })
    }

    /// Returns all items, by number.
    pub fn items(&self) -> impl Iterator<Item = ItemRow> + use<> {
        let mut rng = self.stream(OrderTable::Item, DistrictKey { warehouse: 0, district: 0 });
        (1..=self.scale.items()).map(move |id| ItemRow {
            id,
            image: uniform(&mut rng, 1, 10_000),
            name: ShortText::alphanumeric(&mut rng, 14..=24),
            price: Cents(i64::from(uniform(&mut rng, 100, 10_000))),
            data: marked_data(&mut rng),
        })
    }

    /// Returns a warehouse, by its number from 1.
    pub fn warehouse(&self, id: u32) -> WarehouseRow {
        let rng = &mut self.stream(OrderTable::Warehouse, DistrictKey { warehouse: id, district: 0 });
        WarehouseRow {
            id,
            name: ShortText::alphanumeric(rng, 6..=10),
            address: address(rng),
            tax: rate(rng, 2000),
            ytd: self.first_payments() * DISTRICTS,
        }
    }

    /// Returns the stock of a warehouse, by item.
    pub fn stock(&self, warehouse: u32) -> impl Iterator<Item = StockRow> + use<> {
        let mut rng = self.stream(OrderTable::Stock, DistrictKey { warehouse, district: 0 });
        (1..=self.scale.items()).map(move |item| StockRow {
            warehouse,
            item,
            quantity: uniform(&mut rng, 10, 100),
            district_info: std::array::from_fn(|_| ShortText::alphanumeric(&mut rng, 24..=24)),
            data: marked_data(&mut rng),
        })
    }

    /// Returns a district.
    pub fn district(&self, key: DistrictKey) -> DistrictRow {
        let rng = &mut self.stream(OrderTable::District, key);
        DistrictRow {
            key,
            name: ShortText::alphanumeric(rng, 6..=10),
            address: address(rng),
            tax: rate(rng, 2000),
            ytd: self.first_payments(),
            next_order: self.scale.customers_per_district() + 1,
        }
    }

    /// Returns the customers of a district, by number.
    pub fn customers(&self, district: DistrictKey) -> impl Iterator<Item = CustomerRow> + use<> {
        let mut rng = self.stream(OrderTable::Customer, district);
        let since = self.loaded_at;
        let n_names = self.scale.n_last_names();
        let names = self.scale.last_names(self.c_load());
        (1..=self.scale.customers_per_district()).map(move |id| {
            let rng = &mut rng;
            CustomerRow {
                district,
                id,
                first: ShortText::alphanumeric(rng, 8..=16),
                middle: ShortText::new("OE").expect("it is short"),
                last: last_name(if id <= n_names { id - 1 } else { names.draw(rng) }),
                address: address(rng),
                phone: ShortText::digits(rng, 16..=16),
                since,
                credit: if is_percent(rng, 10) { Credit::Bad } else { Credit::Good },
                credit_limit: Cents::from_dollars(50_000),
                discount: rate(rng, 5000),
                balance: -FIRST_PAYMENT,
                ytd_payment: FIRST_PAYMENT,
                n_payments: 1,
                n_deliveries: 0,
                data: ShortText::alphanumeric(rng, 300..=500),
            }
        })
    }

    /// Returns the payments of the customers of a district, by customer.
    pub fn history(&self, district: DistrictKey) -> impl Iterator<Item = HistoryRow> + use<> {
        let mut rng = self.stream(OrderTable::History, district);
        let date = self.loaded_at;
        (1..=self.scale.customers_per_district()).map(move |customer| HistoryRow {
            customer_district: district,
            customer,
            district,
            date,
            amount: FIRST_PAYMENT,
            data: ShortText::alphanumeric(&mut rng, 12..=24),
        })
    }

    /// Returns the orders of a district, by number.
    pub fn orders(&self, district: DistrictKey) -> impl Iterator<Item = OrderRow> + use<> {
        let mut rng = self.stream(OrderTable::Orders, district);
        let entered = self.loaded_at;
        let n_delivered = self.scale.delivered_per_district();
        let customers = permutation(&mut rng, self.scale.customers_per_district());
        (1..).zip(customers).map(move |(id, customer)| OrderRow {
            district,
            id,
            customer,
            entered,
            carrier: (id <= n_delivered).then(|| uniform(&mut rng, 1, 10)),
            n_lines: uniform(&mut rng, LINES_MIN, LINES_MAX),
            is_local: true,
        })
    }

    /// Returns the lines of the orders of a district, by order and number.
    pub fn order_lines(&self, district: DistrictKey) -> impl Iterator<Item = OrderLineRow> + use<> {
        let mut rng = self.stream(OrderTable::OrderLine, district);
        let n_items = self.scale.items();
        let lines =
            self.orders(district).flat_map(|order| (1..=order.n_lines).map(move |line| (order, line)));
        lines.map(move |(order, number)| {
            let is_delivered = order.carrier.is_some();
            OrderLineRow {
                district,
                order: order.id,
                number,
                item: uniform(&mut rng, 1, n_items),
                supply_warehouse: district.warehouse,
                delivered: is_delivered.then_some(order.entered),
                quantity: FIRST_QUANTITY,
                amount: if is_delivered { Cents(0) } else { Cents(i64::from(uniform(&mut rng, 1, 999_999))) },
                district_info: ShortText::alphanumeric(&mut rng, 24..=24),
            }
        })
    }

    /// Returns the orders of a district that are not delivered yet, by number.
    pub fn new_orders(&self, district: DistrictKey) -> impl Iterator<Item = NewOrderRow> + use<> {
        let numbers = self.scale.delivered_per_district() + 1..=self.scale.customers_per_district();
        numbers.map(move |order| NewOrderRow { district, order })
    }

    /// Returns the sum of the payments of a district's customers.
    fn first_payments(&self) -> Cents {
        FIRST_PAYMENT * self.scale.customers_per_district()
    }

    /// Makes the stream of a table in a warehouse or district; zeros where the table has none.
    fn stream(&self, table: OrderTable, key: DistrictKey) -> Rng {
        let index = (table as u64) << 48 | u64::from(key.warehouse) << 8 | u64::from(key.district);
        Rng::new(self.seed, StreamPurpose::Content, index)
    }
}

/// Draws a rate from 0 to the given one.
fn rate(rng: &mut Rng, most: u16) -> BasisPoints {
    BasisPoints(u16::try_from(uniform(rng, 0, u32::from(most))).expect("it is at most a u16"))
}

fn address(rng: &mut Rng) -> PostalAddress {
    let [street_1, street_2, city] = std::array::from_fn(|_| ShortText::alphanumeric(rng, 10..=20));
    let state = ShortText::capitals(rng, 2..=2);
    let digits = ShortText::<4>::digits(rng, 4..=4);
    let zip = ShortText::new(&format!("{digits}11111")).expect("it has nine digits");
    PostalAddress { street_1, street_2, city, state, zip }
}

/// Draws the data of an item or stock, of which a tenth is marked as original.
fn marked_data(rng: &mut Rng) -> ShortText<50> {
    let mut data = ShortText::alphanumeric(rng, 26..=50);
    if is_percent(rng, 10) {
        data.overwrite(rng, ORIGINAL);
    }
    data
}
