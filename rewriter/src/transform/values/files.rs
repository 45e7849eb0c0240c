//! Which calls open a file, or copy, move or delete one.

use super::{Above, SPECIAL, STATIC, What, parameters};
use crate::class_file::constant_pool::MemberRef;
use crate::code::hooks::Hook;

const PATH: &[u8] = b"Ljava/nio/file/Path;";

/// What a call of `method` has to do with a file, and the instructions that make it.
pub(super) fn call_of(method: &MemberRef<'_>) -> Option<(What, &'static [u8])> {
    let parameters = parameters(method)?;
    let enters = |hook, rest| Some(What::Enters { hook, copies: 1, above: Above::of(rest)? });
    if method.name == b"<init>" {
        let named = [&b"Ljava/lang/String;"[..], b"Ljava/io/File;"];
        let rest = named.iter().find_map(|name| parameters.strip_prefix(*name))?;
        let what = match method.class {
            b"java/io/FileInputStream" | b"java/io/FileReader" => enters(Hook::FileRead, rest),
            b"java/io/FileOutputStream" | b"java/io/FileWriter" => enters(Hook::FileWritten, rest),
            b"java/io/RandomAccessFile" => opened(rest),
            _ => None,
        };
        return Some((what?, SPECIAL));
    }
    if !matches!(method.class, b"java/nio/file/Files" | b"java/nio/channels/FileChannel") {
        return None;
    }
    let behind_path = parameters.strip_prefix(PATH);
    let what = match (method.class, method.name, behind_path) {
        (b"java/nio/channels/FileChannel", b"open", Some(rest)) => opened(rest),
        (b"java/nio/channels/FileChannel", ..) => None,
        (_, b"newByteChannel", Some(rest)) => opened(rest),
        (
            _,
            b"newInputStream" | b"newBufferedReader" | b"readAllBytes" | b"readString" | b"readAllLines"
            | b"lines",
            Some(rest),
        ) => enters(Hook::FileRead, rest),
        (_, b"newOutputStream" | b"newBufferedWriter" | b"write" | b"writeString", Some(rest)) => {
            enters(Hook::FileWritten, rest)
        }
        (_, b"copy", Some(rest)) if rest.starts_with(PATH) => enters(Hook::FileCopied, rest),
        (_, b"copy", Some(rest)) => enters(Hook::FileRead, rest),
        (_, b"copy", None) => {
            enters(Hook::FileWritten, parameters.strip_prefix(b"Ljava/io/InputStream;")?.strip_prefix(PATH)?)
        }
        (_, b"move", Some(rest)) => enters(Hook::FileMoved, rest),
        (_, b"delete" | b"deleteIfExists", Some(rest)) => enters(Hook::FileDeleted, rest),
        _ => None,
    };
    Some((what?, STATIC))
}

/// The operand behind the path says what for.
fn opened(rest: &[u8]) -> Option<What> {
    let above = Above::of(rest)?.behind_object()?;
    Some(What::Enters { hook: Hook::FileOpened, copies: 2, above })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class_file::Tag;

    #[test]
    fn calls_that_open_files_are_known() {
        const TEXT: &str = "Ljava/lang/String;";
        const PATH: &str = "Ljava/nio/file/Path;";
        const OPTIONS: &str = "[Ljava/nio/file/OpenOption;";
        let files = "java/nio/file/Files";
        let enters = |hook, copies, above: &str| {
            Some(What::Enters { hook, copies, above: Above::of(above.as_bytes()).unwrap() })
        };
        for (class, name, parameters, expected) in [
            ("java/io/FileInputStream", "<init>", vec![TEXT], enters(Hook::FileRead, 1, "")),
            ("java/io/FileInputStream", "<init>", vec!["Ljava/io/FileDescriptor;"], None),
            (
                "java/io/FileOutputStream",
                "<init>",
                vec!["Ljava/io/File;", "Z"],
                enters(Hook::FileWritten, 1, "Z"),
            ),
            (
                "java/io/FileWriter",
                "<init>",
                vec![TEXT, "Ljava/nio/charset/Charset;", "Z"],
                enters(Hook::FileWritten, 1, "[IZ"),
            ),
            ("java/io/RandomAccessFile", "<init>", vec![TEXT, TEXT], enters(Hook::FileOpened, 2, "")),
            ("com/acme/File", "<init>", vec![TEXT], None),
            (files, "newByteChannel", vec![PATH, OPTIONS], enters(Hook::FileOpened, 2, "")),
            (
                "java/nio/channels/FileChannel",
                "open",
                vec![PATH, "Ljava/util/Set;", "[Ljava/nio/file/attribute/FileAttribute;"],
                enters(Hook::FileOpened, 2, "[I"),
            ),
            ("java/nio/channels/FileChannel", "read", vec!["[Ljava/nio/ByteBuffer;"], None),
            (files, "write", vec![PATH, "[B", OPTIONS], enters(Hook::FileWritten, 1, "[I[I")),
            (files, "lines", vec![PATH], enters(Hook::FileRead, 1, "")),
            (files, "copy", vec![PATH, PATH, OPTIONS], enters(Hook::FileCopied, 1, "[I[I")),
            (files, "copy", vec![PATH, "Ljava/io/OutputStream;"], enters(Hook::FileRead, 1, "[I")),
            (files, "copy", vec!["Ljava/io/InputStream;", PATH, OPTIONS], enters(Hook::FileWritten, 1, "[I")),
            (files, "exists", vec![PATH, OPTIONS], None),
        ] {
            let descriptor = format!("({})V", parameters.concat());
            let member = MemberRef {
                tag: Tag::Methodref,
                class: class.as_bytes(),
                name: name.as_bytes(),
                descriptor: descriptor.as_bytes(),
            };
            assert_eq!(call_of(&member).map(|(what, _)| what), expected, "{class}.{name}{descriptor}");
        }
    }
}
