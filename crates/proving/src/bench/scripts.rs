//! wrk scripts that request the same files as a benchmark.

use anyhow::{Context, Result};

/// Name of the script for the mix of WebStone 2.0.1.
pub(super) const WEBSTONE: &str = "webstone.lua";
/// Name of the script for the mix of web96.
pub(super) const WEB96: &str = "web96.lua";

/// Returns a script that requests the files of a filelist by weight.
pub(super) fn filelist(filelist: &str) -> Result<String> {
    let mut entries = String::new();
    let mut total = 0_u32;
    for line in filelist.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let mut words = line.split_whitespace();
        let path = words.next().context("a line without a path")?;
        let weight: u32 = words.next().context("a line without a weight")?.parse()?;
        total += weight;
        entries += &format!("  {{ {weight}, \"{path}\" }},\n");
    }
    Ok(format!(
        "local files = {{\n{entries}}}
local requests = {{}}
function init()
  math.randomseed(1)
  for i, file in ipairs(files) do requests[i] = wrk.format(\"GET\", file[2]) end
end
function request()
  local u = math.random() * {total}
  for i, file in ipairs(files) do
    u = u - file[1]
    if u < 0 then return requests[i] end
  end
  return requests[#requests]
end
"
    ))
}

/// Entries of a table from which one is drawn with equal probability: the fastest way in Lua.
const ENTRIES: usize = 10_000;

/// Returns a script that requests the files of web96: a class, a directory, and one of nine files.
///
/// Classes have the proportions 35 : 50 : 14 : 1, directory i ∝ 1/i, file i ∝ 5ⁱ/i!; shares are whole
/// multiples of 1/10,000.
pub(super) fn web96(directories: usize) -> String {
    let zipf: Vec<f64> = (1..=directories).map(|i| 1.0 / i as f64).collect();
    let bump: Vec<f64> = (1..=9)
        .scan(1.0, |term, i| {
            *term *= 5.0 / f64::from(i);
            Some(*term)
        })
        .collect();
    format!(
        "local classes = {{ {} }}
local directories = {{ {} }}
local files = {{ {} }}
local requests = {{}}
function init()
  math.randomseed(1)
  for class = 0, 3 do
    requests[class] = {{}}
    for directory = 0, {directories} - 1 do
      requests[class][directory] = {{}}
      for file = 0, 8 do
        local path = string.format(\"/spec/dir%05d/class%d_%d\", directory, class, file)
        requests[class][directory][file] = wrk.format(\"GET\", path)
      end
    end
  end
end
local random = math.random
function request()
  return requests[classes[random({ENTRIES})]][directories[random({ENTRIES})]][files[random({ENTRIES})]]
end
",
        table(&[35.0, 50.0, 14.0, 1.0]),
        table(&zipf),
        table(&bump),
    )
}

/// Returns entries of each number from 0 in proportion to its weight, rounded so that they add up.
fn table(weights: &[f64]) -> String {
    let total: f64 = weights.iter().sum();
    let mut sum = 0.0;
    let mut entries = Vec::with_capacity(ENTRIES);
    for (number, weight) in weights.iter().enumerate() {
        sum += weight;
        entries.resize((sum / total * ENTRIES as f64).round() as usize, number.to_string());
    }
    entries.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filelist_becomes_a_script_with_its_weights() {
        let script = filelist("# comment\n/a.html 350 #500\n/b.html 650 #5125\n").unwrap();
        assert!(script.contains("  { 350, \"/a.html\" },\n  { 650, \"/b.html\" },\n"), "{script}");
        assert!(script.contains("math.random() * 1000"), "{script}");
        assert!(filelist("/a.html\n").is_err());
    }

    /// Of two directories the first has two thirds. Files: 5ⁱ/i! is 26.04 for i = 5 and 5.38 for i = 9, of 142.69.
    #[test]
    fn tables_of_web96_have_its_shares() {
        let script = web96(2);
        let count = |line: usize, number: &str| {
            let list = script.lines().nth(line).unwrap().split(['{', '}']).nth(1).unwrap();
            list.split(',').filter(|one| one.trim() == number).count()
        };
        assert_eq!(["0", "1", "2", "3"].map(|class| count(0, class)), [3500, 5000, 1400, 100]);
        assert_eq!(["0", "1", "2"].map(|directory| count(1, directory)), [6667, 3333, 0]);
        let files: Vec<usize> = (0..9).map(|file| count(2, &file.to_string())).collect();
        assert_eq!(files.iter().sum::<usize>(), ENTRIES);
        assert_eq!((files[4], files[8]), (1825, 377));
    }
}
