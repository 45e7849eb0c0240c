//! Which methods are the program's own, among those of the libraries that are recorded as well.

use std::collections::{BTreeSet, HashSet};

use super::libraries::is_of_library;
use super::lookup::{Methods, method_names};
use super::{Error, ProfileFile};
use crate::model::{Arcflow, Kind, NodeId};
use instrument_names::signature::{parts, value_kind};

/// Packages of many owners: the word behind them is part of a program's name.
const SHARED: &[&str] = &["com.github.", "com.google.", "io.github.", "org.example."];

/// Classes that are the program's own, since a build has just made them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Classes {
    /// As `Class.getName()` gives them; none: nobody says.
    pub names: HashSet<String>,
    pub of: String,
}

/// Which methods are the program's own.
pub(crate) struct Own {
    /// As patterns; none: all that is in no library, or in [`Own::classes`].
    pub(crate) patterns: Vec<String>,
    classes: Option<Classes>,
    /// How it is known, in words.
    pub(crate) how: &'static str,
    /// The patterns were given, or the archive that was run says so.
    is_told: bool,
    methods: Methods,
    /// All methods are.
    all: bool,
}

impl Own {
    /// `given`: patterns; none: methods of `classes`; without these, too: those that the profiles tell.
    ///
    /// # Errors
    /// A pattern that cannot be read.
    pub(crate) fn new(
        given: &[String],
        classes: &Classes,
        model: &Arcflow,
        profiles: &[ProfileFile],
    ) -> Result<Own, Error> {
        let names = method_names(model);
        if given.is_empty() && !classes.names.is_empty() {
            let classes = Some(classes.clone());
            let (patterns, methods) = (Vec::new(), Methods::default());
            return Ok(Own { patterns, classes, how: "--own-classes", is_told: true, methods, all: false });
        }
        let of_archive = start_packages(profiles);
        let guesses = [
            (given.to_vec(), "--own", true),
            (of_archive, "the package of its Start-Class", true),
            (main_packages(model), "the package of its main class", false),
        ];
        for (patterns, how, is_told) in guesses {
            let mut methods = Methods::new("--own", &patterns, &names)?;
            let is_given = how == "--own" && !patterns.is_empty();
            if patterns.is_empty() || methods.fit_nothing() && !is_given {
                continue;
            }
            if !is_given {
                methods.warnings.clear();
            }
            return Ok(Own { patterns, classes: None, how, is_told, methods, all: false });
        }
        // What no class has, as class loading, is nobody's own.
        let is_own =
            |name: &&str| !is_of_library(name) && value_kind(name).is_none() && !name.starts_with('(');
        let all = !names.iter().any(is_own);
        let how = if all { "all that was recorded" } else { "what is in no known library" };
        let (patterns, methods) = (Vec::new(), Methods::default());
        Ok(Own { patterns, classes: None, how, is_told: false, methods, all })
    }

    /// Which they are, and how that is known.
    pub(crate) fn describe(&self) -> String {
        match (&self.classes, self.patterns.is_empty()) {
            (Some(classes), _) => format!("classes of {}", classes.of),
            (None, true) => self.how.to_owned(),
            (None, false) => format!("{} ({})", self.patterns.join(" "), self.how),
        }
    }

    /// Patterns that fit nothing.
    pub(crate) fn warnings(&self) -> &[String] {
        &self.methods.warnings
    }

    /// Whether somebody said which they are, and there is one.
    pub(crate) fn is_there(&self) -> bool {
        self.is_told && !self.methods.fit_nothing()
    }

    /// Whether a method is.
    pub(crate) fn fits(&self, kind: Kind, name: &str) -> bool {
        if kind != Kind::Method || value_kind(name).is_some() || is_generated(name) || name.starts_with('(') {
            return false;
        }
        if let Some(classes) = &self.classes {
            return classes.names.contains(parts(name).0);
        }
        match self.patterns.is_empty() {
            true => self.all || !is_of_library(name),
            false => self.methods.fits(name),
        }
    }

    /// The model without calls of other methods: what these consumed is that of the nearest caller that is the program's own. Calls with
    /// values, as SQL statements, stay.
    pub(crate) fn charged(&self, model: &Arcflow) -> Arcflow {
        let mut known: Vec<Option<bool>> = vec![None; model.names().count()];
        model.charged(|id| {
            let node = model.node(id);
            let is_kept = || {
                let name = model.name(node.consumer);
                value_kind(name).is_some() || self.fits(Kind::Method, name)
            };
            node.kind != Kind::Method || *known[node.consumer.0 as usize].get_or_insert_with(is_kept)
        })
    }

    /// For each context the nearest that is the program's own: itself, or one above it.
    pub(crate) fn nearest(&self, model: &Arcflow) -> Vec<Option<NodeId>> {
        let mut known: Vec<Option<bool>> = vec![None; model.names().count()];
        let mut nearest: Vec<Option<NodeId>> = Vec::with_capacity(model.nodes().len());
        for (id, node) in model.ids().zip(model.nodes()) {
            let is_method = node.kind == Kind::Method;
            let is_own = is_method
                && *known[node.consumer.0 as usize]
                    .get_or_insert_with(|| self.fits(node.kind, model.name(node.consumer)));
            let above = if id == Arcflow::ROOT { None } else { nearest[node.parent.0 as usize] };
            nearest.push(if is_own { Some(id) } else { above });
        }
        nearest
    }
}

/// Classes that were generated for the program's have `$$` in their names.
fn is_generated(name: &str) -> bool {
    name.split('(').next().is_some_and(|name| name.contains("$$"))
}

/// Of Spring Boot archives.
fn start_packages(profiles: &[ProfileFile]) -> Vec<String> {
    let start = profiles.iter().filter_map(|file| file.property("start-class"));
    let packages = start.filter_map(|class| class.rsplit_once('.'));
    let packages: BTreeSet<String> = packages.map(|(package, _)| format!("{package}.**")).collect();
    packages.into_iter().collect()
}

/// Of the classes whose `main` is the first that a thread called.
fn main_packages(model: &Arcflow) -> Vec<String> {
    let mut packages = BTreeSet::new();
    for node in model.nodes().iter().filter(|node| node.kind == Kind::Method) {
        let (class, method, _) = parts(model.name(node.consumer));
        let is_first = model.node(node.parent).kind == Kind::Thread;
        if is_first && method == "main" && !is_of_library(class) {
            packages.extend(root_package(class).map(|package| format!("{package}.**")));
        }
    }
    packages.into_iter().collect()
}

/// `com.acme` of `com.acme.shop.Main`: a program has more packages than that of its main class.
fn root_package(class: &str) -> Option<&str> {
    let (package, _) = class.rsplit_once('.')?;
    let words = if SHARED.iter().any(|shared| class.starts_with(shared)) { 3 } else { 2 };
    let end = package.match_indices('.').nth(words - 1).map_or(package.len(), |(at, _)| at);
    Some(&package[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::folded;

    fn own(text: &str, given: &[&str]) -> (Own, Arcflow) {
        let model = folded::read(text.as_bytes()).unwrap();
        let given: Vec<String> = given.iter().map(|&text| text.to_owned()).collect();
        (Own::new(&given, &Classes::default(), &model, &[]).unwrap(), model)
    }

    #[test]
    fn a_program_has_the_package_of_its_main_class() {
        for (class, package) in [
            ("com.acme.shop.Main", Some("com.acme")),
            ("com.acme.Main", Some("com.acme")),
            ("shop.Main", Some("shop")),
            ("io.github.acme.shop.till.Main", Some("io.github.acme")),
            ("Main", None),
        ] {
            assert_eq!(root_package(class), package, "{class}");
        }
    }

    #[test]
    fn own_methods_are_those_that_somebody_said_or_that_are_in_no_library() {
        let text =
            "main;com.acme.shop.Main.main()V;com.acme.till.Till.add(I)V;org.lib.A.a()V;SQL select ? 3\n";
        let (of_main, model) = own(text, &[]);
        // Folded stacks have no threads: the root of a stack is a method.
        assert!(of_main.patterns.is_empty() && of_main.fits(Kind::Method, "org.lib.A.a()V"));
        let (given, _) = own(text, &["com.acme.**"]);
        assert!(given.is_there() && !of_main.is_there());
        let nearest: Vec<_> = given.nearest(&model);
        let name = |id: Option<NodeId>| id.map(|id| model.name(model.node(id).consumer));
        let till = "com.acme.till.Till.add(I)V";
        assert_eq!(name(nearest[3]), Some(till));
        assert_eq!([name(nearest[4]), name(nearest[5])], [Some(till); 2]);
        let charged = given.charged(&model);
        let names: Vec<_> = charged.nodes().iter().map(|node| charged.name(node.consumer)).collect();
        assert_eq!(names[1..], ["com.acme.shop.Main.main()V", till, "SQL select ?"]);
        assert_eq!(charged.cum()[0], model.cum()[0], "nothing is lost");
        assert!(!given.fits(Kind::Method, "com.acme.Till$$SpringCGLIB$$0.add(I)V"));
        assert!(!given.fits(Kind::Thread, "com.acme.Till.add(I)V"));
        let (library, _) = own("org.apache.A.a()V;java.B.b()V 3\n", &[]);
        assert!(library.fits(Kind::Method, "org.apache.A.a()V"), "all of it is one library");
    }

    #[test]
    fn classes_that_a_build_has_made_are_own_and_those_beside_them_are_not() {
        let text = "main;p.ShopTest.sells()V;p.Shop.sell()V;p.Shop$Item.price()I 3\n";
        let model = folded::read(text.as_bytes()).unwrap();
        let names = ["p.Shop", "p.Shop$Item"].map(str::to_owned);
        let classes = Classes { names: names.into(), of: "target/classes".into() };
        let own = Own::new(&[], &classes, &model, &[]).unwrap();
        assert!(
            own.fits(Kind::Method, "p.Shop$Item.price()I") && !own.fits(Kind::Method, "p.ShopTest.sells()V")
        );
        assert_eq!(own.describe(), "classes of target/classes");
        let given = Own::new(&["p.ShopTest".to_owned()], &classes, &model, &[]).unwrap();
        assert!(
            given.fits(Kind::Method, "p.ShopTest.sells()V") && !given.fits(Kind::Method, "p.Shop.sell()V")
        );
    }

    #[test]
    fn a_program_that_is_a_library_is_its_own() {
        let (own, _) = own("org.eclipse.jdt.Main.main();(class loading) 1\n", &[]);
        assert!(own.fits(Kind::Method, "org.eclipse.jdt.Main.main()"));
        assert!(!own.fits(Kind::Method, "(class loading)"));
        assert_eq!(own.how, "all that was recorded");
    }
}
