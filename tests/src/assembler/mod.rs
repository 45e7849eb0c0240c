//! A small textual assembler for class files that no compiler writes: old versions, `jsr`, odd frames, methods and
//! constant pools at their limits. It follows the text to the letter and checks nothing it does not need, so that
//! broken classes can be written too. Frames, `max_stack` and `max_locals` are given by hand.
//!
//! One statement per line; `//` starts a comment; a token may be quoted (`"a b"`, escapes `\" \\ \n \uXXXX` and
//! `\xHH` for a raw byte), so any name can be written. `repeat N VAR .. end-repeat` repeats lines, `$VAR` counts.
//!
//! ```text
//! class FLAG.. NAME                    opens a class; a file may hold several
//!   version MAJOR[.MINOR]              52 when not given
//!   extends NAME | extends none        java/lang/Object when not given
//!   implements NAME..
//!   source NAME                        SourceFile
//!   pool N | fill-pool N               Integer entries until the next index is N: now | when all else is written
//!   bootstrap CONSTANT-HANDLE ; ARG ; ARG..     the next BootstrapMethods entry
//!   attribute NAME ITEM..              see below
//!   truncate N | trailing ITEM..       cuts, or adds to, the finished bytes
//!   field FLAG.. NAME DESCRIPTOR
//!   method FLAG.. NAME DESCRIPTOR .. end        without `stack`, `locals` and code: no Code attribute
//!     stack N | locals N
//!     LABEL:
//!     MNEMONIC OPERAND..               JVMS names; `wide iload 300`; `bytes ITEM..` for anything else
//!     frame same | same1 T | chop N | append T.. | full T.. | T..
//!     catch START END HANDLER any|CLASS
//!     line N [TABLE]                   LineNumberTable entry, in the given table (0)
//!     var|vartype START END NAME DESCRIPTOR INDEX
//!     attribute NAME ITEM..            of the Code attribute; `method-attribute` for the method
//! ```
//! Verification types: `top int float double long null this` (uninitializedThis) `new:LABEL` or a class name.
//! Items: `1f` (hex bytes), `u1:N u2:N u4:N`, `pc:LABEL`, `utf8:NAME`, `class:NAME`.
//! Constants: `"text"`, `1`, `1L`, `1.5f`, `1.5d`, `class NAME`, `methodtype DESC`, `handle KIND [interface] OWNER.NAME DESC`,
//! `dynamic BOOTSTRAP NAME DESC`. Switches: `tableswitch LOW LABEL[*TIMES].. default LABEL`,
//! `lookupswitch KEY[..KEY]:LABEL.. default LABEL`.

mod class;
mod code;
mod constants;
mod opcodes;
mod text;

pub use class::{Assembled, assemble};
