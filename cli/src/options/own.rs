//! Which methods are the program's own: for reports that show nothing else on request.

use anyhow::{Context, Result};
use instrument_analysis::session::own::Classes;
use instrument_artifacts::source;
use instrument_names::mutf8;
use instrument_rewriter::class_file::ClassFile;
use std::collections::HashSet;
use std::path::PathBuf;

/// In the place of a pattern: what the first screen of `report` finds.
pub(crate) const AUTO: &str = "auto";

/// The program's own methods.
#[derive(Debug, Clone, Default, clap::Args)]
#[group(skip)]
pub(crate) struct Opts {
    /// Only the program's own methods, and calls with values: what libraries consumed is their caller's; `auto`: those that `report` puts
    /// first
    #[arg(long, value_name = "PATTERN")]
    own: Vec<String>,
}

impl Opts {
    /// The patterns for [`instrument_analysis::session::Request::own`].
    pub(crate) fn patterns(&self) -> Option<Vec<String>> {
        let given = self.own.iter().filter(|pattern| *pattern != AUTO);
        (!self.own.is_empty()).then(|| given.cloned().collect())
    }
}

/// Which classes are the program's own, as a build knows.
#[derive(Debug, Clone, Default, clap::Args)]
#[group(skip)]
pub(crate) struct ClassesOpts {
    /// The program's own methods, which come first: those of the classes in this directory or archive, such as target/classes; repeatable
    #[arg(long = "own-classes", value_name = "PATH")]
    paths: Vec<PathBuf>,
}

impl ClassesOpts {
    /// Their names.
    ///
    /// # Errors
    /// A path that is not there, or holds something that is no class.
    pub(crate) fn read(&self) -> Result<Classes> {
        let mut names = HashSet::new();
        for path in &self.paths {
            let shown = path.display().to_string();
            source::classes_of(&shown, &|_| true, &mut |class| {
                let file = ClassFile::parse(class.bytes).with_context(|| class.address.to_owned())?;
                names.insert(mutf8::escape(file.name()?).replace('/', "."));
                Ok(())
            })
            .with_context(|| format!("--own-classes {shown}"))?;
        }
        let of = match &self.paths[..] {
            [] => String::new(),
            [path] => path.display().to_string(),
            [first, rest @ ..] => format!("{} and {} more", first.display(), rest.len()),
        };
        Ok(Classes { names, of })
    }
}
