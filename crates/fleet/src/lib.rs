//! Many profiles of many hosts: shipped into one folder, and asked as a dataset.
//!
//! | module | what it is responsible for |
//! |---|---|
//! | [`ship`] | finished profiles from a host to a folder that many hosts write into |
//! | [`questions`] | questions to a dataset, which DuckDB answers; their SQL is in `crates/fleet/sql` |
//!
//! Beside it: a dashboard for Grafana, and a Python package for Spark.

pub mod questions;
pub mod ship;
