//! Classes by name and loader: finding and defining one, asking a loader for one.

use super::*;

/// A weak global reference: it does not keep its object alive.
#[derive(Debug)]
pub(crate) struct Weak(*mut c_void);
// SAFETY: weak global references are for any thread.
unsafe impl Send for Weak {}
// SAFETY: as above.
unsafe impl Sync for Weak {}

/// An instance method of a class of the boot loader, which is never unloaded.
#[derive(Debug)]
pub(crate) struct Method {
    id: *mut c_void,
    descriptor: &'static str,
}
// SAFETY: method ids are for any thread.
unsafe impl Send for Method {}
// SAFETY: as above.
unsafe impl Sync for Method {}

/// What came of asking a loader for a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Found,
    /// It threw.
    Refused,
    /// Something else failed: there was no memory, or no stack.
    Failed,
}

impl<'a> Jni<'a> {
    /// A class of the boot loader that FindClass finds. It asks the loader of the topmost Java code of this thread, or the system loader if
    /// there is none: so only where no code of the program runs, or for a class that every loader has asked for by then.
    pub(crate) fn find_class(&self, name: &str) -> Option<Object<'a>> {
        let name = c_string(name.as_bytes());
        // SAFETY:
        // - The name is a C string.
        // - The result is checked before it is used.
        let reference = unsafe { self.raw_find_class(name.as_ptr()) };
        (!self.failed() && !reference.is_null()).then_some(Object { reference, scope: PhantomData })
    }

    /// Defines a class of the boot loader.
    pub(crate) fn define_boot_class(&self, name: &str, bytes: &[u8]) -> Option<Object<'a>> {
        let name = c_string(name.as_bytes());
        let length = c_int::try_from(bytes.len()).ok()?;
        // SAFETY:
        // - The name is a C string and there are `length` bytes.
        // - A null loader is the boot loader.
        // - The result is checked.
        let reference = unsafe { self.raw_define_class(name.as_ptr(), null_mut(), bytes.as_ptr(), length) };
        (!self.failed() && !reference.is_null()).then_some(Object { reference, scope: PhantomData })
    }

    /// A `java.lang.String`.
    pub(crate) fn string(&self, text: &str) -> Option<Global> {
        let text = c_string(text.as_bytes());
        // SAFETY:
        // - A C string of ASCII characters.
        // - The result is checked.
        let reference = unsafe { self.raw_new_string_utf(text.as_ptr()) };
        let failed = self.failed();
        self.promote(Object { reference, scope: PhantomData }).filter(|_| !failed)
    }

    /// An instance method of a class of the boot loader.
    pub(crate) fn method(&self, class: &Object<'_>, name: &str, descriptor: &'static str) -> Option<Method> {
        let (name, text) = (c_string(name.as_bytes()), c_string(descriptor.as_bytes()));
        // SAFETY: `class` is a class, the names are C strings.
        let id = unsafe { self.raw_get_method_id(class.reference, name.as_ptr(), text.as_ptr()) };
        (!self.failed() && !id.is_null()).then_some(Method { id, descriptor })
    }

    /// Calls a method without parameters that returns an object or an array, on an object that has it. None: it returned null, or threw.
    pub(crate) fn call_object(&self, object: &Object<'_>, method: &Method) -> Option<Object<'a>> {
        if object.is_null() || !method.descriptor.starts_with("()L") && !method.descriptor.starts_with("()[")
        {
            return None;
        }
        // SAFETY: the object has the method, which takes nothing.
        let reference = unsafe { self.raw_call_object_method(object.reference, method.id, std::ptr::null()) };
        (!self.failed() && !reference.is_null()).then_some(Object { reference, scope: PhantomData })
    }

    /// Calls `find`, a method `(String)Class`, on the object: what it returned.
    pub(crate) fn found(&self, object: &Object<'a>, find: &Method, name: &Global) -> Option<Object<'a>> {
        if object.is_null() || find.descriptor != "(Ljava/lang/String;)Ljava/lang/Class;" {
            return None;
        }
        // SAFETY: the object has the method, which takes a string.
        let reference = unsafe { self.raw_call_object_method(object.reference, find.id, &(name.0 as i64)) };
        (!self.failed() && !reference.is_null()).then_some(Object { reference, scope: PhantomData })
    }

    /// `MethodHandles.Lookup.revealDirect(handle)`, which the method is, of an object of that class. None: it threw.
    pub(crate) fn revealed(
        &self,
        lookup: &Object<'_>,
        reveal: &Method,
        handle: &Object<'_>,
    ) -> Option<Object<'a>> {
        if lookup.is_null()
            || reveal.descriptor != "(Ljava/lang/invoke/MethodHandle;)Ljava/lang/invoke/MethodHandleInfo;"
        {
            return None;
        }
        // SAFETY: the object has the method, which takes a method handle.
        let reference =
            unsafe { self.raw_call_object_method(lookup.reference, reveal.id, &(handle.reference as i64)) };
        (!self.failed() && !reference.is_null()).then_some(Object { reference, scope: PhantomData })
    }

    /// The same; whether it returned one.
    pub(crate) fn finds(&self, object: &Object<'a>, find: &Method, name: &Global) -> bool {
        self.found(object, find, name).map(|class| self.forget(class)).is_some()
    }

    /// `Class.forName(name, false, loader)`. The virtual machine notes that the loader found it. `fatal`: java.lang.VirtualMachineError. It is
    /// looked up beforehand: FindClass asks the loader of the code that runs now, which may be the program's.
    pub(crate) fn ask(
        &self,
        for_name: &StaticMethod,
        name: &Global,
        loader: &Object<'a>,
        fatal: &Global,
    ) -> Answer {
        if for_name.descriptor != "(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;" {
            return Answer::Failed;
        }
        let arguments = [name.0 as i64, 0, loader.reference as i64];
        // SAFETY:
        // - The method takes a string, a boolean (0 is false) and a loader, as its descriptor says.
        // - No exception is pending when it is called; what it throws is taken before anything else is called.
        // - `fatal` is a class, and the local references are deleted once.
        unsafe {
            let local = self.raw_call_static_object_method(for_name.class.0, for_name.id, arguments.as_ptr());
            let thrown = self.raw_exception_occurred();
            self.raw_exception_clear();
            if !thrown.is_null() {
                let is_fatal = self.raw_is_instance_of(thrown, fatal.0) != 0;
                self.raw_delete_local_ref(thrown);
                return if is_fatal { Answer::Failed } else { Answer::Refused };
            }
            if local.is_null() {
                return Answer::Failed;
            }
            self.raw_delete_local_ref(local);
            Answer::Found
        }
    }

    /// A weak reference to the object.
    pub(crate) fn weak(&self, object: &Object<'a>) -> Option<Weak> {
        // SAFETY: a reference or null.
        let reference = unsafe { self.raw_new_weak_global_ref(object.reference) };
        (!self.failed() && !reference.is_null()).then_some(Weak(reference))
    }

    /// Whether the object of a weak reference is gone.
    pub(crate) fn is_collected(&self, weak: &Weak) -> bool {
        // SAFETY: both are references or null.
        unsafe { self.raw_is_same_object(weak.0, null_mut()) != 0 }
    }

    /// Whether the weak reference is to this object; none: its object is gone.
    pub(crate) fn is_same_weak(&self, object: &Object<'a>, weak: &Weak) -> Option<bool> {
        // SAFETY: both are references or null.
        let is_same = || unsafe { self.raw_is_same_object(object.reference, weak.0) != 0 };
        (!self.is_collected(weak)).then(is_same)
    }

    /// Gives a weak reference back.
    pub(crate) fn forget_weak(&self, weak: Weak) {
        // SAFETY: nobody has the reference any more.
        unsafe { self.raw_delete_weak_global_ref(weak.0) }
    }
}

impl<'a> Jvmti<'a> {
    /// Lets the module of one class read that of another.
    pub(crate) fn add_reads(
        &self,
        jni: Jni<'a>,
        class: &Object<'_>,
        other: &Object<'_>,
    ) -> Result<(), JvmtiError> {
        const DESCRIPTOR: &str = "(Ljava/lang/Module;Ljava/lang/Module;)V";
        let native = jni.static_method(MODULE, "addReads0", DESCRIPTOR);
        // SAFETY: the modules are those of the two classes, which is what the native method takes.
        with_modules(jni, class, other, |from, to| unsafe {
            match native {
                Some(native) => jni.update_modules(&native, &[from as i64, to as i64]),
                None => self.raw_add_module_reads(from, to),
            }
        })
    }

    /// Lets the module of `other` use the public classes of a package, named with dots, of the module of `class`.
    pub(crate) fn add_exports(
        &self,
        jni: Jni<'a>,
        class: &Object<'_>,
        package: &str,
        other: &Object<'_>,
    ) -> Result<(), JvmtiError> {
        const DESCRIPTOR: &str = "(Ljava/lang/Module;Ljava/lang/String;Ljava/lang/Module;)V";
        let native = jni.static_method(MODULE, "addExports0", DESCRIPTOR).zip(jni.string(package));
        let package = c_string(package.as_bytes());
        // SAFETY: the modules are those of the two classes, the name is a string: this is what the native method takes, and the function.
        with_modules(jni, class, other, |from, to| unsafe {
            match native {
                Some((native, name)) => jni.update_modules(&native, &[from as i64, name.0 as i64, to as i64]),
                None => self.raw_add_module_exports(from, package.as_ptr(), to),
            }
        })
    }

    /// Lets the classes of a loader and a package, which need not be there yet, use a public class: their module reads its module, and that
    /// exports its package to them. Packages are named as in class files. `unnamed` is `ClassLoader.getUnnamedModule`; the loader is not the
    /// boot loader.
    pub(crate) fn connect(
        &self,
        jni: Jni<'a>,
        (loader, unnamed, package): (&Object<'a>, &Method, &[u8]),
        (other, its_package): (&Object<'a>, &[u8]),
    ) -> Result<(), JvmtiError> {
        const ILLEGAL_ARGUMENT: JvmtiError = JvmtiError(103);
        if loader.is_null() || unnamed.descriptor != "()Ljava/lang/Module;" {
            return Err(ILLEGAL_ARGUMENT);
        }
        let package = c_string(package);
        let exported = its_package.iter().map(|&byte| if byte == b'/' { b'.' } else { byte });
        let exported = c_string(&exported.collect::<Vec<_>>());
        let mut module = null_mut();
        // SAFETY:
        // - The loader is one, and has the method, which takes nothing and returns a module.
        // - The names are C strings.
        // - Both modules are local references, checked before they are used, which nobody has after the call.
        unsafe {
            checked(self.raw_get_named_module(loader.reference, package.as_ptr(), &mut module))?;
            if module.is_null() {
                module = jni.raw_call_object_method(loader.reference, unnamed.id, std::ptr::null());
                if jni.failed() || module.is_null() {
                    return Err(ILLEGAL_ARGUMENT);
                }
            }
            let its_module = jni.raw_get_module(other.reference);
            // Both do nothing for modules without a name, which read and export everything.
            let mut result = checked(self.raw_add_module_reads(module, its_module));
            if result.is_ok() && !its_package.is_empty() {
                result = checked(self.raw_add_module_exports(its_module, exported.as_ptr(), module));
            }
            jni.raw_delete_local_ref(module);
            jni.raw_delete_local_ref(its_module);
            result
        }
    }
}

/// Its native methods tell the virtual machine alone what a module may use, which is enough for code that is linked. The functions of JVMTI also
/// enter it in tables for reflection: their first use makes classes of lambdas, a tenth of the time in which a short program starts.
const MODULE: &str = "java/lang/Module";

impl Jni<'_> {
    /// Calls one of these; an error code of JVMTI.
    ///
    /// # Safety
    /// The arguments are those that its descriptor says.
    unsafe fn update_modules(&self, native: &StaticMethod, arguments: &[i64]) -> c_int {
        const INTERNAL: c_int = 113;
        // SAFETY: the caller's.
        unsafe { self.raw_call_static_void_method(native.class.0, native.id, arguments.as_ptr()) };
        if self.failed() { INTERNAL } else { 0 }
    }
}

/// Calls a function with the modules of two classes.
fn with_modules<'a>(
    jni: Jni<'a>,
    class: &Object<'_>,
    other: &Object<'_>,
    call: impl FnOnce(*mut c_void, *mut c_void) -> c_int,
) -> Result<(), JvmtiError> {
    // SAFETY:
    // - Both are classes.
    // - Their modules are local references, which nobody has after the call.
    unsafe {
        let (from, to) = (jni.raw_get_module(class.reference), jni.raw_get_module(other.reference));
        let result = checked(call(from, to));
        jni.raw_delete_local_ref(from);
        jni.raw_delete_local_ref(to);
        result
    }
}
