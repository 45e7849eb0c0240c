//! The settings that an output has for the runtime in it.

use crate::settings::Settings;
use instrument_control::latency::Kept;
use instrument_names::word::Word;
use instrument_rewriter::archive::NewEntry;

/// Where the runtime finds its settings.
const PROPERTIES: &str = "META-INF/instrument/runtime.properties";

/// What the program finds about itself at run time. `name` is what its profiles are called; `launcher`: it has a
/// launcher agent.
pub fn properties(name: &str, settings: &Settings, launcher: bool) -> NewEntry {
    let record = settings.record.word();
    let name: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect();
    let mut text = format!("name={name}\nrecord={record}\n");
    if let Some(timing) = settings.timing {
        text += &format!("timing={timing}\n");
    }
    if settings.propagate {
        text += "propagate=on\n";
    }
    text += &format!("selection={}\n", escape(&settings.selection().to_string()));
    if launcher {
        text += "launcher=true\n";
    }
    if !settings.roots.is_empty() {
        text += &format!("roots={}\n", escape(&settings.roots.join(",")));
    }
    if !settings.latency.is_empty() {
        let kept: Vec<String> = settings.latency.iter().map(Kept::to_string).collect();
        text += &format!("latency-of={}\n", escape(&kept.join(",")));
    }
    for region in &settings.regions {
        text += &format!("region.{}={}\n", region.number, escape(&region.name));
    }
    NewEntry { name: PROPERTIES.to_owned(), data: text.into_bytes(), stored: false }
}

/// What a rewritten JDK finds about itself.
#[cfg(unix)]
pub fn of_image(selection: &str) -> Vec<u8> {
    format!("selection={}\n", escape(selection)).into_bytes()
}

/// A value as `java.util.Properties` reads it.
fn escape(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for unit in value.encode_utf16() {
        match u8::try_from(unit).map(char::from) {
            Ok('\\') => text += "\\\\",
            Ok(c @ ' '..='~') => text.push(c),
            _ => text += &format!("\\u{unit:04x}"),
        }
    }
    text
}
