//! Why there is no call at a place.

/// Why a value cannot be passed at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Absent {
    /// A static method has no `this`, and a static call or field no receiver.
    #[error("there is no object: it is static")]
    Static,
    /// In a constructor, before `super()` has returned.
    #[error("the object is not made yet: super() has not returned")]
    BeforeSuper,
    /// The method has no argument of this number.
    #[error("there is no argument of this number")]
    NoArgument,
    /// The method assigns to the argument, or its frames do not have it any more.
    #[error("the method assigns to the argument")]
    Overwritten,
    /// Nothing is returned or left on the stack.
    #[error("there is no result")]
    Void,
    /// There is no such value at places of this kind.
    #[error("there is no such value here")]
    NoValue,
    /// The program keeps no reference to the new object where its constructor has returned.
    #[error("the program throws the new object away")]
    ThrownAway,
    /// No exception can leave the method.
    #[error("no exception can leave the method")]
    CannotThrow,
    /// No way leads to the place.
    #[error("the code is never reached")]
    DeadCode,
    /// Something that is passed has not the type that the called method takes.
    #[error("what is passed does not fit the called method")]
    Mismatch,
    /// Whether the class is below another one is not known.
    #[error("a class above this one is not known")]
    UnknownSuper,
    /// The class loader of the class does not find the class whose method is called.
    #[error("its class loader does not find the called class")]
    NotVisible,
    /// The class loader of the class cannot be asked for the class whose method is called.
    #[error("its class loader cannot be asked for the called class")]
    NotAsked,
    /// A class of the JDK, which finds no class of a program.
    #[error("classes of the JDK do not find the called class")]
    JdkClass,
}

impl Absent {
    /// The name in accounts.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Static => "static",
            Self::BeforeSuper => "before-super",
            Self::NoArgument => "no-argument",
            Self::Overwritten => "argument-assigned",
            Self::Void => "no-result",
            Self::NoValue => "no-value",
            Self::ThrownAway => "object-thrown-away",
            Self::CannotThrow => "cannot-throw",
            Self::DeadCode => "dead-code",
            Self::Mismatch => "type-mismatch",
            Self::UnknownSuper => "super-not-known",
            Self::NotVisible => "class-not-visible",
            Self::NotAsked => "loader-not-asked",
            Self::JdkClass => "jdk-class",
        }
    }
}
