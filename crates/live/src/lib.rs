//! Profiles shown as they grow.
//!
//! | module | what it is responsible for |
//! |---|---|
//! | [`page`] | what the page of a browser shows of a session, or of two sides |
//! | [`server`] | the page on the loopback address, made anew as the profile grows, and what it asks for more of |
//! | [`top`] | hot methods and threads on a terminal |

mod connections;
mod html;
mod moments;
pub mod page;
pub mod server;
#[cfg(unix)]
pub mod top;
