//! What a new version of a class breaks for those who use the old one: for compiled code as JLS chapter 13 has it, and
//! for sources.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::class::{Class, Key, Member, VARARGS};
use super::generics::{self, Parameter, Type, java_name};
use super::library::Library;
use super::{Change, Kind, Reason, Verdict};
use instrument_verifier::hierarchy::flags;

/// Both sides of a class, in the archive or folder `tree`.
pub(super) struct Pair<'l> {
    pub(super) tree: usize,
    pub(super) old_side: &'l Library<'l>,
    pub(super) new_side: &'l Library<'l>,
    pub(super) old: Rc<Class>,
    pub(super) new: Rc<Class>,
}

/// What breaks, and why.
type Reasons = Vec<Reason>;

impl Pair<'_> {
    /// All that changed: of the class itself, of its members, and what it no longer inherits.
    pub(super) fn changes(&self) -> Vec<Change> {
        let (before, after) = (self.old.text(), self.new.text());
        let mut changes = Vec::new();
        let mut of_class = self.of_class();
        let mut keys: BTreeSet<Key> = BTreeSet::new();
        let members = self.old_side.members(self.tree, &self.old);
        for (key, (declaring, member)) in &members {
            if !self.old.offers(member) {
                continue;
            }
            let reasons = self.of_member(key, declaring, member);
            if declaring.name == self.old.name {
                let successor = self.successor(key);
                changes.extend(self.member_change(Some((key, member)), successor, reasons));
                keys.extend(successor.map(|(key, _)| key.clone()));
            } else if !reasons.is_empty() {
                of_class.extend(self.inherited(key, declaring, member, &reasons));
            }
        }
        for (key, member) in &self.new.members {
            if self.new.offers(member) && !keys.contains(key) {
                changes.extend(self.member_change(None, Some((key, member)), Vec::new()));
            }
        }
        if before != after || !of_class.is_empty() {
            changes.insert(0, Change::new(Kind::Class, &self.old, Some(before), Some(after), of_class));
        }
        changes
    }

    /// What the new class declares in the place of a member of the old one: the same, or else what differs in its type.
    fn successor(&self, key: &Key) -> Option<(&Key, &Member)> {
        let members = || self.new.members.iter().filter(|(_, member)| self.new.offers(member));
        let exact = members().find(|(new, _)| *new == key);
        // What has kept its name and parameters, and is no overload that was there before.
        let is_similar = |new: &&Key| new.is_sibling(key) && !self.old.members.contains_key(new);
        exact.or_else(|| members().find(|(new, _)| is_similar(new)))
    }

    /// A row for a member that one of the classes declares, or both.
    fn member_change(
        &self,
        old: Option<(&Key, &Member)>,
        new: Option<(&Key, &Member)>,
        mut reasons: Reasons,
    ) -> Option<Change> {
        let (key, _) = old.or(new)?;
        let before = old.map(|(key, member)| self.old.member_text(key, member));
        let after = new.map(|(key, member)| self.new.member_text(key, member));
        if before == after && reasons.is_empty() {
            return None;
        }
        if before.is_some() && after.is_none() && reasons.is_empty() {
            let (declaring, _) = self.new_side.resolve(self.tree, &self.new, key)?;
            let name = java_name(&declaring.name);
            reasons.push(Reason::new(Verdict::Compatible, "is inherited from", Some(name)));
        }
        let constant = |side: Option<(&Key, &Member)>| side.and_then(|(_, member)| member.constant.clone());
        if let (Some(before), Some(after)) = (constant(old), constant(new))
            && before != after
        {
            reasons.push(Reason::new(Verdict::Compatible, "compiled code keeps", Some(before)));
        }
        Some(Change::new(key.kind, &self.old, before, after, reasons))
    }

    /// What breaks of a member that the class inherits. What is gone is gone from here, too; another change is one of
    /// the class that declares the member, if that has a row.
    fn inherited(
        &self,
        key: &Key,
        declaring: &Rc<Class>,
        member: &Member,
        reasons: &[Reason],
    ) -> Option<Reason> {
        let worst = worst(reasons);
        let is_listed = self.is_listed_there(key, declaring, member, worst);
        let is_gone = self.new_side.resolve(self.tree, &self.new, key).is_none();
        let why = reasons.iter().map(Reason::text).collect::<Vec<_>>().join(", ");
        let name = format!("{}.{} {why}", java_name(&declaring.name), key.name);
        let reason = Reason { is_listed, ..Reason::new(worst, "inherits", Some(name)) };
        (is_gone || !is_listed).then_some(reason)
    }

    /// Whether the class that declares an inherited member has a row with the same verdict.
    fn is_listed_there(&self, key: &Key, declaring: &Rc<Class>, member: &Member, verdict: Verdict) -> bool {
        let Some(old) = self.old_side.visible(self.tree, &declaring.name) else { return false };
        let Some(new) = self.new_side.visible(self.tree, &declaring.name) else { return true };
        let there = Pair { old, new, ..*self };
        worst(&there.of_member(key, declaring, member)) >= verdict
    }

    /// What breaks because of the class itself.
    fn of_class(&self) -> Reasons {
        let (old, new) = (&self.old, &self.new);
        let mut reasons = Reasons::new();
        let mut breaks = |is: bool, verdict: Verdict, why: &'static str| {
            if is {
                reasons.push(Reason::new(verdict, why, None));
            }
        };
        let kind = |class: &Class| class.flags & (flags::INTERFACE | flags::ANNOTATION | flags::ENUM);
        breaks(kind(old) != kind(new), Verdict::Binary, "is another kind of type");
        breaks(old.is(flags::PUBLIC) && !new.is(flags::PUBLIC), Verdict::Binary, "is less accessible");
        breaks(old.is_extendable() && !new.is_extendable(), Verdict::Binary, "can no longer be extended");
        let is_abstract = !old.is(flags::ABSTRACT) && new.is(flags::ABSTRACT);
        breaks(is_abstract && old.is_instantiable(), Verdict::Binary, "is abstract");
        let is_static = |class: &Class| class.is(flags::STATIC);
        breaks(is_static(old) != is_static(new), Verdict::Binary, "is static or no longer");
        let supers = self.new_side.supers(self.tree, new);
        for lost in self.old_side.supers(self.tree, old).difference(&supers) {
            if self.is_nameable(lost) {
                reasons.push(Reason::new(Verdict::Binary, "is no longer a", Some(java_name(lost))));
            }
        }
        let is_checked = |side: &Library<'_>, class: &Class| is_checked(side, self.tree, &class.name);
        if !is_checked(self.old_side, old) && is_checked(self.new_side, new) {
            reasons.push(Reason::new(Verdict::Source, "is a checked exception", None));
        }
        self.generics_of_class(&mut reasons);
        if old.is_extendable() {
            reasons.extend(
                self.new_duty()
                    .map(|duty| Reason::new(Verdict::Source, "subclasses must implement", Some(duty))),
            );
        }
        reasons
    }

    /// Whether other packages can name a superclass or superinterface of the old class: what is not at hand, they can.
    fn is_nameable(&self, name: &str) -> bool {
        !self.old_side.has(name) || self.old_side.visible(self.tree, name).is_some()
    }

    fn generics_of_class(&self, reasons: &mut Reasons) {
        let generic = |class: &Class| class.signature.as_deref().and_then(generics::class);
        let (mut before, mut after) = (parameters(&self.old), parameters(&self.new));
        let (old_names, new_names) = (names(&before), names(&after));
        before.iter_mut().for_each(|one| _ = one.rename(&numbered(&old_names, &[])));
        after.iter_mut().for_each(|one| _ = one.rename(&numbered(&new_names, &[])));
        if before != after {
            return reasons.push(Reason::new(Verdict::Source, "has other type parameters", None));
        }
        let supers = |class: &Class, names: &[String]| {
            let mut all = generic(class).map(|generic| generic.supers).unwrap_or_default();
            all.iter_mut().for_each(|one| _ = one.rename(&numbered(names, &[])));
            all
        };
        let (before, after) = (supers(&self.old, &old_names), supers(&self.new, &new_names));
        for old in &before {
            let Type::Class(parts) = old else { continue };
            let same = |new: &&Type| matches!(new, Type::Class(new) if new.len() == parts.len() && new[0].0 == parts[0].0);
            if after.iter().find(same).is_some_and(|new| new != old) {
                reasons.push(Reason::new(Verdict::Source, "is another", Some(java_name(&parts[0].0))));
            }
        }
    }

    /// A method that subclasses have to implement now, and had not before.
    fn new_duty(&self) -> Option<String> {
        let mut supers = self.new_side.supers(self.tree, &self.new);
        let old_supers = self.old_side.supers(self.tree, &self.old);
        supers.retain(|name| self.new_side.has(name) || !old_supers.contains(name));
        supers.insert(self.new.name.clone());
        let classes = supers.iter().filter_map(|name| self.new_side.get(self.tree, name));
        let abstracts = |class: Rc<Class>| {
            let own =
                class.members.iter().filter(|(_, member)| member.is(flags::ABSTRACT) && !member.has_default);
            own.map(|(key, _)| key.clone()).collect::<Vec<_>>()
        };
        classes.flat_map(abstracts).find(|key| self.is_new_duty(key)).map(|key| key.name)
    }

    fn is_new_duty(&self, key: &Key) -> bool {
        let is_open = |side: &Library<'_>, class: &Rc<Class>| {
            side.resolve(self.tree, class, key).is_some_and(|(_, member)| member.is(flags::ABSTRACT))
        };
        let had = self.old_side.resolve(self.tree, &self.old, key);
        // What had code, and is abstract now, is a change of the method itself.
        is_open(self.new_side, &self.new) && had.is_none()
    }

    /// What breaks for who uses this member of the old class, which `declaring` has.
    fn of_member(&self, key: &Key, declaring: &Rc<Class>, old: &Member) -> Reasons {
        let Some((new_declaring, new)) = self.new_side.resolve(self.tree, &self.new, key) else {
            return vec![Reason::new(Verdict::Binary, self.lost(key), None)];
        };
        let mut reasons = Reasons::new();
        let mut breaks = |is: bool, verdict: Verdict, why: &'static str| {
            if is {
                reasons.push(Reason::new(verdict, why, None));
            }
        };
        let gains = |flag: u16| !old.is(flag) && new.is(flag);
        let loses = |flag: u16| old.is(flag) && !new.is(flag);
        let is_hidden = !new.is(flags::PUBLIC | flags::PROTECTED);
        breaks(is_hidden || loses(flags::PUBLIC), Verdict::Binary, "is less accessible");
        breaks(gains(flags::STATIC) || loses(flags::STATIC), Verdict::Binary, "is static or no longer");
        let is_method = key.kind == Kind::Method;
        let can_extend = self.old.is_extendable();
        let can_override = is_method && can_extend && !old.is(flags::STATIC | flags::FINAL);
        if is_method {
            let is_open = can_extend || self.old.is_instantiable();
            breaks(gains(flags::ABSTRACT) && is_open, Verdict::Binary, "is abstract");
            // A static method is hidden, not overridden: only the compiler looks (JLS 8.4.3.3, 13.4.17).
            let verdict = if old.is(flags::STATIC) { Verdict::Source } else { Verdict::Binary };
            breaks(gains(flags::FINAL) && can_extend, verdict, "is final");
            breaks(loses(VARARGS), Verdict::Source, "takes no variable number of arguments");
            breaks(old.has_default && !new.has_default, Verdict::Source, "has no default");
            let is_own = declaring.name == self.old.name;
            breaks(new.is(flags::SYNTHETIC) && is_own && can_override, Verdict::Source, "has another result");
            if !new.is(flags::SYNTHETIC) {
                self.throws(old, &new, &mut reasons);
            }
        } else {
            breaks(gains(flags::FINAL), Verdict::Binary, "is final");
            breaks(old.constant.is_some() && new.constant.is_none(), Verdict::Source, "is no constant");
            let found = |side: &Library<'_>, class| {
                let classes = side.named(self.tree, class, &key.name);
                (classes.iter().any(|class| class.members.contains_key(key)), classes.len() > 1)
            };
            let (before, after) = (found(self.old_side, &self.old), found(self.new_side, &self.new));
            breaks(!before.1 && after.1, Verdict::Source, "is ambiguous");
            breaks(before.0 && !after.0 && !is_hidden, Verdict::Source, "is hidden by another field");
        }
        if !new.is(flags::SYNTHETIC) && is_other(key, (declaring, old), (&new_declaring, &new)) {
            reasons.push(Reason::new(Verdict::Source, "has other generic types", None));
        }
        reasons
    }

    /// A member is no longer there: what is in its place.
    fn lost(&self, key: &Key) -> &'static str {
        let members = self.new_side.members(self.tree, &self.new);
        let is_similar = |(other, (_, member)): &(&Key, &(Rc<Class>, Member))| {
            other.is_sibling(key) && !other.is_constructor() && !member.is(flags::PRIVATE)
        };
        match members.iter().find(is_similar) {
            Some(_) if key.kind == Kind::Field => "has another type",
            Some(_) => "has another result",
            None => "is gone",
        }
    }

    /// Checked exceptions that a method declares now, or no longer. One whose superclass is declared as well changes
    /// nothing.
    fn throws(&self, old: &Member, new: &Member, reasons: &mut Reasons) {
        let declared = |side: &Library<'_>, member: &Member| -> BTreeSet<String> {
            let above = |name: &String| match side.get(self.tree, name) {
                Some(class) => side.supers(self.tree, &class),
                None => BTreeSet::new(),
            };
            let is_needed = |name: &&String| {
                is_checked(side, self.tree, name)
                    && !member.throws.iter().any(|other| above(name).contains(other))
            };
            member.throws.iter().filter(is_needed).cloned().collect()
        };
        let (before, after) = (declared(self.old_side, old), declared(self.new_side, new));
        for gone in before.difference(&after) {
            reasons.push(Reason::new(Verdict::Source, "throws no", Some(java_name(gone))));
        }
        for new in after.difference(&before) {
            reasons.push(Reason::new(Verdict::Source, "throws", Some(java_name(new))));
        }
    }
}

/// The worst of some verdicts.
pub(super) fn worst(reasons: &[Reason]) -> Verdict {
    reasons.iter().map(|reason| reason.verdict).max().unwrap_or(Verdict::Compatible)
}

/// Whether callers have to catch it. What is not found is taken for one that they need not.
fn is_checked(side: &Library<'_>, tree: usize, name: &str) -> bool {
    let Some(class) = side.get(tree, name) else { return false };
    let mut line = side.supers(tree, &class);
    line.insert(name.to_owned());
    let is = |name: &str| line.contains(name);
    is("java/lang/Throwable") && !is("java/lang/RuntimeException") && !is("java/lang/Error")
}

fn parameters(class: &Class) -> Vec<Parameter> {
    let generic = class.signature.as_deref().and_then(generics::class);
    generic.map(|generic| generic.type_parameters).unwrap_or_default()
}

fn names(parameters: &[Parameter]) -> Vec<String> {
    parameters.iter().map(|parameter| parameter.name.clone()).collect()
}

/// Names type variables by their positions: those of a method before those of its class. Those of the classes around
/// stay.
fn numbered<'n>(class: &'n [String], method: &'n [String]) -> impl Fn(&str) -> Option<String> + 'n {
    move |name| {
        let of = |list: &[String], mark: &str| {
            list.iter().position(|other| other == name).map(|position| format!("{mark}{position}"))
        };
        Some(of(method, "#").or_else(|| of(class, "$")).unwrap_or_else(|| name.to_owned()))
    }
}

/// Whether the generic types of a member are others, whatever their variables are called. Those of a member that moved
/// to another class are compared only if no variable of a class is in them.
fn is_other(key: &Key, old: (&Class, &Member), new: (&Class, &Member)) -> bool {
    let is_moved = old.0.name != new.0.name;
    let (old_names, new_names) = (names(&parameters(old.0)), names(&parameters(new.0)));
    let text = |member: &Member| member.signature.clone().unwrap_or_else(|| key.descriptor.clone());
    if key.kind == Kind::Field {
        let read = |member: &Member, names: &[String]| {
            let mut read = generics::field(&text(member))?;
            (!is_moved || read.clone().rename(&|_| None)).then(|| read.rename(&numbered(names, &[])))?;
            Some(read)
        };
        return read(old.1, &old_names).zip(read(new.1, &new_names)).is_some_and(|(old, new)| old != new);
    }
    let read = |member: &Member, class: &[String]| {
        let mut read = generics::method(&text(member))?;
        let own = names(&read.type_parameters);
        let is_own = |name: &str| own.iter().any(|other| other == name).then(|| name.to_owned());
        (!is_moved || read.clone().rename(&is_own)).then(|| read.rename(&numbered(class, &own)))?;
        Some(read)
    };
    read(old.1, &old_names).zip(read(new.1, &new_names)).is_some_and(|(old, new)| old != new)
}
