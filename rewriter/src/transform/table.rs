//! What the table of transforms is made into.

/// Makes of rows, each with a transform and the options that ask for it, the set of options, and what is done with all transforms in the
/// order of the rows.
macro_rules! transforms {
    ($($folder:ident::$transform:ident { $($(#[$doc:meta])* $option:ident),* })*) => {
        /// Which transforms to apply.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct Transforms {
            $($($(#[$doc])* pub $option: bool,)*)*
        }

        impl Transforms {
            /// None of them.
            pub const NONE: Self = Self { $($($option: false,)*)* };
            /// All of them.
            pub const ALL: Self = Self { $($($option: true,)*)* };
        }

        /// Whether some transform may have something to insert into a method.
        pub(crate) fn concerns(site: &MethodSite<'_>) -> bool {
            false $(|| $folder::$transform.concerns(site))*
        }

        /// Collects the insertions of all transforms.
        ///
        /// # Errors
        /// Why the method has to stay as it is.
        pub(crate) fn plan(site: &mut MethodSite<'_>, edits: &mut Edits) -> Result<(), Reason> {
            $(if $folder::$transform.concerns(site) {
                $folder::$transform.plan(site, edits)?;
            })*
            Ok(())
        }

        /// Whether some transform looks for calls in a class with this constant pool.
        pub(crate) fn looks_for_calls(of: &Transforms, pool: &ConstantPool<'_>) -> bool {
            false $(|| $folder::$transform.looks_for_calls(of, pool))*
        }

        /// Whether some transform may have something to tell besides the methods of a class with this constant pool.
        pub(crate) fn may_be_beside(of: &Transforms, pool: &ConstantPool<'_>) -> bool {
            false $(|| $folder::$transform.may_be_beside(of, pool))*
        }

        /// With which instructions calls of `method` are made that some transform looks for, if one does.
        pub(crate) fn finds(
            method: &MemberRef<'_>,
            of: &Transforms,
            pool: &ConstantPool<'_>,
        ) -> Option<&'static [u8]> {
            $(if $folder::$transform.looks_for_calls(of, pool)
                && let Some(by) = $folder::$transform.finds(method, of)
            {
                return Some(by);
            })*
            None
        }
    };
}

pub(super) use transforms;
