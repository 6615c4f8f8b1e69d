//! CPU lists in text form, and the CPUs of a thread.

use rustix::thread::{CpuSet, sched_getaffinity};

/// An invalid CPU list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CpuListError {
    /// An element is neither a number nor a range.
    #[error("expected CPU numbers such as `0-1,3`, found `{0}`")]
    NotANumber(String),
    /// A range ends before it begins.
    #[error("CPU range `{0}` ends before it starts")]
    Backwards(String),
    /// The number is beyond the limit of the kernel interface.
    #[error("CPU {0} is above the highest supported number, {max}", max = CpuSet::MAX_CPU - 1)]
    TooHigh(u32),
}

/// Parses a CPU list such as `0-1,3`; the result is sorted and without duplicates.
///
/// # Errors
/// An element is not a number or an ascending range, or a CPU number is 1024 or more. The empty text is an
/// error.
pub fn parse_cpu_list(text: &str) -> Result<Vec<u32>, CpuListError> {
    let mut cpus = Vec::new();
    for element in text.split(',').map(str::trim) {
        let (first, last) = element.split_once('-').unwrap_or((element, element));
        let number =
            |part: &str| part.trim().parse::<u32>().map_err(|_| CpuListError::NotANumber(element.to_owned()));
        let first = number(first)?;
        let last = number(last)?;
        if last < first {
            return Err(CpuListError::Backwards(element.to_owned()));
        }
        if CpuSet::MAX_CPU <= last as usize {
            return Err(CpuListError::TooHigh(last));
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

/// Formats sorted CPUs as a list with ranges: `0-1,3`; empty if there are none.
pub fn format_cpu_list(cpus: &[u32]) -> String {
    let ranges = cpus.chunk_by(|one, next| one + 1 == *next);
    let texts = ranges.map(|range| match range {
        [single] => single.to_string(),
        _ => format!("{}-{}", range[0], range[range.len() - 1]),
    });
    texts.collect::<Vec<_>>().join(",")
}

/// Returns the CPUs that the calling thread may run on, in ascending order.
pub fn available_cpus() -> Vec<u32> {
    let set = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
    (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).map(|cpu| cpu as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_parsed_sorted_and_formatted_with_ranges() {
        for (text, cpus, written) in [
            ("0", vec![0], "0"),
            ("0-1,3", vec![0, 1, 3], "0-1,3"),
            (" 5 , 2-4,3", vec![2, 3, 4, 5], "2-5"),
            ("7,1", vec![1, 7], "1,7"),
        ] {
            let read = parse_cpu_list(text).unwrap();
            assert_eq!(read, cpus);
            assert_eq!(format_cpu_list(&read), written);
        }
        assert_eq!(format_cpu_list(&[]), "");
    }

    #[test]
    fn invalid_lists_are_refused_with_the_element() {
        assert_eq!(parse_cpu_list("0,x"), Err(CpuListError::NotANumber("x".into())));
        assert_eq!(parse_cpu_list(""), Err(CpuListError::NotANumber(String::new())));
        assert_eq!(parse_cpu_list("-1"), Err(CpuListError::NotANumber("-1".into())));
        assert_eq!(parse_cpu_list("3-1"), Err(CpuListError::Backwards("3-1".into())));
        assert_eq!(parse_cpu_list("0-4294967295"), Err(CpuListError::TooHigh(u32::MAX)));
    }
}
