//! Classes and archives.

/// A class with line numbers, frames and local variables.
pub const SEED: &[u8] = include_bytes!("../../../fuzz/corpus/class_scan/Seed.class");
/// A small class.
pub const OLD: &[u8] = include_bytes!("../../../fuzz/corpus/class_scan/Old.class");

/// An archive with these entries, stored.
pub fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut archive = rawzip::ZipArchiveWriter::new(&mut bytes);
    for (name, content) in entries {
        let (mut entry, config) = archive.new_file(name).start().unwrap();
        let mut writer = config.wrap(&mut entry);
        std::io::Write::write_all(&mut writer, content).unwrap();
        let (_, descriptor) = writer.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap();
    bytes
}
