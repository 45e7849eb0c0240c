//! Classes as text: those that addresses name, and of these the methods that are meant.

use crate::source::{self, Class};
use anyhow::{Result, bail};
use instrument_analysis::session::lookup::{Given, nothing_fits};
use instrument_messages::usage;
use instrument_names::glob::Glob;
use instrument_names::mutf8;
use instrument_names::nearest::did_you_mean;
use instrument_names::pattern::Pattern;
use instrument_names::types::check_class;
use instrument_rewriter::class_file::ClassFile;
use instrument_rewriter::text::{self, PrintOptions, Section};
use std::cell::RefCell;
use std::ffi::OsStr;
use std::io::Write;

#[derive(Debug)]
pub struct Request {
    /// Addresses, and behind one the classes to print of it.
    pub names: Vec<String>,
    /// Only the methods that fit this pattern.
    pub method: Option<String>,
    /// How; `pool` is left out where only methods are printed.
    pub options: PrintOptions,
}

/// The code of the methods of a class path that fit a name, as it is printed with `--no-pool --method NAME`; none:
/// there is no such method.
///
/// # Errors
/// A name that cannot be read, an entry of the class path that cannot be read.
pub fn code_of(class_path: &OsStr, name: &str) -> Result<Option<String>> {
    let options = PrintOptions { pool: false, ..PrintOptions::listing() };
    let mut chosen = Chosen::new(name)?;
    let class = name.split(['(', '#']).next().unwrap_or(name);
    // With `.` between class and method, or with `#`: then there is nothing to cut off.
    let class = if name[class.len()..].starts_with('#') {
        class
    } else {
        class.rsplit_once('.').map_or("", |(class, _)| class)
    };
    let class = class.replace('.', "/");
    let mut out = Vec::new();
    for path in std::env::split_paths(class_path).filter(|path| !path.as_os_str().is_empty()) {
        source::classes_of(&path.display().to_string(), &|name| name == class, &mut |found| {
            // What is no class has no method.
            ClassFile::parse(found.bytes)
                .map_or(Ok(()), |file| print(&found, &file, &options, Some(&mut chosen), &mut out))
        })?;
    }
    Ok(chosen.found.then(|| String::from_utf8_lossy(&out).into_owned()))
}

/// Prints; returns what is wrong with each class that cannot be parsed.
///
/// # Errors
/// An input that cannot be read, a pattern that fits nothing, an output that cannot be written.
pub fn write(request: &Request, out: &mut impl Write) -> Result<Vec<anyhow::Error>> {
    let mut unreadable = Vec::new();
    let options = &request.options;
    let mut method = request.method.as_deref().map(Chosen::new).transpose()?;
    for (input, patterns) in inputs(&request.names)? {
        let wanted =
            |name: &str| patterns.is_empty() || patterns.iter().any(|(_, glob)| glob.matches_text(name));
        let mut classes = 0;
        source::classes_of(input, &wanted, &mut |class| {
            classes += 1;
            match ClassFile::parse(class.bytes) {
                Ok(file) => print(&class, &file, options, method.as_mut(), out)?,
                Err(error) => unreadable.push(anyhow::Error::new(error).context(class.address.to_owned())),
            }
            Ok(())
        })?;
        if classes == 0 && !patterns.is_empty() {
            let patterns: Vec<_> = patterns.iter().map(|(text, _)| *text).collect();
            let names = RefCell::new(Vec::new());
            source::classes_of(
                input,
                &|name| {
                    names.borrow_mut().push(name.replace('/', "."));
                    false
                },
                &mut |_| Ok(()),
            )?;
            bail!(
                "{input}: no class fits {}{}",
                patterns.join(" or "),
                did_you_mean(patterns[0], names.into_inner())
            );
        }
    }
    if let Some(warning) = method.and_then(Chosen::warning) {
        bail!("{warning}");
    }
    Ok(unreadable)
}

/// Patterns of classes, as they were written and compiled.
type Patterns<'a> = Vec<(&'a str, Glob)>;

/// Each input with the patterns of classes behind it.
fn inputs(names: &[String]) -> Result<Vec<(&str, Patterns<'_>)>> {
    let mut inputs: Vec<(&str, Patterns<'_>)> = Vec::new();
    for name in names {
        match inputs.last_mut() {
            Some((_, patterns)) if !source::is_address(name) => {
                let name = name.strip_suffix(".class").unwrap_or(name);
                check_class(name).map_err(|reason| usage(format!("bad pattern `{name}`: {reason}")))?;
                patterns.push((name, Glob::of_classes(name)));
            }
            _ => inputs.push((name, Vec::new())),
        }
    }
    Ok(inputs)
}

fn print(
    class: &Class<'_>,
    file: &ClassFile<'_>,
    options: &PrintOptions,
    method: Option<&mut Chosen>,
    out: &mut impl Write,
) -> Result<()> {
    let text = text::print_class(file, options);
    let Some(chosen) = method else {
        return Ok(writeln!(out, "// {}\n{text}", class.address)?);
    };
    let mut title = "";
    let mut found = false;
    for section in text::sections(&text) {
        if title.is_empty() {
            title = section.title;
        }
        if chosen.fits(file, &section) {
            if !found {
                writeln!(out, "// {}\n{title}", class.address)?;
            }
            found = true;
            write!(out, "{}\n{}", section.title, section.body)?;
        }
    }
    Ok(())
}

/// The methods that `--method` means, of printed classes.
pub struct Chosen {
    pattern: Pattern,
    /// One of them was there.
    pub found: bool,
    /// What was there, until then.
    names: Vec<String>,
}

impl Chosen {
    /// Those that fit a pattern.
    ///
    /// # Errors
    /// A pattern that cannot be read: wrong usage.
    pub fn new(pattern: &str) -> Result<Chosen> {
        let pattern = Pattern::of_methods(pattern).map_err(|error| usage(error.to_string()))?;
        Ok(Chosen { pattern, found: false, names: Vec::new() })
    }

    /// Whether a section of a class is a method that is meant.
    pub fn fits(&mut self, class: &ClassFile<'_>, section: &Section<'_>) -> bool {
        let Some(method) = section.method() else { return false };
        let class = class.name().unwrap_or_default();
        let (name, descriptor) = method.split_once(':').unwrap_or((method, ""));
        let fits = self.pattern.matches(class, name.as_bytes(), descriptor.as_bytes());
        if fits {
            self.found = true;
        } else if !self.found {
            self.names.push(format!("{}.{name}{descriptor}", mutf8::escape(class).replace('/', ".")));
        }
        fits
    }

    /// What to say if none was there.
    pub fn warning(self) -> Option<String> {
        let given = Given { name: "--method", what: "method" };
        (!self.found).then(|| nothing_fits(given, self.pattern.text(), self.names))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use instrument_testing::samples::{OLD, SEED, archive};

    fn request(names: Vec<String>) -> Request {
        let options = PrintOptions { pool: false, ..PrintOptions::listing() };
        Request { names, method: None, options }
    }

    fn dump(names: &[&str], change: impl FnOnce(&mut Request)) -> Result<String> {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let mut opts = request(names);
        change(&mut opts);
        let mut out = Vec::new();
        let unreadable = write(&opts, &mut out)?;
        assert!(unreadable.is_empty(), "{unreadable:?}");
        Ok(String::from_utf8(out)?)
    }

    #[test]
    fn selects_classes_and_methods() {
        let directory = tempfile::tempdir().unwrap();
        let jar = directory.path().join("a.jar");
        std::fs::write(&jar, archive(&[("com/acme/Seed.class", SEED), ("com/acme/Old.class", OLD)])).unwrap();
        let jar = jar.to_str().unwrap();
        let titles = |text: &str| -> Vec<String> {
            text.lines().filter(|line| line.starts_with("class ")).map(str::to_owned).collect()
        };
        assert_eq!(titles(&dump(&[jar], |_| ()).unwrap()), ["class Seed", "class Old"]);
        assert_eq!(titles(&dump(&[jar, "com.acme.Old"], |_| ()).unwrap()), ["class Old"]);
        assert_eq!(titles(&dump(&[jar, "com/acme/S*"], |_| ()).unwrap()), ["class Seed"]);
        assert_eq!(titles(&dump(&[jar, "com.acme.Old", jar, "**"], |_| ()).unwrap()).len(), 3);
        let error = dump(&[jar, "com.Old"], |_| ()).unwrap_err();
        assert!(
            error.to_string().ends_with("a.jar: no class fits com.Old; did you mean com.acme.Old?"),
            "{error}"
        );

        let text = dump(&[jar], |opts| opts.method = Some("wide(I)*".to_owned())).unwrap();
        let lines: Vec<_> = text.lines().filter(|line| !line.starts_with(' ')).collect();
        assert_eq!(lines[0], format!("// {jar}!com/acme/Old.class"));
        assert_eq!(lines[1..3], ["class Old", "method wide:(I)I"]);
        for pattern in ["wide", "wide:(I)I", "Old.wide(int)", "Old#wide(I)I", "wide(int)"] {
            let same = dump(&[jar], |opts| opts.method = Some(pattern.to_owned())).unwrap();
            assert_eq!(same, text, "{pattern}");
        }
        let error = dump(&[jar], |opts| opts.method = Some("wied(int)".to_owned())).unwrap_err().to_string();
        assert_eq!(error, "no method fits --method 'wied(int)'; did you mean Old.wide(int)?");
    }

    #[test]
    fn the_code_of_a_method_is_found_on_a_class_path() {
        let directory = tempfile::tempdir().unwrap();
        let jar = directory.path().join("a.jar");
        std::fs::write(&jar, archive(&[("Old.class", OLD)])).unwrap();
        let class_path = std::env::join_paths([directory.path(), &jar]).unwrap();
        let code = code_of(&class_path, "Old.wide(int)").unwrap().unwrap();
        assert!(code.contains("a.jar!Old.class") && code.contains("method wide:(I)I"), "{code}");
        assert_eq!(code_of(&class_path, "Old.narrow(int)").unwrap(), None);
        assert_eq!(code_of(&class_path, "None.wide(int)").unwrap(), None);
        assert!(code_of(&directory.path().join("none").into_os_string(), "Old.wide(int)").is_err());
    }

    #[test]
    fn a_broken_class_does_not_hide_the_others() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        std::fs::write(path("A.class"), &SEED[..100]).unwrap();
        std::fs::write(path("B.class"), OLD).unwrap();
        let names = vec![directory.path().to_str().unwrap().to_owned()];
        let opts = request(names);
        let mut out = Vec::new();
        let unreadable = write(&opts, &mut out).unwrap();
        assert_eq!(unreadable.len(), 1);
        assert!(format!("{:#}", unreadable[0]).contains("A.class: class file is truncated"));
        assert!(String::from_utf8(out).unwrap().contains("class Old\n"));
    }
}
