//! Where the files of a dataset lie: `TABLE/service=S/build=B/day=D/BATCH.parquet`, as Hive has it, which all engines
//! read.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};

use sha2::{Digest, Sha256};

use super::schema::Table;

/// In the place of a label that a process does not have, as Hive writes it.
const NOTHING: &str = "__HIVE_DEFAULT_PARTITION__";

/// Bytes of a folder's name at most, so that every file system takes it.
const LONGEST: usize = 200;

/// What processes are kept apart by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Partition {
    pub(super) service: String,
    pub(super) build: Option<String>,
    /// Of the start of recording, UTC: `2026-11-24`.
    pub(super) day: String,
}

impl Partition {
    pub(super) fn new(service: &str, build: Option<&str>, start_ms: u64) -> Partition {
        // Later than the year 9999 nothing is recorded; a damaged file may say so.
        let start = Duration::from_millis(start_ms.min(253_402_300_799_000));
        let mut day = humantime::format_rfc3339_seconds(UNIX_EPOCH + start).to_string();
        day.truncate("2026-11-24".len());
        Partition { service: service.to_owned(), build: build.map(str::to_owned), day }
    }

    /// The file of a table, below the folder of the dataset.
    pub(super) fn file(&self, table: &Table, batch: &str) -> PathBuf {
        let folder = |key: &str, value: Option<&str>| {
            format!(
                "{key}={}",
                value.filter(|value| !value.is_empty()).map_or_else(|| NOTHING.into(), escaped)
            )
        };
        let mut path = PathBuf::from(table.name);
        path.push(folder("service", Some(&self.service)));
        path.push(folder("build", self.build.as_deref()));
        path.push(folder("day", Some(&self.day)));
        path.push(format!("{batch}.parquet"));
        path
    }
}

/// The value of a partition as the name of a folder: what is no letter, digit, `.`, `_`, `-` or `+` becomes `%` and two
/// digits. What is too long ends with a hash in the place of the rest.
fn escaped(value: &str) -> String {
    let mut text = String::new();
    for &byte in value.as_bytes() {
        if byte.is_ascii_alphanumeric() || b"._-+".contains(&byte) {
            text.push(byte.into());
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    if text.len() > LONGEST {
        // Not within an escaped byte.
        let end = (LONGEST - 24..=LONGEST - 22)
            .find(|&end| !text[..end].ends_with('%') && !text[..end - 1].ends_with('%'));
        text.truncate(end.unwrap_or(LONGEST - 24));
        let _ = write!(text, "-{}", hex(&Sha256::digest(value)[..8]));
    }
    text
}

/// Bytes as lower-case hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::super::schema::VALUES;
    use super::*;

    #[test]
    fn a_partition_is_a_path_that_every_file_system_takes() {
        let path = |service: &str, build: Option<&str>| {
            let path = Partition::new(service, build, 1_795_478_400_123).file(&VALUES, "b");
            path.to_str().unwrap().to_owned()
        };
        assert_eq!(path("shop", Some("1.2+3")), "values/service=shop/build=1.2+3/day=2026-11-24/b.parquet");
        assert_eq!(
            path("../a=b/ü\n", None),
            "values/service=..%2Fa%3Db%2F%C3%BC%0A/build=__HIVE_DEFAULT_PARTITION__/day=2026-11-24/b.parquet"
        );
        for length in 60..300 {
            let [one, other] =
                ["a", "b"].map(|end| path(&("x".repeat(length) + &"ü".repeat(60) + end), None));
            assert_ne!(one, other);
            let folder = one.split('/').nth(1).unwrap();
            assert!(folder.len() <= LONGEST + "service=".len(), "{folder}");
            let (cut, hash) = folder.rsplit_once('-').unwrap();
            assert!(
                hash.len() == 16 && !cut.ends_with('%') && !cut[..cut.len() - 1].ends_with('%'),
                "{folder}"
            );
        }
        assert_eq!(Partition::new("s", None, u64::MAX).day, "9999-12-31");
    }
}
