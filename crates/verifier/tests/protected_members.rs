//! Protected members of `java.lang.Object`: who may call `clone`.

use instrument_verifier::Verifier;
use instrument_verifier::fault::Rule;
use instrument_verifier::format::Jvm;
use instrument_verifier::hierarchy::{ClassPath, Summary};
use std::sync::Arc;

/// A class file of version 52 without frames: its constants are appended as they are needed.
struct ClassFile {
    constants: Vec<u8>,
    count: u16,
}

impl ClassFile {
    fn add(&mut self, constant: Vec<u8>) -> [u8; 2] {
        self.constants.extend(constant);
        self.count += 1;
        (self.count - 1).to_be_bytes()
    }

    fn utf8(&mut self, text: &str) -> [u8; 2] {
        self.add([&[1][..], &(text.len() as u16).to_be_bytes(), text.as_bytes()].concat())
    }

    fn class(&mut self, name: &str) -> [u8; 2] {
        let name = self.utf8(name);
        self.add([&[7][..], &name].concat())
    }

    /// The class with one method; `above`: its superclass, if it has one; `calls`: what it calls on its argument.
    fn of(
        name: &str,
        above: Option<&str>,
        flags: u16,
        method: [&str; 2],
        calls: Option<[&str; 3]>,
    ) -> Vec<u8> {
        let mut file = Self { constants: Vec::new(), count: 1 };
        let (this, above) = (file.class(name), above.map_or([0; 2], |above| file.class(above)));
        let [named, descriptor] = method.map(|text| file.utf8(text));
        let mut code = vec![0x2a];
        if let Some([class, name, descriptor]) = calls {
            let class = file.class(class);
            let pair = [file.utf8(name), file.utf8(descriptor)].concat();
            let pair = file.add([&[12][..], &pair].concat());
            let member = file.add([&[10][..], &class, &pair].concat());
            code.extend([&[0xb6][..], &member].concat());
        }
        code.push(0xb0);
        let body = [&[0, 1, 0, 1, 0, 0, 0, code.len() as u8][..], &code, &[0; 4]].concat();
        let attribute = [&file.utf8("Code")[..], &(body.len() as u32).to_be_bytes(), &body].concat();
        [
            &[0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52][..],
            &file.count.to_be_bytes(),
            &file.constants,
            // Public, super; no interfaces and fields, one method.
            &[0, 0x21],
            &this,
            &above,
            &[0, 0, 0, 0, 0, 1],
            &flags.to_be_bytes(),
            &named,
            &descriptor,
            &[0, 1],
            &attribute,
            &[0, 0],
        ]
        .concat()
    }
}

/// `java.lang.Object` with its protected `clone`, and two classes below it.
struct Jdk;

impl ClassPath for Jdk {
    fn find(&self, name: &[u8]) -> Option<Arc<Summary>> {
        const PROTECTED: u16 = 4;
        let clone = ["clone", "()Ljava/lang/Object;"];
        let bytes = match name {
            b"java/lang/Object" => ClassFile::of("java/lang/Object", None, PROTECTED, clone, None),
            b"java/lang/String" => {
                ClassFile::of("java/lang/String", Some("java/lang/Object"), 1, ["own", clone[1]], None)
            }
            b"Below" => ClassFile::of("Below", Some("Caller"), 1, ["own", clone[1]], None),
            _ => return None,
        };
        Summary::parse(&bytes).map(Arc::new)
    }
}

/// What is wrong with `static Object m(ARGUMENT o) { return o.clone(); }` of the class `Caller`.
fn fault(argument: &str, named: &str) -> Option<Rule> {
    let method = ["m", &format!("({argument})Ljava/lang/Object;")];
    let calls = Some([named, "clone", "()Ljava/lang/Object;"]);
    let bytes = ClassFile::of("Caller", Some("java/lang/Object"), 9, method, calls);
    let verdict = Verifier::new(&Jdk, Jvm::default()).verify(&bytes);
    assert_eq!(verdict.assumptions, [""; 0]);
    verdict.faults.first().map(|fault| fault.rule)
}

#[test]
fn clone_of_an_object_is_called_on_arrays_and_on_what_is_of_the_class_itself() {
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
