//! Run files of plan format 2 and run file format 4, converted to the formats of today. The program itself refuses
//! them.

mod records;

use std::path::Path;

use blake3::{Hash, Hasher};
use model::{Headline, Phase, Workload};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, params};
use serde_json::{Map, Value, json};

/// Converts a plan: workload and protocol are the web family's, and the catalog follows from workload and headline.
/// The load threads are those of the only agent. Gateway and accelerator are parts of a web server.
pub(super) fn convert_plan(plan: &Value) -> Value {
    assert_eq!(plan["format"], 2);
    let mut plan = plan.clone();
    plan["format"] = json!(model::PLAN_FORMAT);
    let mut protocol = plan.as_object_mut().unwrap().remove("protocol").unwrap();
    plan["time_limit_ns"] = protocol.as_object_mut().unwrap().remove("time_limit_ns").unwrap();
    let mut web = plan["workload"].take();
    web["protocol"] = protocol;
    plan["workload"] = json!({ "web": web });
    let workload: Workload = serde_json::from_value(plan["workload"].clone()).unwrap();
    let headline = plan["benchmark"].as_object_mut().unwrap().remove("headline").unwrap();
    let headline: Headline = serde_json::from_value(headline).unwrap();
    let mut take = |key: &str| plan.as_object_mut().unwrap().remove(key).unwrap();
    let threads = take("load_threads");
    let cpus = take("load_cpus");
    plan["agents"] = json!([{ "threads": threads, "cpus": cpus, "first_share": 0 }]);
    let sut = plan["sut"].as_object_mut().unwrap();
    let parts = ["gateway", "accelerator"].into_iter().filter_map(|part| sut.remove_entry(part));
    let parts: Map<String, Value> = parts.filter(|(_, value)| !value.is_null()).collect();
    if !parts.is_empty() {
        sut.insert("web".to_owned(), Value::Object(parts));
    }
    plan["catalog"] = serde_json::to_value(headline.applied(workload.catalog())).unwrap();
    plan
}

/// Converts a finished run file in place, and makes its hashes again.
pub(super) fn convert_run_file(path: &Path) {
    let database = Connection::open(path).unwrap();
    database
        .execute_batch(
            "DROP VIEW seconds; DROP VIEW load_point_summary;
             ALTER TABLE interval RENAME COLUMN reply_bytes TO transferred_bytes;
             CREATE TABLE limit_in_force (
               id INTEGER PRIMARY KEY,
               name TEXT NOT NULL,
               value REAL,
               reason TEXT NOT NULL
             ) STRICT;
             CREATE TABLE consistency_check (
               id INTEGER PRIMARY KEY,
               load_point INTEGER NOT NULL,
               moment TEXT NOT NULL,
               name TEXT NOT NULL,
               holds INTEGER NOT NULL,
               found TEXT NOT NULL
             ) STRICT;
             CREATE TABLE named_count (
               id INTEGER PRIMARY KEY,
               load_point INTEGER NOT NULL,
               name TEXT NOT NULL,
               n INTEGER NOT NULL,
               UNIQUE (load_point, name)
             ) STRICT;
             PRAGMA user_version = 5;",
        )
        .unwrap();
    let header_hash = convert_header(&database);
    convert_records(&database, "interval", records::convert_interval);
    convert_records(&database, "detail", records::convert_detail);
    let last = link_intervals(&database, header_hash);
    list(&database, "interval", last);
    for table in ["limit_in_force", "consistency_check", "named_count"] {
        let empty = table_hash(&database, table);
        let sql = "INSERT INTO inventory VALUES (?, 0, ?)";
        database.execute(sql, params![table, empty.as_bytes()]).unwrap();
    }
    list(&database, "detail", table_hash(&database, "detail"));
    list(&database, "header", table_hash(&database, "header"));
    database.close().unwrap();
}

fn convert_header(database: &Connection) -> Hash {
    let text = |column: &str| -> String {
        database.query_row(&format!("SELECT {column} FROM header"), [], |row| row.get(0)).unwrap()
    };
    let created: i64 =
        database.query_row("SELECT created_unix_ms FROM header", [], |row| row.get(0)).unwrap();
    let plan = convert_plan(&serde_json::from_str(&text("plan_json")).unwrap()).to_string();
    let hash = digest(&[
        b"plimsoll header",
        text("program").as_bytes(),
        &created.to_le_bytes(),
        text("command_line").as_bytes(),
        plan.as_bytes(),
    ]);
    database.execute("UPDATE header SET plan_json = ?, blake3 = ?", params![plan, hash.as_bytes()]).unwrap();
    hash
}

fn convert_records(database: &Connection, table: &str, convert: fn(&[u8]) -> Vec<u8>) {
    let mut statement = database.prepare(&format!("SELECT id, record FROM {table}")).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let records: Vec<(i64, Vec<u8>)> = rows.map(Result::unwrap).collect();
    for (id, record) in records {
        let sql = format!("UPDATE {table} SET record = ? WHERE id = ?");
        database.execute(&sql, params![convert(&record), id]).unwrap();
    }
}

/// Makes the chain of intervals again, and returns its last hash.
fn link_intervals(database: &Connection, mut last: Hash) -> Hash {
    let mut intervals = database.prepare("SELECT * FROM interval ORDER BY id").unwrap();
    let mut rows = intervals.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let number = |column: &str| row.get::<_, i64>(column).unwrap().to_le_bytes();
        let phase: String = row.get("phase").unwrap();
        let phase = Phase::ALL.iter().position(|one| one.name() == phase).unwrap();
        last = digest(&[
            b"plimsoll interval",
            last.as_bytes(),
            &number("load_point"),
            &number("agent"),
            &number("interval_index"),
            &(phase as u64).to_le_bytes(),
            &number("start_ns"),
            &number("end_ns"),
            &row.get::<_, Vec<u8>>("record").unwrap(),
        ]);
        let id: i64 = row.get("id").unwrap();
        database
            .execute("UPDATE interval SET blake3 = ? WHERE id = ?", params![last.as_bytes(), id])
            .unwrap();
    }
    last
}

fn table_hash(database: &Connection, table: &str) -> Hash {
    let mut fields: Vec<Vec<u8>> = vec![b"plimsoll table".into(), table.into()];
    let mut statement = database.prepare(&format!("SELECT * FROM {table} ORDER BY 1")).unwrap();
    let columns = statement.column_count();
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        for column in 0..columns {
            fields.extend(match row.get_ref(column).unwrap() {
                ValueRef::Integer(number) => [b"integer".to_vec(), number.to_le_bytes().into()],
                ValueRef::Text(text) => [b"text".to_vec(), text.into()],
                ValueRef::Blob(bytes) => [b"blob".to_vec(), bytes.into()],
                other => panic!("{other:?} in {table}"),
            });
        }
    }
    digest(&fields.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// Puts the hash of a table into the inventory.
fn list(database: &Connection, table: &str, hash: Hash) {
    let sql = "UPDATE inventory SET blake3 = ? WHERE table_name = ?";
    assert_eq!(database.execute(sql, params![hash.as_bytes(), table]).unwrap(), 1);
}

/// Hashes fields, each behind its length.
fn digest(fields: &[&[u8]]) -> Hash {
    let mut hasher = Hasher::new();
    for field in fields {
        hasher.update(&(field.len() as u64).to_le_bytes());
        hasher.update(field);
    }
    hasher.finalize()
}
