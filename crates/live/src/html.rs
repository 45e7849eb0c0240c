//! The page: the viewer's files and a document, in one HTML file that needs nothing else. `viewer/README.md` says what is in which file.

use anyhow::{Result, anyhow};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use instrument_analysis::page::Page;
use libdeflater::{CompressionLvl, Compressor};
use sha2::{Digest, Sha256};

const FRAME: &str = include_str!("../../../viewer/index.html");
const STYLE: &str = include_str!("../../../viewer/style.css");
/// In an order in which each finds what it uses.
const SCRIPTS: [&str; 35] = [
    include_str!("../../../viewer/src/figures.js"),
    include_str!("../../../viewer/src/names.js"),
    include_str!("../../../viewer/src/profile.js"),
    include_str!("../../../viewer/src/difference.js"),
    include_str!("../../../viewer/src/state.js"),
    include_str!("../../../viewer/src/rows.js"),
    include_str!("../../../viewer/src/mapper.js"),
    include_str!("../../../viewer/src/open.js"),
    include_str!("../../../viewer/src/find.js"),
    include_str!("../../../viewer/src/graph.js"),
    include_str!("../../../viewer/src/mapping.js"),
    include_str!("../../../viewer/src/tree.js"),
    include_str!("../../../viewer/src/icicle.js"),
    include_str!("../../../viewer/src/flame.js"),
    include_str!("../../../viewer/src/sandwich.js"),
    include_str!("../../../viewer/src/methods.js"),
    include_str!("../../../viewer/src/table.js"),
    include_str!("../../../viewer/src/threads.js"),
    include_str!("../../../viewer/src/heap.js"),
    include_str!("../../../viewer/src/monitors.js"),
    include_str!("../../../viewer/src/statements.js"),
    include_str!("../../../viewer/src/remote.js"),
    include_str!("../../../viewer/src/window.js"),
    include_str!("../../../viewer/src/lanes.js"),
    include_str!("../../../viewer/src/timeline.js"),
    include_str!("../../../viewer/src/node.js"),
    include_str!("../../../viewer/src/ownflame.js"),
    include_str!("../../../viewer/src/summary.js"),
    include_str!("../../../viewer/src/side.js"),
    include_str!("../../../viewer/src/search.js"),
    include_str!("../../../viewer/src/tabs.js"),
    include_str!("../../../viewer/src/command.js"),
    include_str!("../../../viewer/src/keys.js"),
    include_str!("../../../viewer/src/live.js"),
    include_str!("../../../viewer/src/app.js"),
];

/// Compression of the document: half a second for a million contexts.
const LEVEL: i32 = 9;

/// The page. Names are in the compressed document only, but for the title, which is escaped. `is_served`: it may ask the server that it came
/// from, and nobody else.
///
/// # Errors
/// The document cannot be written, or is too large to be compressed.
pub(crate) fn html(title: &str, page: &Page, is_served: bool) -> Result<String> {
    let mut document = Vec::new();
    page.write(&mut document)?;
    let level = CompressionLvl::new(LEVEL).map_err(|_| anyhow!("no compression level {LEVEL}"))?;
    let mut compressor = Compressor::new(level);
    let mut packed = vec![0; compressor.deflate_compress_bound(document.len())];
    let length = compressor.deflate_compress(&document, &mut packed)?;
    // The page's policy allows this script and no other, so its text must be what the browser sees between the tags.
    let script = format!("\n{}\n", SCRIPTS.concat());
    let hash = format!("sha256-{}", STANDARD.encode(Sha256::digest(&script)));
    let parts = [
        ("script-hash", hash),
        ("connect", if is_served { "'self'" } else { "'none'" }.to_owned()),
        ("title", escaped(title)),
        ("style", STYLE.to_owned()),
        ("document", STANDARD.encode(&packed[..length])),
    ];
    let mut text = FRAME.replace("\n{{script}}\n", "{{script}}");
    for (name, value) in parts {
        text = text.replacen(&format!("{{{{{name}}}}}"), &value, 1);
    }
    Ok(text.replacen("{{script}}", &script, 1))
}

fn escaped(text: &str) -> String {
    let text = instrument_names::printable::printable(text);
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What ends a script element early would be shown as text, and its policy would refuse the rest.
    #[test]
    fn scripts_do_not_end_their_element() {
        let script = SCRIPTS.concat();
        assert!(!script.to_lowercase().contains("</script") && !script.contains("<!--"));
        assert!(script.len() > 30_000, "{}", script.len());
    }

    #[test]
    fn a_title_is_text() {
        assert_eq!(escaped("a<b>\"&\u{1b}"), "a&lt;b&gt;&quot;&amp;\\u001b");
    }
}
