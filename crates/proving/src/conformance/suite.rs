//! The folder of the suite: its server, its client, its tests. All of it runs on Node.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Map, Value};

use super::outcome::{SuiteTest, TestKind};
use super::{HINT, Process};
use crate::shell::output;

/// Paths of the client and the server: current, and in the npm version.
const LAYOUTS: [(&str, &str); 2] =
    [("test-engine/cli.mjs", "test-engine/server/server.mjs"), ("cli.mjs", "server/server.mjs")];

/// Node code that makes a server listen on loopback only: the suite's listens on all addresses.
const ON_LOOPBACK: &str = "data:text/javascript,import net from 'node:net';\
    const listen = net.Server.prototype.listen;\
    net.Server.prototype.listen = function (port) { return listen.call(this, port, '127.0.0.1') }";

/// Node code that prints all tests as JSON. The client of older versions has one part more than the list.
const LIST: &str = "const folder = process.argv[1];\
    const parts = (await import(folder + '/tests/index.mjs')).default;\
    try { parts.push((await import(folder + '/tests/surrogate-control.mjs')).default) } catch {}\
    console.log(JSON.stringify(parts.flatMap(part => part.tests.map(test => ({\
      id: test.id, part: part.id, kind: test.kind ?? 'required', depends_on: test.depends_on ?? [] })))))";

/// Time limit of a run, in seconds; it takes some 100 s.
const RUN_SECONDS_MAX: &str = "900";

/// The folder of the suite.
#[derive(Debug)]
pub(super) struct Suite {
    folder: PathBuf,
    client: &'static str,
    server: &'static str,
}

/// The suite's server; killed when dropped.
pub(super) struct SuiteServer {
    /// Its address.
    pub address: SocketAddr,
    _process: Process,
}

impl Suite {
    /// Checks that the folder contains the suite, and that Node is installed.
    ///
    /// # Errors
    /// One of them is missing; the suite was then not run.
    pub(super) fn open(folder: &Path) -> Result<Suite> {
        let is_there = |path: &str| folder.join(path).is_file();
        let layout = LAYOUTS.into_iter().find(|(client, server)| is_there(client) && is_there(server));
        let Some((client, server)) = layout.filter(|_| is_there("tests/index.mjs")) else {
            bail!("the conformance suite was not run: `{}` does not have it\n{HINT}", folder.display());
        };
        if let Err(error) = output(Command::new("node").arg("--version")) {
            bail!("the conformance suite was not run: {error:#}\nhint: `apt-get install nodejs`");
        }
        let folder = folder.canonicalize()?;
        Ok(Suite { folder, client, server })
    }

    /// Returns the version of the suite.
    ///
    /// # Errors
    /// `package.json` is missing or has no version.
    pub(super) fn version(&self) -> Result<String> {
        let text = std::fs::read_to_string(self.folder.join("package.json"))?;
        let package: Value = serde_json::from_str(&text)?;
        Ok(package["version"].as_str().context("no `version` in `package.json`")?.to_owned())
    }

    /// Returns all tests.
    /// Returns all tests.
    /// # Errors
    /// The list cannot be read.
    pub(super) fn tests(&self) -> Result<Vec<SuiteTest>> {
        let text = output(self.node(&["--input-type=module", "--eval", LIST]).arg(&self.folder))?;
        let list: Vec<Value> = serde_json::from_str(&text).context("the list of tests")?;
        list.iter().map(read_test).collect()
    }

    /// Starts the server on a free loopback port.
    ///
    /// # Errors
    /// It does not start.
    pub(super) fn serve(&self, scratch: &Path) -> Result<SuiteServer> {
        let mut command = self.node(&["--import", ON_LOOPBACK, self.server]);
        command.env("npm_config_protocol", "http").env("npm_config_port", "0");
        command.env("npm_config_pidfile", scratch.join("suite.pid"));
        let (process, address) = Process::start(&mut command, |line| {
            line.strip_prefix("Listening on http://")?.trim_end_matches('/').parse().ok()
        })?;
        Ok(SuiteServer { address, _process: process })
    }

    /// Runs all tests against an address; returns the result of each by its name.
    ///
    /// # Errors
    /// The client fails or prints something else.
    pub(super) fn results(&self, address: SocketAddr) -> Result<Map<String, Value>> {
        let mut command = Command::new("timeout");
        command.args([RUN_SECONDS_MAX, "node", "--no-warnings", self.client]).current_dir(&self.folder);
        command.env("npm_config_base", format!("http://{address}"));
        // All tests: an empty name, in both of the variables that are used.
        command.env("npm_config_id", "").env("npm_package_config_id", "");
        let text = output(&mut command).with_context(|| {
            format!("hint: `npm install` in `{}` gets what the suite needs", self.folder.display())
        })?;
        let start = text.find('{').context("the suite's client printed no results")?;
        let results: Value = serde_json::from_str(&text[start..]).context("the suite's results")?;
        let Value::Object(results) = results else { bail!("the suite's results are not an object") };
        ensure!(!results.is_empty(), "the suite's client has run no test");
        Ok(results)
    }

    fn node(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("node");
        command.arg("--no-warnings").args(arguments).current_dir(&self.folder);
        command
    }
}

fn read_test(value: &Value) -> Result<SuiteTest> {
    let text = |name: &str| value[name].as_str().with_context(|| format!("a test without `{name}`: {value}"));
    let depends_on = value["depends_on"].as_array().into_iter().flatten();
    Ok(SuiteTest {
        id: text("id")?.to_owned(),
        part: text("part")?.to_owned(),
        kind: TestKind::try_from(text("kind")?)?,
        depends_on: depends_on.filter_map(Value::as_str).map(str::to_owned).collect(),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::outcome::{TestOutcome, outcomes};
    use super::*;

    const INDEX: &str = "export default [{ id: 'one', name: 'One', tests: [\
        { id: 'answers', name: 'It answers' },\
        { id: 'counts', name: 'It counts', kind: 'check', depends_on: ['answers'] },\
        { id: 'stores', name: 'It stores', kind: 'optimal', depends_on: ['answers'] }] }]";

    /// A server like the suite's: its environment, its line, a request counter.
    const SERVER: &str = "import http from 'http'\nimport fs from 'fs'\nlet n = 0\n\
        fs.writeFileSync(process.env.npm_config_pidfile, process.pid.toString())\n\
        const server = http.createServer((request, response) => response.end(String(++n)))\n\
        server.on('listening', () => console.log(\
        `Listening on ${process.env.npm_config_protocol}://${server.address().address}:${server.address().port}/`))\n\
        server.listen(process.env.npm_config_port || process.env.npm_package_config_port)\n";

    /// A client like the suite's: its environment, its results.
    const CLIENT: &str = "const base = process.env.npm_config_base || process.env.npm_package_config_base\n\
        const id = process.env.npm_config_id || process.env.npm_package_config_id\n\
        if (id !== '') throw new Error(`asked for ${id}`)\n\
        const get = async () => (await fetch(base + '/test/x')).text()\n\
        const [first, second] = [await get(), await get()]\n\
        const results = { answers: first === '1', counts: second === '2', stores: second === first }\n\
        for (const id in results) results[id] = results[id] || ['Assertion', `Response 2 is ${second}`]\n\
        console.log(JSON.stringify(results, null, 2))\n";

    /// Writes a suite of the same form, with client and server in these places.
    fn stand_in(folder: &Path, (client, server): (&str, &str)) {
        let files = [
            (client, CLIENT),
            (server, SERVER),
            ("tests/index.mjs", INDEX),
            ("package.json", r#"{"version": "1.2.3"}"#),
        ];
        for (path, text) in files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    #[test]
    fn suites_of_both_layouts_run_on_loopback() {
        for layout in LAYOUTS {
            let folder = tempfile::tempdir().unwrap();
            stand_in(folder.path(), layout);
            let suite = Suite::open(folder.path()).unwrap();
            let server = suite.serve(folder.path()).unwrap();
            assert!(server.address.ip().is_loopback(), "{}", server.address);
            let tests = suite.tests().unwrap();
            let results = suite.results(server.address).unwrap();
            let found = outcomes(&tests, &results).unwrap();
            let found: Vec<_> = found.iter().map(|(test, outcome)| (test.id.as_str(), *outcome)).collect();
            let expected =
                [("answers", TestOutcome::Pass), ("counts", TestOutcome::Yes), ("stores", TestOutcome::Fail)];
            assert_eq!(
                (&found[..], suite.version().unwrap().as_str()),
                (&expected[..], "1.2.3"),
                "{layout:?}"
            );
        }
    }

    #[test]
    fn a_client_that_cannot_run_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        stand_in(folder.path(), LAYOUTS[1]);
        let suite = Suite::open(folder.path()).unwrap();
        for client in
            ["import 'a-package-that-is-not-installed'", "console.log('{}')", "console.log('nothing')", ""]
        {
            fs::write(folder.path().join("cli.mjs"), client).unwrap();
            assert!(suite.results("127.0.0.1:1".parse().unwrap()).is_err(), "{client}");
        }
    }

    #[test]
    fn a_folder_without_the_suite_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let error = Suite::open(folder.path()).unwrap_err().to_string();
        assert!(
            error.starts_with("the conformance suite was not run: ") && error.contains("\nhint: "),
            "{error}"
        );
    }
}
