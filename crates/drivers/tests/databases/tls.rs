//! Encrypted connections.

use drivers::Trust;
use drivers::database::{DatabaseError, DatabaseServer};
use drivers::orders::{DatabaseContext, DatabaseControl, DatabaseDriver};
use engine::Driver;
use model::{DatabaseProduct, OrderSql, Outcome};
use orders::TransactionType;
use units::{Clock, RealClock};

use super::fixture::{Database, Inputs, PRODUCTS, tls, workload};
use crate::common::block_on;

/// Returns the number of encrypted sessions of terminals, as far as the server tells.
fn n_encrypted(database: &Database) -> u32 {
    let sql = match database.product {
        DatabaseProduct::PostgreSql => {
            "SELECT COUNT(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
             WHERE ssl AND application_name = 'plimsoll'"
        }
        DatabaseProduct::MariaDb => {
            "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS \
             WHERE VARIABLE_NAME = 'Ssl_finished_accepts'"
        }
    };
    database.query_outside(sql).parse().unwrap()
}

/// Goal: data are loaded, checked and used over TLS, and the server says so, too.
#[test]
fn all_sessions_are_encrypted() {
    for product in PRODUCTS {
        let database = Database::start(product, Some("tls"));
        assert!(database.server.encryption.is_some());
        database.load().unwrap_or_else(|error| panic!("{error}"));
        block_on(async {
            let context = database.context(OrderSql::Stored);
            let mut driver = DatabaseDriver::new(&context);
            driver.open().await.unwrap();
            assert!(0 < n_encrypted(&database), "{product}");
            let mut inputs = Inputs::of(1);
            for kind in TransactionType::ALL {
                let request = inputs.next(kind);
                let reply = driver.perform(&request, RealClock::start().now()).await;
                let text = driver.describe(&request, &reply);
                assert_eq!(reply.outcome, Outcome::Ok, "{product}: {text}");
            }
            let mut control = DatabaseControl::open(&context).await.unwrap();
            assert!(control.description().await.unwrap().contains(&product.to_string()));
        });
    }
}

fn refused(server: DatabaseServer) -> (String, DatabaseError) {
    let workload = workload(OrderSql::Stored);
    let context = DatabaseContext::new(&workload, &server, &[], RealClock::start()).unwrap();
    block_on(async {
        let text = DatabaseDriver::new(&context).open().await.unwrap_err().to_string();
        let Err(error) = DatabaseControl::open(&context).await else { panic!("it was opened") };
        (text, error)
    })
}

#[test]
fn another_certificate_and_a_server_without_tls_are_named() {
    for product in PRODUCTS {
        let other = Some(tls(Trust::Certificate(b"another one".to_vec())));
        let database = Database::start(product, Some("tls"));
        let (text, error) = refused(DatabaseServer { encryption: other, ..database.server.clone() });
        let expected = "its certificate is not accepted: it is not the one that was created for this run";
        assert!(text.ends_with(expected), "{product}: {text}");
        assert!(matches!(error, DatabaseError::Certificate(_)), "{product}: {error}");
        drop(database);
        let database = Database::empty(product);
        let (text, _) =
            refused(DatabaseServer { encryption: Some(tls(Trust::Any)), ..database.server.clone() });
        assert!(text.ends_with("the database offers no TLS"), "{product}: {text}");
    }
}
