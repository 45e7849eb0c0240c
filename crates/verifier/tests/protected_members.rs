//! Protected members: who may use them, and on what.

mod class_file;

use class_file::{ClassFile, Code};
use instrument_verifier::Verifier;
use instrument_verifier::fault::Rule;
use instrument_verifier::format::Jvm;
use instrument_verifier::hierarchy::{ClassPath, Summary};
use std::sync::Arc;

const OBJECT: Option<&str> = Some("java/lang/Object");
const PUBLIC: u16 = 1;
const PROTECTED: u16 = 4;
const RETURNS: &str = "()Ljava/lang/Object;";

/// `java.lang.Object` with its protected `clone`; `other.Above`, a subclass of `other.Top`, with protected members;
/// `Caller` is below it.
struct Jdk;

impl ClassPath for Jdk {
    fn find(&self, name: &[u8]) -> Option<Arc<Summary>> {
        let class = |name, above, field, method| {
            let file = ClassFile::new(52);
            Summary::parse(&file.finish(name, above, &[field], &[method])).map(Arc::new)
        };
        let field = (PROTECTED, "f", "Ljava/lang/Object;", None);
        match name {
            b"java/lang/Object" => {
                class("java/lang/Object", None, field, (PROTECTED, "clone", RETURNS, None))
            }
            b"java/lang/String" => class("java/lang/String", OBJECT, field, (PUBLIC, "own", RETURNS, None)),
            b"other/Top" => class("other/Top", OBJECT, field, (PROTECTED, "top", RETURNS, None)),
            b"other/Above" => {
                let open = (PUBLIC, "open", "Ljava/lang/Object;", None);
                class("other/Above", Some("other/Top"), open, (PUBLIC, "open", RETURNS, None))
            }
            b"Near" => class("Near", Some("other/Above"), field, (PROTECTED, "near", RETURNS, None)),
            b"Below" => class("Below", Some("Caller"), field, (PUBLIC, "own", RETURNS, None)),
            _ => None,
        }
    }
}

/// What is wrong with `static Object m(ARGUMENT o) { return o.MEMBER; }` of the class `Caller` below `above`.
fn fault(above: &str, argument: &str, tag: u8, member: [&str; 3]) -> Option<Rule> {
    fault_of(ClassFile::new(52), above, argument, tag, member)
}

fn fault_of(
    mut file: ClassFile,
    above: &str,
    argument: &str,
    tag: u8,
    [named, name, descriptor]: [&str; 3],
) -> Option<Rule> {
    let member = file.member(tag, [named, name, descriptor]);
    let op = if tag == 9 { 0xb4 } else { 0xb6 };
    let bytes = vec![0x2a, op, member[0], member[1], 0xb0];
    let code = Code { max_stack: 1, max_locals: 1, bytes, ..Code::default() };
    let descriptor = format!("({argument})Ljava/lang/Object;");
    let bytes = file.finish("Caller", Some(above), &[], &[(9, "m", &descriptor, Some(code))]);
    let verdict = Verifier::new(&Jdk, Jvm::default()).verify(&bytes);
    assert_eq!(verdict.assumptions, [""; 0]);
    verdict.faults.first().map(|fault| fault.rule)
}

#[test]
fn clone_of_an_object_is_called_on_arrays_and_on_what_is_of_the_class_itself() {
    let fault = |argument, named| fault("java/lang/Object", argument, 10, [named, "clone", RETURNS]);
    for named in ["java/lang/Object", "Caller"] {
        assert_eq!(fault("LCaller;", named), None, "{named}");
        assert_eq!(fault("LBelow;", named), None, "{named}");
    }
    assert_eq!(fault("[I", "java/lang/Object"), None);
    assert_eq!(fault("[Ljava/lang/String;", "[Ljava/lang/String;"), None);
    for argument in ["Ljava/lang/Object;", "Ljava/lang/String;"] {
        assert_eq!(fault(argument, "java/lang/Object"), Some(Rule::ProtectedAccess), "{argument}");
    }
}

/// Members of another package are found from the named class upwards; those of the own package are for everybody in it.
#[test]
fn protected_members_of_another_package_are_used_on_what_is_of_the_class_itself() {
    let field = "Ljava/lang/Object;";
    for (above, argument, tag, member, expected) in [
        ("other/Above", "LCaller;", 10, ["other/Above", "top", RETURNS], true),
        ("other/Above", "LBelow;", 10, ["other/Above", "top", RETURNS], true),
        ("other/Above", "Lother/Above;", 10, ["other/Above", "top", RETURNS], false),
        ("other/Above", "Lother/Above;", 10, ["other/Top", "top", RETURNS], false),
        ("other/Above", "Lother/Above;", 10, ["other/Above", "open", RETURNS], true),
        ("other/Above", "Lother/Above;", 10, ["other/Above", "none", RETURNS], true),
        ("other/Above", "LCaller;", 9, ["other/Top", "f", field], true),
        ("other/Above", "Lother/Above;", 9, ["other/Top", "f", field], false),
        ("other/Above", "Lother/Above;", 9, ["other/Above", "f", field], false),
        ("other/Above", "Lother/Above;", 9, ["other/Above", "open", field], true),
        // No class above the caller.
        ("java/lang/Object", "Lother/Above;", 10, ["other/Above", "top", RETURNS], true),
        ("java/lang/Object", "Lother/Above;", 9, ["other/Above", "f", field], true),
        // Of the caller's package.
        ("Near", "LNear;", 10, ["Near", "near", RETURNS], true),
        ("Near", "LNear;", 9, ["Near", "f", field], true),
        ("Near", "LNear;", 10, ["Near", "top", RETURNS], false),
    ] {
        let found = fault(above, argument, tag, member);
        assert_eq!(
            found,
            (!expected).then_some(Rule::ProtectedAccess),
            "{argument} {member:?} below {above}"
        );
    }
}

/// To protected access `Object` is no interface, as it is to all else.
#[test]
fn clone_of_an_object_is_not_called_in_an_interface() {
    let mut file = ClassFile::new(52);
    file.flags = 0x601;
    let clone = ["java/lang/Object", "clone", RETURNS];
    let found = fault_of(file, "java/lang/Object", "Ljava/lang/Object;", 10, clone);
    assert_eq!(found, Some(Rule::ProtectedAccess));
}
