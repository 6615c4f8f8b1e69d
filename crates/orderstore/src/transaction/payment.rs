//! `Payment`: a customer pays, and warehouse and district have received it.
//!
//! The warehouse, which all its terminals pay to, is written last; with the one writer of SQLite this changes nothing, but
//! other databases hold its lock for a shorter time.

use orders::{PaymentInput, PaymentOutput, PostalAddress, TransactionOutput, bad_credit_data, history_data};
use rusqlite::{CachedStatement, Connection, params};
use units::WallTime;

use super::customer::{CustomerSelection, customer_name};
use super::{TransactionEnd, district_name, existing, failed};
use crate::columns::Columns;
use crate::error::StoreError;

pub(crate) struct Payment<'c> {
    selection: CustomerSelection<'c>,
    customer: CachedStatement<'c>,
    data: CachedStatement<'c>,
    district: CachedStatement<'c>,
    warehouse: CachedStatement<'c>,
    history: CachedStatement<'c>,
}

impl<'c> Payment<'c> {
    pub(crate) fn new(database: &'c Connection) -> rusqlite::Result<Payment<'c>> {
        Ok(Payment {
            selection: CustomerSelection::new(database)?,
            customer: database.prepare_cached(
                "UPDATE customer SET c_balance = c_balance - ?4, c_ytd_payment = c_ytd_payment + ?4,
                 c_payment_cnt = c_payment_cnt + 1 WHERE c_w_id = ?1 AND c_d_id = ?2 AND c_id = ?3
                 RETURNING c_first, c_middle, c_last, c_balance, c_street_1, c_street_2, c_city, c_state, c_zip,
                 c_phone, c_since, c_credit, c_credit_lim, c_discount, CASE c_credit WHEN 'BC' THEN c_data END",
            )?,
            data: database
                .prepare_cached("UPDATE customer SET c_data = ?4 WHERE c_w_id = ?1 AND c_d_id = ?2 AND c_id = ?3")?,
            district: database.prepare_cached(
                "UPDATE district SET d_ytd = d_ytd + ?3 WHERE d_w_id = ?1 AND d_id = ?2
                 RETURNING d_name, d_street_1, d_street_2, d_city, d_state, d_zip",
            )?,
            warehouse: database.prepare_cached(
                "UPDATE warehouse SET w_ytd = w_ytd + ?2 WHERE w_id = ?1
                 RETURNING w_name, w_street_1, w_street_2, w_city, w_state, w_zip",
            )?,
            history: database.prepare_cached("INSERT INTO history VALUES (?, ?, ?, ?, ?, ?, ?, ?)")?,
        })
    }

    pub(crate) fn perform(
        &mut self,
        input: &PaymentInput,
        now: WallTime,
    ) -> Result<TransactionEnd, StoreError> {
        let of = input.customer_district;
        let number = self.selection.number(of, input.customer)?;
        let mut output = self.pay(input, number, now)?;
        if let Some(data) = &mut output.data {
            *data = bad_credit_data(input, number, data.as_str());
            self.data.execute(params![of.warehouse, of.district, number, data.as_str()]).map_err(failed)?;
        }

        let to = input.district;
        let amount = input.amount.0;
        let district = self.district.query_row(params![to.warehouse, to.district, amount], name_and_address);
        let (district_name, district) = existing(district, || district_name(to))?;
        let warehouse = self.warehouse.query_row(params![to.warehouse, amount], name_and_address);
        let (warehouse_name, warehouse) = existing(warehouse, || format!("warehouse {}", to.warehouse))?;
        let data = history_data(&warehouse_name, &district_name);
        self.history
            .execute(params![
                of.warehouse,
                of.district,
                number,
                to.warehouse,
                to.district,
                now.0,
                amount,
                data
            ])
            .map_err(failed)?;
        (output.district, output.warehouse) = (district, warehouse);
        Ok(TransactionEnd::Commit(TransactionOutput::Payment(Box::new(output))))
    }

    /// Changes the customer, and returns the output without the addresses of warehouse and district.
    fn pay(&mut self, input: &PaymentInput, number: u32, now: WallTime) -> Result<PaymentOutput, StoreError> {
        let of = input.customer_district;
        let parameters = params![of.warehouse, of.district, number, input.amount.0];
        let customer = self.customer.query_row(parameters, |row| {
            let mut columns = Columns::of(row);
            Ok(PaymentOutput {
                paid: now,
                warehouse: PostalAddress::default(),
                district: PostalAddress::default(),
                customer: columns.customer(number)?,
                address: columns.address()?,
                phone: columns.text()?,
                since: columns.time()?,
                credit: columns.credit()?,
                credit_limit: columns.cents()?,
                discount: columns.rate()?,
                data: columns.optional_text()?,
            })
        });
        existing(customer, || customer_name(of, number))
    }
}

fn name_and_address(row: &rusqlite::Row<'_>) -> rusqlite::Result<(String, PostalAddress)> {
    let mut columns = Columns::of(row);
    Ok((columns.value()?, columns.address()?))
}
