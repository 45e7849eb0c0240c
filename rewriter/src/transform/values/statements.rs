//! Which calls by the interfaces of `java.sql` run a statement, or are told its text.

use super::{Above, What, parameters};
use crate::class_file::constant_pool::MemberRef;
use crate::code::hooks::Hook;

const STATEMENTS: [&[u8]; 3] =
    [b"java/sql/Statement", b"java/sql/PreparedStatement", b"java/sql/CallableStatement"];

/// What a call of `method` has to do with a statement.
pub(super) fn call_of(method: &MemberRef<'_>) -> Option<What> {
    let parameters = parameters(method)?;
    let behind_text = parameters.strip_prefix(b"Ljava/lang/String;");
    if method.class == b"java/sql/Connection" {
        let [b'p', b'r', b'e', b'p', b'a', b'r', b'e', rest @ ..] = method.name else { return None };
        if !matches!(rest, b"Statement" | b"Call") {
            return None;
        }
        return match behind_text? {
            rest @ (b"" | b"I" | b"II" | b"III" | b"[I" | b"[Ljava/lang/String;") => {
                Some(What::Prepares { above: Above::of(rest)? })
            }
            _ => None,
        };
    }
    if !STATEMENTS.contains(&method.class) {
        return None;
    }
    let runs = |hook, copies| Some(What::Enters { hook, copies, above: Above::default() });
    match (method.name, behind_text) {
        (b"addBatch", Some(b"")) => Some(What::Batches),
        (b"executeBatch" | b"executeLargeBatch", None) if parameters.is_empty() => runs(Hook::BatchRun, 1),
        (b"execute" | b"executeQuery" | b"executeUpdate" | b"executeLargeUpdate", text) => match text {
            None if parameters.is_empty() => runs(Hook::StatementRun, 1),
            Some(b"") => runs(Hook::StatementText, 1),
            Some(b"I") => runs(Hook::StatementTextKeys, 2),
            Some(b"[I" | b"[Ljava/lang/String;") => runs(Hook::StatementTextColumns, 2),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class_file::Tag;

    fn of(class: &str, name: &str, descriptor: &str) -> Option<What> {
        let tag = Tag::InterfaceMethodref;
        let class = format!("java/sql/{class}");
        let (class, name, descriptor) = (class.as_bytes(), name.as_bytes(), descriptor.as_bytes());
        call_of(&MemberRef { tag, class, name, descriptor })
    }

    #[test]
    fn every_method_of_java_sql_that_runs_or_prepares_is_known() {
        let runs = |hook, copies| Some(What::Enters { hook, copies, above: Above::default() });
        let results =
            [("execute", "Z"), ("executeQuery", "Ljava/sql/ResultSet;"), ("executeLargeUpdate", "J")];
        for (name, result) in results {
            for (parameters, expected) in [
                ("", runs(Hook::StatementRun, 1)),
                ("Ljava/lang/String;", runs(Hook::StatementText, 1)),
                ("Ljava/lang/String;I", runs(Hook::StatementTextKeys, 2)),
                ("Ljava/lang/String;[I", runs(Hook::StatementTextColumns, 2)),
                ("Ljava/lang/String;[Ljava/lang/String;", runs(Hook::StatementTextColumns, 2)),
                ("I", None),
            ] {
                let descriptor = format!("({parameters}){result}");
                assert_eq!(of("CallableStatement", name, &descriptor), expected, "{name}{descriptor}");
            }
        }
        assert_eq!(of("Statement", "executeBatch", "()[I"), runs(Hook::BatchRun, 1));
        assert_eq!(of("Statement", "addBatch", "(Ljava/lang/String;)V"), Some(What::Batches));
        assert_eq!(of("PreparedStatement", "addBatch", "()V"), None);
        for parameters in ["", "I", "II", "III", "[I"] {
            let descriptor = format!("(Ljava/lang/String;{parameters})Ljava/sql/PreparedStatement;");
            let expected = Some(What::Prepares { above: Above::of(parameters.as_bytes()).unwrap() });
            assert_eq!(of("Connection", "prepareStatement", &descriptor), expected, "{descriptor}");
        }
        assert_eq!(of("Connection", "createStatement", "()Ljava/sql/Statement;"), None);
        assert_eq!(of("Driver", "execute", "()Z"), None);
    }
}
