//! What the end-to-end tests share: the golden cases, an assembler for classes no compiler writes, the corpus of
//! real jars, the JVMs, the binary under test, and readers of what it exports.

pub mod agent;
#[cfg(target_os = "linux")]
pub mod asked;
pub mod assembler;
pub mod browser;

pub mod corpus;
pub mod fleet;
pub mod fleet_reports;
pub mod golden;
pub mod hprof;
pub mod http;
pub mod jre;
pub mod machine;
pub mod maven;
pub mod places;
pub mod readers;
pub mod recorded;
#[cfg(target_os = "linux")]
pub mod resident;
pub mod rmi;
pub mod shared;
pub mod spring;
pub mod subject;
pub mod values;
