//! `jdbc`: which statements a program sends to its databases, as calls of their own.
//!
//! Around calls by the interfaces of `java.sql`, of arguments `..` that may follow:
//!
//! | call | in front of it | behind it |
//! |---|---|---|
//! | `Statement.execute`, `executeQuery`, `executeUpdate`, `executeLargeUpdate` `(String ..)` | copy the arguments; `statementText`; store N | load N; `valueLeft` |
//! | `PreparedStatement`'s of these names `()` | copy the receiver; `statementRun`; store N | the same |
//! | `Statement.executeBatch`, `executeLargeBatch` | copy the receiver; `batchRun`; store N | the same |
//! | `Statement.addBatch(String)` | copy both; `statementBatched` | |
//! | `Connection.prepareStatement`, `prepareCall` `(String ..)` | copy the text to T | copy the result; load T; `statementPrepared` |
//!
//! N, a number, tells what was opened; it and T are local variables behind the method's own. A branch to the instruction behind the call
//! does not pass through the end. As with [library calls](super::library_calls) there is no handler: what an exception leaves is closed by
//! the next event of the method that made the call.
//!
//! Not reached: calls by a class that implements one of these interfaces, method references, calls by reflection.

use super::call_sites::Callee;
use super::hooks::Hook;
use super::{MethodSite, Transform};
use crate::class_file::constant_pool::MemberRef;
use crate::class_file::opcode::{ALOAD, ASTORE, DUP, DUP2, ILOAD, ISTORE};
use crate::rewrite::SkipReason;
use crate::rewrite::edits::{Edits, Place, Snippet};

/// The transform; it has no options.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Values;

/// What a call has to do with a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Statement {
    /// It runs one. The instruction copies what the hook takes.
    Runs { hook: Hook, copy: u8, slots: u16 },
    /// It adds one to a batch.
    Batches,
    /// It prepares one. Behind its text are so many ints, or one object.
    Prepares { ints: u16, has_object: bool },
}

/// Bytes of an `invokeinterface`.
const LENGTH: u32 = 5;

impl Transform for Values {
    fn plan(&self, site: &mut MethodSite<'_>, edits: &mut Edits) -> Result<(), SkipReason> {
        let calls = site.calls;
        for &(pc, callee) in calls {
            let Callee::Statement(statement) = callee else { continue };
            let behind = pc + LENGTH;
            let held =
                site.code.max_locals.checked_add(edits.counter_slots()).ok_or(SkipReason::MaxLocals)?;
            match statement {
                Statement::Runs { hook, copy, slots } => {
                    let enter = site.call(hook, Snippet::default().with(&[copy]))?;
                    edits.insert(pc, Place::Before, enter.with_local(ISTORE, held));
                    let leave = site.call(Hook::ValueLeft, Snippet::default().with_local(ILOAD, held))?;
                    edits.insert(behind, Place::AfterPrevious, leave);
                    edits.need_stack(slots);
                    hold_one(edits, 0);
                }
                Statement::Batches => {
                    let add = site.call(Hook::StatementBatched, Snippet::default().with(&[DUP2]))?;
                    edits.insert(pc, Place::Before, add);
                    edits.need_stack(2);
                }
                Statement::Prepares { ints, has_object } => {
                    let (store, load, above) = match has_object {
                        true => (ASTORE, ALOAD, 1),
                        false => (ISTORE, ILOAD, ints),
                    };
                    let last = held.checked_add(above).ok_or(SkipReason::MaxLocals)?;
                    for local in (held + 1..=last).rev() {
                        edits.insert(pc, Place::Before, Snippet::default().with_local(store, local));
                    }
                    let copy = Snippet::default().with(&[DUP]).with_local(ASTORE, held);
                    edits.insert(pc, Place::Before, copy);
                    for local in held + 1..=last {
                        edits.insert(pc, Place::Before, Snippet::default().with_local(load, local));
                    }
                    let result = Snippet::default().with(&[DUP]).with_local(ALOAD, held);
                    let remember = site.call(Hook::StatementPrepared, result)?;
                    edits.insert(behind, Place::AfterPrevious, remember);
                    edits.need_stack(2);
                    hold_one(edits, above);
                }
            }
            edits.sites.statements += 1;
        }
        Ok(())
    }
}

/// Notes a local variable that is held across the call, and others behind it that are not.
fn hold_one(edits: &mut Edits, above: u16) {
    edits.held_locals = 1;
    edits.need_locals(1 + above);
}

const STATEMENTS: [&[u8]; 3] =
    [b"java/sql/Statement", b"java/sql/PreparedStatement", b"java/sql/CallableStatement"];

/// What a call of `method` has to do with a statement.
pub(crate) fn statement_of(method: &MemberRef<'_>) -> Option<Statement> {
    let inside = method.descriptor.strip_prefix(b"(")?;
    let parameters = &inside[..inside.iter().position(|&byte| byte == b')')?];
    let behind_text = parameters.strip_prefix(b"Ljava/lang/String;");
    if method.class == b"java/sql/Connection" {
        let [b'p', b'r', b'e', b'p', b'a', b'r', b'e', rest @ ..] = method.name else { return None };
        if !matches!(rest, b"Statement" | b"Call") {
            return None;
        }
        return match behind_text? {
            ints @ (b"" | b"I" | b"II" | b"III") => {
                Some(Statement::Prepares { ints: ints.len() as u16, has_object: false })
            }
            b"[I" | b"[Ljava/lang/String;" => Some(Statement::Prepares { ints: 0, has_object: true }),
            _ => None,
        };
    }
    if !STATEMENTS.contains(&method.class) {
        return None;
    }
    let runs = |hook, copy, slots| Some(Statement::Runs { hook, copy, slots });
    match (method.name, behind_text) {
        (b"addBatch", Some(b"")) => Some(Statement::Batches),
        (b"executeBatch" | b"executeLargeBatch", None) if parameters.is_empty() => {
            runs(Hook::BatchRun, DUP, 1)
        }
        (b"execute" | b"executeQuery" | b"executeUpdate" | b"executeLargeUpdate", text) => match text {
            None if parameters.is_empty() => runs(Hook::StatementRun, DUP, 1),
            Some(b"") => runs(Hook::StatementText, DUP, 1),
            Some(b"I") => runs(Hook::StatementTextKeys, DUP2, 2),
            Some(b"[I" | b"[Ljava/lang/String;") => runs(Hook::StatementTextColumns, DUP2, 2),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class_file::Tag;

    fn of(class: &str, name: &str, descriptor: &str) -> Option<Statement> {
        let tag = Tag::InterfaceMethodref;
        let class = format!("java/sql/{class}");
        let (class, name, descriptor) = (class.as_bytes(), name.as_bytes(), descriptor.as_bytes());
        statement_of(&MemberRef { tag, class, name, descriptor })
    }

    #[test]
    fn every_method_of_java_sql_that_runs_or_prepares_is_known() {
        let runs = |hook, copy, slots| Some(Statement::Runs { hook, copy, slots });
        let results =
            [("execute", "Z"), ("executeQuery", "Ljava/sql/ResultSet;"), ("executeLargeUpdate", "J")];
        for (name, result) in results {
            for (parameters, expected) in [
                ("", runs(Hook::StatementRun, DUP, 1)),
                ("Ljava/lang/String;", runs(Hook::StatementText, DUP, 1)),
                ("Ljava/lang/String;I", runs(Hook::StatementTextKeys, DUP2, 2)),
                ("Ljava/lang/String;[I", runs(Hook::StatementTextColumns, DUP2, 2)),
                ("Ljava/lang/String;[Ljava/lang/String;", runs(Hook::StatementTextColumns, DUP2, 2)),
                ("I", None),
            ] {
                let descriptor = format!("({parameters}){result}");
                assert_eq!(of("CallableStatement", name, &descriptor), expected, "{name}{descriptor}");
            }
        }
        assert_eq!(of("Statement", "executeBatch", "()[I"), runs(Hook::BatchRun, DUP, 1));
        assert_eq!(of("Statement", "addBatch", "(Ljava/lang/String;)V"), Some(Statement::Batches));
        assert_eq!(of("PreparedStatement", "addBatch", "()V"), None);
        for (parameters, ints, has_object) in
            [("", 0, false), ("I", 1, false), ("II", 2, false), ("III", 3, false), ("[I", 0, true)]
        {
            let descriptor = format!("(Ljava/lang/String;{parameters})Ljava/sql/PreparedStatement;");
            let expected = Some(Statement::Prepares { ints, has_object });
            assert_eq!(of("Connection", "prepareStatement", &descriptor), expected, "{descriptor}");
        }
        assert_eq!(of("Connection", "createStatement", "()Ljava/sql/Statement;"), None);
        assert_eq!(of("Driver", "execute", "()Z"), None);
    }
}
