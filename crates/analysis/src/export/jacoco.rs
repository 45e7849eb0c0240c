//! JaCoCo's XML report (`report.dtd` 1.1), which SonarQube, Jenkins, GitLab and others read. It has no counts, only
//! what was missed and covered.
//!
//! Nothing is filtered but what the compiler made up (bridges, accessors); JaCoCo filters more.

use crate::coverage::{Class, Counter, Counters, Coverage, Package, Source};
use crate::junit::allowed;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use std::io::{self, Write};

const DOCTYPE: &str = "report PUBLIC \"-//JACOCO//DTD Report 1.1//EN\" \"report.dtd\"";

type Out<'a> = Writer<&'a mut dyn Write>;

/// Writes the report. `name`: what it is called.
///
/// # Errors
/// Those of `out`.
pub fn write(coverage: &Coverage, name: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = Writer::new_with_indent(out, b' ', 1);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    writer.write_event(Event::DocType(BytesText::from_escaped(DOCTYPE)))?;
    writer.create_element("report").with_attribute(("name", &*allowed(name))).write_inner_content(
        |writer| {
            let mut sum = Counters::default();
            for (name, content) in &coverage.packages {
                let counters = Counters::of_package(content);
                sum.add(&counters);
                let element = writer.create_element("package").with_attribute(("name", &*allowed(name)));
                element.write_inner_content(|writer| {
                    package(writer, content)?;
                    all(writer, &counters)
                })?;
            }
            all(writer, &sum)
        },
    )?;
    writeln!(writer.into_inner())
}

fn package(writer: &mut Out<'_>, package: &Package) -> io::Result<()> {
    for (name, of) in &package.classes {
        class(writer, name, of)?;
    }
    for (name, of) in package.sources() {
        source(writer, name, &of)?;
    }
    Ok(())
}

fn class(writer: &mut Out<'_>, name: &str, class: &Class) -> io::Result<()> {
    let mut element = writer.create_element("class").with_attribute(("name", &*allowed(name)));
    if let Some(source) = &class.source {
        element = element.with_attribute(("sourcefilename", &*allowed(source)));
    }
    element.write_inner_content(|writer| {
        for method in &class.methods {
            let (name, descriptor) = (allowed(&method.name), allowed(&method.descriptor));
            let mut element = writer.create_element("method");
            element = element.with_attributes([("name", &*name), ("desc", &*descriptor)]);
            if let Some(line) = method.lines.keys().next() {
                element = element.with_attribute(("line", &*line.to_string()));
            }
            element.write_inner_content(|writer| {
                let counters = Counters::of_method(method);
                some(
                    writer,
                    &[
                        ("INSTRUCTION", counters.instructions),
                        ("BRANCH", counters.branches),
                        ("LINE", counters.lines),
                        ("COMPLEXITY", counters.complexity),
                        ("METHOD", counters.methods),
                    ],
                )
            })?;
        }
        all(writer, &Counters::of_class(class))
    })?;
    Ok(())
}

fn source(writer: &mut Out<'_>, name: &str, source: &Source<'_>) -> io::Result<()> {
    let element = writer.create_element("sourcefile").with_attribute(("name", &*allowed(name)));
    element.write_inner_content(|writer| {
        for (number, line) in &source.lines {
            let ways = line.ways();
            let figures = [line.missed, line.covered, ways.missed, ways.covered].map(|n| n.to_string());
            let names = ["mi", "ci", "mb", "cb"];
            let element = writer.create_element("line").with_attribute(("nr", &*number.to_string()));
            element
                .with_attributes(names.into_iter().zip(figures.iter().map(String::as_str)))
                .write_empty()?;
        }
        all(writer, &Counters::of_source(source))
    })?;
    Ok(())
}

fn all(writer: &mut Out<'_>, counters: &Counters) -> io::Result<()> {
    let rows = [
        ("INSTRUCTION", counters.instructions),
        ("BRANCH", counters.branches),
        ("LINE", counters.lines),
        ("COMPLEXITY", counters.complexity),
        ("METHOD", counters.methods),
        ("CLASS", counters.classes),
    ];
    some(writer, &rows)
}

/// Of what there is none, nothing is said.
fn some(writer: &mut Out<'_>, rows: &[(&str, Counter)]) -> io::Result<()> {
    for (kind, Counter { missed, covered }) in rows.iter().filter(|(_, c)| c.missed + c.covered > 0) {
        let (missed, covered) = (missed.to_string(), covered.to_string());
        let attributes = [("type", *kind), ("missed", &*missed), ("covered", &*covered)];
        writer.create_element("counter").with_attributes(attributes).write_empty()?;
    }
    Ok(())
}
