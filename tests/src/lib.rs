//! What the end-to-end tests share: finding JVMs, jars and the binary.
