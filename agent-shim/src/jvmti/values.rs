//! Calls of static Java methods with any arguments.

use super::{Global, Jni, Object, StaticMethod};
use std::marker::PhantomData;

/// An argument of a Java method.
pub(crate) enum Value<'v> {
    Int(i32),
    Long(i64),
    Boolean(bool),
    /// A parameter of type `Object`.
    Object(&'v Object<'v>),
    /// A parameter of type `Thread`; the object is one.
    Thread(&'v Object<'v>),
}

/// Arguments that a method may have.
const MOST: usize = 8;

impl Value<'_> {
    fn descriptor(&self) -> &'static str {
        match self {
            Value::Int(_) => "I",
            Value::Long(_) => "J",
            Value::Boolean(_) => "Z",
            Value::Object(_) => "Ljava/lang/Object;",
            Value::Thread(_) => "Ljava/lang/Thread;",
        }
    }

    /// As a `jvalue`: a union of 8 bytes, the smaller types at its beginning.
    fn bits(&self) -> i64 {
        let mut bytes = [0; 8];
        match self {
            Value::Int(value) => bytes[..4].copy_from_slice(&value.to_ne_bytes()),
            Value::Long(value) => return *value,
            Value::Boolean(value) => bytes[0] = u8::from(*value),
            Value::Object(object) | Value::Thread(object) => return object.reference as i64,
        }
        i64::from_ne_bytes(bytes)
    }
}

/// The arguments as `jvalue`s, if a method of this descriptor takes them and returns what `result` says.
fn arguments(descriptor: &str, result: &str, values: &[Value<'_>]) -> Option<[i64; MOST]> {
    let mut rest = descriptor.strip_prefix('(')?;
    let mut bits = [0; MOST];
    for (bits, value) in bits.iter_mut().zip(values) {
        rest = rest.strip_prefix(value.descriptor())?;
        *bits = value.bits();
    }
    (values.len() <= MOST && rest.strip_prefix(')') == Some(result)).then_some(bits)
}

impl Jni<'_> {
    /// Calls a method that returns nothing. False: it threw, or takes other arguments.
    pub(crate) fn call(&self, method: &StaticMethod, values: &[Value<'_>]) -> bool {
        let Some(arguments) = arguments(method.descriptor, "V", values) else { return false };
        // SAFETY:
        // - The arguments are what the descriptor says.
        // - Objects are valid during the call.
        unsafe { self.raw_call_static_void_method(method.class.0, method.id, arguments.as_ptr()) };
        !self.failed()
    }

    /// Calls a method that returns a boolean.
    pub(crate) fn call_for_boolean(&self, method: &StaticMethod, values: &[Value<'_>]) -> Option<bool> {
        let arguments = arguments(method.descriptor, "Z", values)?;
        // SAFETY: as above.
        let result =
            unsafe { self.raw_call_static_boolean_method(method.class.0, method.id, arguments.as_ptr()) };
        (!self.failed()).then_some(result != 0)
    }

    /// Calls a method that returns a long.
    pub(crate) fn call_for_long(&self, method: &StaticMethod, values: &[Value<'_>]) -> Option<i64> {
        let arguments = arguments(method.descriptor, "J", values)?;
        // SAFETY: as above.
        let result =
            unsafe { self.raw_call_static_long_method(method.class.0, method.id, arguments.as_ptr()) };
        (!self.failed()).then_some(result)
    }

    /// Calls a method that returns an object of the class that the descriptor says; none: it threw, or returned nothing.
    pub(crate) fn call_for_global(
        &self,
        method: &StaticMethod,
        class: &str,
        values: &[Value<'_>],
    ) -> Option<Global> {
        let arguments = arguments(method.descriptor, class, values)?;
        // SAFETY: as above; the result is a local reference or null.
        let reference =
            unsafe { self.raw_call_static_object_method(method.class.0, method.id, arguments.as_ptr()) };
        let failed = self.failed();
        self.promote(Object { reference, scope: PhantomData }).filter(|_| !failed)
    }

    /// Calls a method that returns an array of ints.
    pub(crate) fn call_for_ints(&self, method: &StaticMethod, values: &[Value<'_>]) -> Option<Vec<i32>> {
        let arguments = arguments(method.descriptor, "[I", values)?;
        // SAFETY:
        // - As above.
        // - What is copied is as long as the array.
        unsafe {
            let array = self.raw_call_static_object_method(method.class.0, method.id, arguments.as_ptr());
            if self.failed() || array.is_null() {
                return None;
            }
            let length = self.raw_get_array_length(array);
            let mut ints = vec![0; usize::try_from(length).unwrap_or(0)];
            self.raw_get_int_array_region(array, 0, length, ints.as_mut_ptr());
            self.raw_delete_local_ref(array);
            (!self.failed()).then_some(ints)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_arguments_that_fit_are_passed() {
        let values = [Value::Int(-2), Value::Boolean(true), Value::Long(i64::MIN)];
        let bits = arguments("(IZJ)V", "V", &values).unwrap();
        assert_eq!(
            (bits[0].to_ne_bytes()[..4].to_vec(), bits[2]),
            ((-2i32).to_ne_bytes().to_vec(), i64::MIN)
        );
        assert_eq!(bits[1].to_ne_bytes()[0], 1);
        for (descriptor, result) in
            [("(IZJ)J", "V"), ("(IZ)V", "V"), ("(IZJI)V", "V"), ("(JZJ)V", "V"), ("", "V")]
        {
            assert_eq!(arguments(descriptor, result, &values), None, "{descriptor}");
        }
        let many: Vec<_> = (0..9).map(Value::Int).collect();
        assert_eq!(arguments("(IIIIIIIII)V", "V", &many), None);
    }
}
