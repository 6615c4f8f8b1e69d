//! Workloads: data set, what users fetch, and the mix.

use serde::{Deserialize, Serialize};
use units::Weights;

/// One file of a data set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Object {
    /// Path on the server, beginning with `/`, as it stands in the request.
    pub path: String,
    /// Length of the body in bytes.
    pub bytes: u64,
}

/// A group of files that a user fetches one after another and that counts as one unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// Its share of all pages is this divided by the sum of all weights. Above zero.
    pub weight: u64,
    /// Indexes of its objects, in the order in which they are fetched; not empty.
    pub objects: Vec<u32>,
}

/// What is fetched, how often, and from which data set. One operation kind per object, one unit kind per page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Seed of the files' content: a constant of the benchmark's version.
    pub content_seed: u64,
    /// The files; not empty, paths all different.
    pub objects: Vec<Object>,
    /// The pages; not empty.
    pub pages: Vec<Page>,
    /// Whether the benchmark speaks of pages; if not, each page is one file and units are not reported.
    pub counts_pages: bool,
}

impl Workload {
    /// Returns the weights of the pages.
    ///
    /// # Panics
    /// If the workload breaks its invariants: there are no pages, or none has a weight.
    pub fn page_weights(&self) -> Weights {
        Weights::new(self.pages.iter().map(|page| page.weight)).expect("a workload has pages with weights")
    }

    /// Returns the size of the whole data set in bytes.
    pub fn dataset_bytes(&self) -> u64 {
        self.objects.iter().map(|object| object.bytes).sum()
    }

    /// Returns the mean number of files per page: Σ w·files / Σ w.
    pub fn files_per_page(&self) -> f64 {
        self.page_mean(|page| page.objects.len() as f64)
    }

    /// Returns the mean number of body bytes per page: Σ w·bytes / Σ w.
    pub fn bytes_per_page(&self) -> f64 {
        self.page_mean(|page| page.objects.iter().map(|object| self.bytes_of(*object)).sum())
    }

    /// Returns the expected body bytes per request: bytes per page divided by files per page.
    pub fn mean_body_bytes(&self) -> f64 {
        self.bytes_per_page() / self.files_per_page()
    }

    /// Returns the population standard deviation of the body bytes of a request: √(E\[b²\] − E\[b\]²).
    pub fn body_bytes_deviation(&self) -> f64 {
        let squares =
            self.page_mean(|page| page.objects.iter().map(|object| self.bytes_of(*object).powi(2)).sum());
        (squares / self.files_per_page() - self.mean_body_bytes().powi(2)).sqrt()
    }

    /// Returns the share of all requests that go to an object, from 0 to 1.
    pub fn request_share(&self, object: u32) -> f64 {
        let hits = self.page_mean(|page| page.objects.iter().filter(|one| **one == object).count() as f64);
        hits / self.files_per_page()
    }

    fn bytes_of(&self, object: u32) -> f64 {
        self.objects[object as usize].bytes as f64
    }

    fn page_mean(&self, value: impl Fn(&Page) -> f64) -> f64 {
        let total: f64 = self.pages.iter().map(|page| page.weight as f64).sum();
        self.pages.iter().map(|page| page.weight as f64 * value(page)).sum::<f64>() / total
    }
}
