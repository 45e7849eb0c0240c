//! All classes of one side of a comparison, and those of the JDK around them: what a name of a class or member leads to
//! (JVMS 5.4.3).

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::rc::Rc;

use super::Kind;
use super::class::{ACCESSIBLE, Class, Key, Member};
use crate::class_path::jdk_on_path;
use instrument_rewriter::class_file::ClassFile;
use instrument_verifier::hierarchy::flags;
use instrument_verifier::image::Image;

/// Classes may extend each other in a circle.
const DEEPEST: usize = 200;

/// The classes of the JDK whose `java` stands on the path; without one, of `Object` alone what every class has.
#[derive(Debug, Default)]
pub(super) struct Platform {
    image: Option<RefCell<Image<File>>>,
    known: RefCell<HashMap<String, Option<Rc<Class>>>>,
}

impl Platform {
    pub(super) fn find_one() -> Platform {
        let image = jdk_on_path()
            .and_then(|home| File::open(home.join("lib/modules")).ok())
            .and_then(|file| Image::open(file).ok());
        Platform { image: image.map(RefCell::new), ..Platform::default() }
    }

    /// Whether there is a JDK.
    pub(super) fn is_found(&self) -> bool {
        self.image.is_some()
    }

    fn get(&self, name: &str) -> Option<Rc<Class>> {
        if let Some(known) = self.known.borrow().get(name) {
            return known.clone();
        }
        let read = |image: &RefCell<Image<File>>| {
            let bytes = image.borrow_mut().class(name).ok().flatten()?;
            Class::read(&ClassFile::parse(&bytes).ok()?).ok()
        };
        let class = match &self.image {
            Some(image) => read(image),
            None => (name == "java/lang/Object").then(object),
        };
        let class = class.map(Rc::new);
        self.known.borrow_mut().insert(name.to_owned(), class.clone());
        class
    }
}

/// `java.lang.Object` as far as classes override it.
fn object() -> Class {
    let method = |(name, descriptor, flags): (&str, &str, u16)| {
        let key = Key { kind: Kind::Method, name: name.to_owned(), descriptor: descriptor.to_owned() };
        (key, Member { flags, ..Member::default() })
    };
    let members = [
        ("equals", "(Ljava/lang/Object;)Z", flags::PUBLIC),
        ("hashCode", "()I", flags::PUBLIC),
        ("toString", "()Ljava/lang/String;", flags::PUBLIC),
        ("clone", "()Ljava/lang/Object;", flags::PROTECTED),
        ("finalize", "()V", flags::PROTECTED),
    ];
    Class {
        name: "java/lang/Object".to_owned(),
        outermost: "java/lang/Object".to_owned(),
        flags: flags::PUBLIC,
        members: members.map(method).into(),
        ..Class::default()
    }
}

/// The classes of one side.
#[derive(Debug)]
pub(super) struct Library<'p> {
    /// By the archive or folder that they lie in, and their name.
    classes: BTreeMap<(usize, String), Rc<Class>>,
    /// The first of each name.
    by_name: HashMap<String, Rc<Class>>,
    platform: &'p Platform,
}

impl<'p> Library<'p> {
    pub(super) fn new(classes: &BTreeMap<(usize, String), Rc<Class>>, platform: &'p Platform) -> Library<'p> {
        let mut by_name = HashMap::new();
        for class in classes.values() {
            by_name.entry(class.name.clone()).or_insert_with(|| class.clone());
        }
        Library { classes: classes.clone(), by_name, platform }
    }

    /// Whether a class is one of this side's own.
    pub(super) fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// A class by name, as those of `tree` see it.
    pub(super) fn get(&self, tree: usize, name: &str) -> Option<Rc<Class>> {
        let own = self.classes.get(&(tree, name.to_owned())).or_else(|| self.by_name.get(name));
        own.cloned().or_else(|| self.platform.get(name))
    }

    /// A class that other packages can name.
    pub(super) fn visible(&self, tree: usize, name: &str) -> Option<Rc<Class>> {
        let is_visible = |class: &Class| {
            let outermost = class.outermost != class.name;
            let outermost = outermost.then(|| self.get(tree, &class.outermost)).flatten();
            class.is(ACCESSIBLE) && outermost.is_none_or(|outermost| outermost.is(ACCESSIBLE))
        };
        self.classes.get(&(tree, name.to_owned())).filter(|class| is_visible(class)).cloned()
    }

    /// The superclasses and superinterfaces of a class, those that are not found too.
    pub(super) fn supers(&self, tree: usize, class: &Class) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut open: Vec<String> = class.super_class.iter().chain(&class.interfaces).cloned().collect();
        while let Some(name) = open.pop() {
            if let Some(class) = self.get(tree, &name).filter(|_| !found.contains(&name)) {
                open.extend(class.super_class.iter().chain(&class.interfaces).cloned());
            }
            found.insert(name);
        }
        found
    }

    /// The member that a name and descriptor lead to in a class, and the class that declares it. What a compiler made,
    /// as a bridge to a method of a class that is not public, stands back behind what it leads to.
    pub(super) fn resolve(&self, tree: usize, class: &Rc<Class>, key: &Key) -> Option<(Rc<Class>, Member)> {
        if key.kind == Kind::Field {
            let declaring = self.nearest(tree, class, |class| class.members.contains_key(key)).next()?;
            return declaring.members.get(key).cloned().map(|member| (declaring, member));
        }
        let (mut next, mut bridge) = (Some(class.clone()), None);
        for _ in 0..DEEPEST {
            let Some(current) = next else { break };
            if let Some(member) = current.members.get(key) {
                let found = (current.clone(), member.clone());
                if !member.is(flags::SYNTHETIC) {
                    // A bridge implements it, if it leads to a method with another result.
                    return bridge.filter(|_| member.is(flags::ABSTRACT)).or(Some(found));
                }
                bridge = bridge.or(Some(found));
            }
            let inherits = !key.is_constructor();
            next = current.super_class.as_ref().filter(|_| inherits).and_then(|name| self.get(tree, name));
        }
        if key.is_constructor() {
            None
        } else {
            bridge.or_else(|| self.resolve_in_interfaces(tree, class, key))
        }
    }

    /// The classes whose fields of a name sources find in a class; with more than one, the name is ambiguous (JLS
    /// 8.3.3).
    pub(super) fn named(&self, tree: usize, class: &Rc<Class>, name: &str) -> Vec<Rc<Class>> {
        let first = Key { kind: Kind::Field, name: name.to_owned(), descriptor: String::new() };
        let has = |class: &Class, access: u16| {
            let fields = class
                .members
                .range(&first..)
                .take_while(|(key, _)| key.kind == Kind::Field && key.name == name);
            fields
                .filter(|(_, member)| !member.is(flags::SYNTHETIC))
                .any(|(_, member)| access == 0 || member.is(access))
        };
        self.nearest(tree, class, |class| has(class, 0)).filter(|class| has(class, ACCESSIBLE)).collect()
    }

    /// The classes that fit, of a class and all above it, without those above one that fits: interfaces before the
    /// superclass, as the JVM looks for a field (JVMS 5.4.3.2).
    fn nearest(
        &self,
        tree: usize,
        class: &Rc<Class>,
        fits: impl Fn(&Class) -> bool,
    ) -> impl Iterator<Item = Rc<Class>> {
        let (mut open, mut seen) = (vec![class.clone()], BTreeSet::new());
        std::iter::from_fn(move || {
            while let Some(current) = open.pop() {
                if !seen.insert(current.name.clone()) {
                    continue;
                }
                if fits(&current) {
                    return Some(current);
                }
                let above = current.super_class.iter().chain(current.interfaces.iter().rev());
                open.extend(above.filter_map(|name| self.get(tree, name)));
            }
            None
        })
    }

    /// Of several interfaces that have it: none above another one that has it, and one whose method has code before
    /// others.
    fn resolve_in_interfaces(&self, tree: usize, class: &Class, key: &Key) -> Option<(Rc<Class>, Member)> {
        let interfaces = self.supers(tree, class).into_iter().filter_map(|name| self.get(tree, &name));
        let mut found: Vec<(Rc<Class>, Member)> = interfaces
            .filter(|class| class.is(flags::INTERFACE))
            .filter_map(|class| class.members.get(key).cloned().map(|member| (class, member)))
            .filter(|(_, member)| !member.is(flags::STATIC))
            .collect();
        if found.len() > 1 {
            let below: Vec<_> = found.iter().map(|(class, _)| self.supers(tree, class)).collect();
            found.retain(|(class, _)| !below.iter().any(|supers| supers.contains(&class.name)));
        }
        let position = found.iter().position(|(_, member)| !member.is(flags::ABSTRACT)).unwrap_or_default();
        (position < found.len()).then(|| found.swap_remove(position))
    }

    /// The members that a class has of its own and of the classes of this side above it, by the class that declares
    /// each.
    pub(super) fn members(&self, tree: usize, class: &Rc<Class>) -> BTreeMap<Key, (Rc<Class>, Member)> {
        let mut supers = self.supers(tree, class);
        supers.insert(class.name.clone());
        let own = supers.iter().filter(|name| self.has(name)).filter_map(|name| self.get(tree, name));
        let mut keys: BTreeSet<Key> = BTreeSet::new();
        for declaring in own {
            keys.extend(
                declaring
                    .members
                    .keys()
                    .filter(|key| !key.is_constructor() || declaring.name == class.name)
                    .cloned(),
            );
        }
        keys.into_iter().filter_map(|key| self.resolve(tree, class, &key).map(|found| (key, found))).collect()
    }
}
