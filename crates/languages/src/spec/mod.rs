//! Specifications: kinds of values, and tables as lists of keys, by which texts are read and described as JSON Schemas.
//!
//! - [`ValueSpec`]: the values of a key; [`line()`], [`time()`], [`choice()`] and others are those of all languages
//! - [`TableSpec`]: the keys of a table that is read into a value, where each key sets its part. A language with keys
//!   that depend on each other asks a [`TomlTable`] for them one by one
//! - [`KeySpec`]: one key: its name, its description, and where its value goes. [`key`] is for a value, [`table`] for a
//!   table, [`tables`] for an array of tables, [`named_values`] for a table whose keys are names
//!
//! A table is read into a value that holds the defaults: a key that is absent, or whose value is wrong, leaves it as it
//! is. Wrong values are reported, so that [`read_toml`](crate::reader::read_toml) refuses the text.

mod key;

use serde_json::Value;

use crate::reader::{TomlTable, toml_schema};

pub use crate::reader::value::{
    NamedChoice, above_zero, bytes, choice, choice_among, choice_described, flag, id, line, one_of, ratio,
    size, text, time, time_above_zero, time_up_to, whole, whole_u32,
};
pub use crate::reader::value_spec::ValueSpec;
pub use key::{KeySpec, key, named_values, table, tables};

/// The keys of a table that is read into a `T`.
pub struct TableSpec<T> {
    name: &'static str,
    about: &'static str,
    keys: Vec<KeySpec<T>>,
    check: fn(&TomlTable, &mut T),
}

impl<T: 'static> TableSpec<T> {
    /// Makes a specification. Its name is that of the definition in the schema.
    pub fn new<const N: usize>(
        name: &'static str,
        about: &'static str,
        keys: [KeySpec<T>; N],
    ) -> TableSpec<T> {
        TableSpec { name, about, keys: keys.into(), check: |_, _| {} }
    }

    /// Adds what is done once all keys are read: values that depend on several keys, mistakes that concern several.
    pub fn then(self, check: fn(&TomlTable, &mut T)) -> TableSpec<T> {
        TableSpec { check, ..self }
    }

    /// Reads a table into a value and reports everything that is wrong with it, unknown keys included.
    pub fn read(&self, table: &mut TomlTable, into: &mut T) {
        table.describe(self.name, self.about);
        self.keys.iter().for_each(|key| key.read(table, into));
        (self.check)(table, into);
        table.report_unknown();
    }

    /// Returns the JSON Schema (2020-12) of texts whose top-level table this is; `into` holds the defaults.
    pub fn schema(&self, title: &str, mut into: T) -> Value {
        toml_schema(title, |mut top| self.read(&mut top, &mut into))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Diagnostics;
    use crate::reader::{ValueError, read_toml};
    use serde_json::json;
    use units::{Bytes, Nanos};

    /// A configuration with keys of every form.
    #[derive(Debug, Clone, Default, PartialEq)]
    struct Product {
        name: String,
        wait: Option<Nanos>,
        is_open: bool,
        color: Option<Color>,
        tags: Vec<String>,
        store: Store,
        servers: Vec<Server>,
        lifetimes: Vec<(u16, Nanos)>,
    }

    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Color {
        Red,
        Green,
    }

    #[derive(Debug, Clone, Default, PartialEq)]
    struct Store {
        size: u64,
        object_max: u64,
    }

    #[derive(Debug, Clone, Default, PartialEq)]
    struct Server {
        url: String,
    }

    const COLORS: &[NamedChoice<Color>] =
        &[NamedChoice("red", "As a cherry.", Color::Red), NamedChoice("green", "As a forest.", Color::Green)];

    fn product() -> TableSpec<Product> {
        TableSpec::new(
            "Product",
            "A product.",
            [
                key("name", "Its name.", text(), |product: &mut Product, name| product.name = name)
                    .required(),
                key("wait", "A wait.", wait(), |product, time| product.wait = Some(time)),
                key("open", "Whether it is open.", flag(), |product: &mut Product, is_open| {
                    product.is_open = is_open;
                })
                .default_value(false),
                key("color", "The color.", one_of("Color", "A color.", COLORS), |product, color| {
                    product.color = Some(color);
                }),
                key("tags", "Tags.", text().list(), |product, tags| product.tags = tags),
                table("store", "The store.", store(), |product| &mut product.store),
                tables("server", "The servers.", server(), Server::default, |product, servers| {
                    product.servers = servers;
                }),
                named_values(
                    "lifetimes",
                    "Lifetimes.",
                    "^[0-9]{3}$",
                    status,
                    wait(),
                    |product, lifetimes| {
                        product.lifetimes = lifetimes;
                    },
                ),
            ],
        )
    }

    fn store() -> TableSpec<Store> {
        let size = || super::size().named("Size", "A size.");
        let keys = [
            key("size", "The size.", size(), |store: &mut Store, size: Bytes| store.size = size.0),
            key("object-max", "The largest object.", size(), |store, size| store.object_max = size.0),
        ];
        TableSpec::new("Store", "A store.", keys).then(|table, store| {
            if store.size < store.object_max {
                table.reject("object-max", ValueError::new("expected no more than `size`"));
            }
        })
    }

    fn server() -> TableSpec<Server> {
        let url = key("url", "Its URL.", text(), |server: &mut Server, url| server.url = url);
        TableSpec::new("Server", "A server.", [url.required()])
    }

    fn wait() -> ValueSpec<Nanos> {
        time_up_to(Nanos::from_secs(100)).named("Time", "A time.")
    }

    fn status(text: &str) -> Result<u16, ValueError> {
        text.parse().map_err(|_| ValueError::new(format!("expected a status, found `{text}`")))
    }

    fn read(text: &str) -> Result<Product, Diagnostics> {
        read_toml("a product", "k.toml", text, |mut top| {
            let mut read = Product { is_open: true, ..Product::default() };
            product().read(&mut top, &mut read);
            Some(read)
        })
    }

    #[test]
    fn values_of_every_form_are_read() {
        let text = r#"
            name = "a"
            wait = "1m30s"
            open = false
            color = "green"
            tags = []
            lifetimes = { 404 = "10 s", 410 = "1 s" }
            [store]
            size = "1 KiB"
            [[server]]
            url = "x"
            [[server]]
            url = "y"
        "#;
        let expected = Product {
            name: "a".to_owned(),
            wait: Some(Nanos::from_secs(90)),
            is_open: false,
            color: Some(Color::Green),
            tags: Vec::new(),
            store: Store { size: 1024, object_max: 0 },
            servers: ["x", "y"].map(|url| Server { url: url.to_owned() }).to_vec(),
            lifetimes: vec![(404, Nanos::from_secs(10)), (410, Nanos::from_secs(1))],
        };
        assert_eq!(read(text), Ok(expected));
        let defaults = Product { name: "a".to_owned(), is_open: true, ..Product::default() };
        assert_eq!(read("name = \"a\""), Ok(defaults));
    }

    #[test]
    fn all_mistakes_are_reported_at_once() {
        let text = "wait = 10\ncolor = \"gren\"\ntags = [1]\nlifetimes = { x = \"1 s\" }\n\
                    [store]\nsize = \"1 KiB\"\nobject-max = \"2 KiB\"\nsise = 1\n[[server]]\nweight = 1\n";
        insta::assert_snapshot!(read(text).unwrap_err().brief(), @r#"
        `k.toml:1:1`: `name` is missing: `name` must be given here
        `k.toml:1:8`: `wait` is not valid: expected a time with its unit, found `10` without one
        hint: write `"10 s"` if seconds are meant
        `k.toml:2:9`: `color` is not valid: expected `red` or `green`, found `gren`
        hint: did you mean `green`?
        `k.toml:3:8`: `tags` is not valid: expected a string, found an integer
        `k.toml:4:19`: `lifetimes.x` is not valid: expected a status, found `x`
        `k.toml:7:14`: `store.object-max` is not valid: expected no more than `size`
        `k.toml:8:1`: unknown key `sise` in `store`: not a key of a product
        hint: did you mean `size`?
        `k.toml:9:1`: `server.url` is missing: `url` must be given here
        `k.toml:10:1`: unknown key `weight` in `server`: not a key of a product
        hint: keys here are url
        "#);
    }

    #[test]
    fn a_table_in_place_of_an_array_and_the_reverse_are_explained() {
        insta::assert_snapshot!(read("name = \"a\"\n[server]\nurl = \"x\"\n").unwrap_err().brief(), @"
        `k.toml:2:1`: `server` is not valid: expected tables, found a table
        hint: write `[[server]]`
        ");
        insta::assert_snapshot!(read("name = \"a\"\n[[store]]\nsize = \"1 B\"\n").unwrap_err().brief(), @"
        `k.toml:2:1`: `store` is not valid: expected a table, found an array
        hint: only one is possible: write `[store]`
        ");
    }

    #[test]
    fn the_schema_has_the_keys_that_are_read() {
        let schema = product().schema("Products", Product::default());
        let reference = |name: &str| json!({ "$ref": format!("#/$defs/{name}") });
        let with_about = |about: &str, mut schema: Value| {
            schema["description"] = about.into();
            schema
        };
        let properties = json!({
            "name": { "description": "Its name.", "type": "string" },
            "wait": with_about("A wait.", reference("Time")),
            "open": { "description": "Whether it is open.", "type": "boolean", "default": false },
            "color": with_about("The color.", reference("Color")),
            "tags": { "description": "Tags.", "type": "array", "items": { "type": "string" } },
            "store": with_about("The store.", reference("Store")),
            "server": { "description": "The servers.", "type": "array", "items": reference("Server") },
            "lifetimes": {
                "description": "Lifetimes.",
                "type": "object",
                "additionalProperties": false,
                "patternProperties": { "^[0-9]{3}$": reference("Time") },
            },
        });
        assert_eq!(schema["title"], "Products");
        assert_eq!(schema["properties"], properties);
        assert_eq!((&schema["required"], &schema["additionalProperties"]), (&json!(["name"]), &json!(false)));
        let definitions = &schema["$defs"];
        let names: Vec<&String> = definitions.as_object().unwrap().keys().collect();
        assert_eq!(names, ["Color", "Server", "Size", "Store", "Time"]);
        let words = json!([
            { "description": "As a cherry.", "type": "string", "const": "red" },
            { "description": "As a forest.", "type": "string", "const": "green" },
        ]);
        assert_eq!(definitions["Color"], json!({ "description": "A color.", "oneOf": words }));
        assert_eq!(definitions["Server"]["required"], json!(["url"]));
        assert_eq!(definitions["Store"]["properties"]["size"], with_about("The size.", reference("Size")));
        assert_eq!(definitions["Time"]["description"], "A time.");
    }

    /// Goal: a conflict between tables is shown at its value, also in an array of tables.
    #[test]
    fn a_mistake_in_an_inner_table_is_reported_at_its_place() {
        let text =
            "name = \"a\"\n[store]\nsize = \"1 B\"\n[[server]]\nurl = \"x\"\n[[server]]\nurl = \"y\"\n";
        let check = |path: &[&str]| {
            let mut is_there = false;
            let read = read_toml("a product", "k.toml", text, |top| {
                is_there = top.reject_inner(path, ValueError::new("expected another"));
                assert_eq!(top.has_mistake(), is_there);
                Some(())
            });
            (is_there, read.err().map(|error| error.brief()))
        };
        for (path, expected) in [
            (&["name"][..], "`k.toml:1:8`: `name` is not valid: expected another"),
            (&["store", "size"], "`k.toml:3:8`: `store.size` is not valid: expected another"),
            (&["server", "1", "url"], "`k.toml:7:7`: `server.url` is not valid: expected another"),
        ] {
            assert_eq!(check(path), (true, Some(expected.to_owned())));
        }
        for path in
            [&[][..], &["store", "other"], &["server", "2", "url"], &["server", "url"], &["name", "x"]]
        {
            assert_eq!(check(path), (false, None), "{path:?}");
        }
    }
}
