//! Tracefiles of lcov (`geninfo(1)`), which genhtml, editors and code hosts read: with counts, not only yes or no.
//!
//! One record for each source file: functions (`FN`, `FNDA`), branches (`BRDA`) and lines (`DA`). A branch or switch is
//! a *block* of its line, and its ways are the *branches*; what was never reached has `-`. Lines that cannot hold a
//! line end or a comma have none: names are escaped.

use crate::coverage::Coverage;
use instrument_names::printable::printable;
use instrument_names::signature::readable;
use std::io::{self, Write};

/// Writes the tracefile. `path`: of a source file, by its package and name.
///
/// # Errors
/// Those of `out`.
pub fn write(
    coverage: &Coverage,
    path: &dyn Fn(&str, &str) -> String,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (package, content) in &coverage.packages {
        for (file, source) in content.sources() {
            writeln!(out, "TN:\nSF:{}", printable(&path(package, file)))?;
            let (mut found, mut hit) = (0, 0);
            for (class, method) in
                source.classes.iter().flat_map(|(name, class)| class.methods.iter().map(move |m| (name, m)))
            {
                let Some(line) = method.lines.keys().next() else { continue };
                let name = format!("{}.{}{}", class.replace('/', "."), method.name, method.descriptor);
                let name = printable(&readable(&name).unwrap_or(name)).replace(", ", ",");
                writeln!(out, "FN:{line},{name}\nFNDA:{},{name}", method.calls)?;
                found += 1;
                hit += u32::from(method.calls > 0);
            }
            writeln!(out, "FNF:{found}\nFNH:{hit}")?;
            let (mut found, mut hit) = (0, 0);
            for (number, line) in &source.lines {
                for (block, branch) in line.branches.iter().enumerate() {
                    for (index, way) in branch.ways.iter().enumerate() {
                        let taken = if branch.executed == 0 { "-".to_owned() } else { way.to_string() };
                        writeln!(out, "BRDA:{number},{block},{index},{taken}")?;
                        found += 1;
                        hit += u32::from(*way > 0);
                    }
                }
            }
            writeln!(out, "BRF:{found}\nBRH:{hit}")?;
            for (number, line) in &source.lines {
                writeln!(out, "DA:{number},{}", line.count)?;
            }
            let hit = source.lines.values().filter(|line| line.count > 0).count();
            writeln!(out, "LF:{}\nLH:{hit}\nend_of_record", source.lines.len())?;
        }
    }
    Ok(())
}
