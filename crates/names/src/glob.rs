//! Globs over class names, method names and descriptors.
//!
//! `?` is one character, `*` any run of characters, neither crosses a `/`; `**` is any run of characters, `/` included,
//! and `**/` also matches nothing, so that `**/Foo` finds `Foo` in every package. Everything else is literal: `$`, and
//! `[` in a descriptor. Names are compared as the Modified UTF-8 of the class file (JVMS 4.4.7), `?` taking a whole
//! character of it.
//!
//! In the name of a class a `.` stands for `/`; behind a part that begins with a capital letter, as classes do, for `$`
//! as well, so that `Map.Entry` finds `Map$Entry`. `…`, which reports print where a name is too long, is any run of
//! characters.
//!
//! (globset reads `[`, `{` and `\` as syntax, which descriptors are full of, and takes `?` for a byte in names that are
//! not UTF-8.)

use crate::mutf8::push_unit;

/// One compiled glob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    tokens: Vec<Token>,
    /// `?` stays between separators, too.
    segments: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    /// These bytes.
    Literal(Vec<u8>),
    /// `?`: one character, not the separator.
    AnyChar,
    /// `*`: any characters but the separator.
    Star,
    /// `**`: any characters.
    DoubleStar,
    /// `**/`: nothing, or anything that ends in a separator.
    AnySegments,
    /// `.` behind what may be a class: `/` or `$`.
    Nesting,
}

impl Glob {
    /// Compiles a pattern of class names, in which `.` and `/` are separators that `*` and `?` stay between.
    pub fn of_classes(pattern: &str) -> Glob {
        Glob::new(pattern, true)
    }

    /// Compiles a pattern of texts without separators: `*` is any run of characters.
    pub fn of_words(pattern: &str) -> Glob {
        Glob::new(pattern, false)
    }

    fn new(pattern: &str, segments: bool) -> Glob {
        let mut tokens = Vec::new();
        let mut literal = Vec::new();
        let mut rest = pattern;
        let mut at_segment_start = true;
        // What a `.` here would stand behind may be a class.
        let mut in_class = false;
        while let Some(c) = rest.chars().next() {
            let (token, length) = match c {
                '*' => {
                    let stars = rest.len() - rest.trim_start_matches('*').len();
                    if !segments {
                        (Token::DoubleStar, stars)
                    } else if stars == 1 {
                        (Token::Star, 1)
                    } else if at_segment_start && rest[stars..].starts_with(['/', '.']) {
                        (Token::AnySegments, stars + 1)
                    } else {
                        (Token::DoubleStar, stars)
                    }
                }
                '\u{2026}' => (Token::DoubleStar, c.len_utf8()),
                '?' => (Token::AnyChar, 1),
                '.' if segments && in_class => (Token::Nesting, 1),
                _ => {
                    let c = if segments && c == '.' { '/' } else { c };
                    push_modified_utf8(c, &mut literal);
                    in_class = if at_segment_start { c.is_uppercase() } else { in_class && c != '/' };
                    at_segment_start = c == '/';
                    rest = &rest[rest.chars().next().map_or(0, char::len_utf8)..];
                    continue;
                }
            };
            if !literal.is_empty() {
                tokens.push(Token::Literal(std::mem::take(&mut literal)));
            }
            at_segment_start = matches!(token, Token::AnySegments | Token::Nesting);
            in_class &= !at_segment_start;
            tokens.push(token);
            rest = &rest[length..];
        }
        if !literal.is_empty() {
            tokens.push(Token::Literal(literal));
        }
        Glob { tokens, segments }
    }

    /// Whether it is nothing but stars: everything matches, within a segment at least.
    pub fn is_any(&self) -> bool {
        !self.tokens.is_empty() && self.tokens.iter().all(|t| matches!(t, Token::Star | Token::DoubleStar))
    }

    /// Whether the whole of a text matches that is not from a class file.
    pub fn matches_text(&self, text: &str) -> bool {
        let mut bytes = Vec::with_capacity(text.len());
        push_modified_utf8_str(text, &mut bytes);
        self.matches(&bytes)
    }

    /// Whether the whole of `text` matches.
    ///
    /// 1. Follow the tokens. A star matches nothing at first; what it could match instead is noted.
    /// 2. On a mismatch, go on where the latest star has a choice left.
    /// 3. A star that comes to the same place again is done with: what follows has failed there. So the work is at most
    ///    tokens * text.
    pub fn matches(&self, text: &[u8]) -> bool {
        let mut tried = Tried::default();
        let mut choices = Vec::new();
        let (mut token, mut at) = (0, 0);
        loop {
            let step = match self.tokens.get(token) {
                None if at == text.len() => return true,
                None => None,
                Some(Token::Literal(bytes)) => text[at..].starts_with(bytes).then_some(bytes.len()),
                Some(Token::AnyChar) => match text.get(at) {
                    None => None,
                    Some(b'/') if self.segments => None,
                    Some(_) => Some(char_len(&text[at..])),
                },
                Some(Token::Nesting) => matches!(text.get(at), Some(b'/' | b'$')).then_some(1),
                Some(star) => {
                    let first = tried.first_time(token, at, self.tokens.len());
                    if first && let Some(length) = star.takes(&text[at..]) {
                        choices.push((token, at + length));
                    }
                    first.then_some(0)
                }
            };
            (token, at) = match step {
                Some(length) => (token + 1, at + length),
                None => match choices.pop() {
                    Some(choice) => choice,
                    None => return false,
                },
            };
        }
    }
}

impl Token {
    /// How much of what follows a star takes at least, if not nothing; none: it can take no more.
    fn takes(&self, text: &[u8]) -> Option<usize> {
        match (self, text.first()?) {
            (Token::Star, b'/') => None,
            (Token::AnySegments, _) => Some(text.iter().position(|&b| b == b'/')? + 1),
            _ => Some(char_len(text)),
        }
    }
}

/// At which places of a text which tokens have been tried.
#[derive(Default)]
struct Tried(Vec<u64>);

impl Tried {
    fn first_time(&mut self, token: usize, at: usize, tokens: usize) -> bool {
        let bit = at * tokens + token;
        let (word, mask) = (bit / 64, 1 << (bit % 64));
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        let before = self.0[word];
        self.0[word] |= mask;
        before & mask == 0
    }
}

/// The length of the character at the start of `text`, which is not empty; 1 for a byte that starts none.
fn char_len(text: &[u8]) -> usize {
    let surrogate = |t: &[u8], high: bool| matches!(t, [0xed, second, _, ..] if (if high { 0xa0..0xb0 } else { 0xb0..0xc0 }).contains(second));
    let length = match text[0] {
        0xc0..=0xdf => 2,
        0xe0..=0xef if surrogate(text, true) && surrogate(text.get(3..).unwrap_or(&[]), false) => 6,
        0xe0..=0xef => 3,
        _ => 1,
    };
    length.min(text.len())
}

/// Appends `text` as Modified UTF-8.
pub fn push_modified_utf8_str(text: &str, out: &mut Vec<u8>) {
    text.chars().for_each(|c| push_modified_utf8(c, out));
}

/// Appends `c` as Modified UTF-8 (JVMS 4.4.7): NUL in two bytes, a supplementary character as two surrogates of three.
fn push_modified_utf8(c: char, out: &mut Vec<u8>) {
    let mut units = [0; 2];
    c.encode_utf16(&mut units).iter().for_each(|&unit| push_unit(unit, out));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Glob::of_classes(pattern).matches_text(text)
    }

    #[test]
    fn stars_keep_to_their_segment_and_double_stars_do_not() {
        for (pattern, text, expected) in [
            ("com/acme/**", "com/acme/Foo", true),
            ("com/acme/**", "com/acme/a/b/Foo$Bar", true),
            ("com/acme/**", "com/acme", false),
            ("com/acme/**", "com/acmeX/Foo", false),
            ("com/acme/*", "com/acme/Foo", true),
            ("com/acme/*", "com/acme/a/Foo", false),
            ("**/Foo", "Foo", true),
            ("**/Foo", "a/b/Foo", true),
            ("**/Foo", "a/b/BarFoo", false),
            ("com/**/Foo", "com/Foo", true),
            ("com/**/Foo", "com/a/b/Foo", true),
            ("com/**/*Test", "com/a/FooTest", true),
            ("com/**/*Test", "com/a/FooTests", false),
            ("com/Foo**", "com/Foo/a/Bar", true),
            ("Foo$*", "Foo$1", true),
            ("Foo$*", "Foo", false),
            ("F?o", "Foo", true),
            ("F?o", "F/o", false),
            ("F?o", "F\u{e9}o", true),
            ("F?o", "F\u{4e2d}o", true),
            ("F?o", "F\u{1f600}o", true),
            ("F\u{1f600}*", "F\u{1f600}o", true),
            ("**", "", true),
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("**/**/a", "a", true),
            ("*a*b/*c", "xaxbxb/c", true),
            ("**a/*b", "xa/ya/zb", true),
            ("**.Foo", "a/b/Foo", true),
            ("com.acme.Foo", "com/acme/Foo", true),
            ("com.acme.Foo", "com$acme/Foo", false),
            ("java.util.Map.Entry", "java/util/Map$Entry", true),
            ("java.util.Map.Entry", "java/util/Map/Entry", true),
            ("java/util/Map/Entry", "java/util/Map$Entry", false),
            ("*.Map.E*", "util/Map$Entry", true),
            ("A.B.C", "A$B$C", true),
            ("A*.*", "A$/", true),
            ("A*.B", "A$C/B", true),
            ("Map.E*.*", "Map$E$/F", true),
            ("com.\u{2026}.Foo", "com/acme/shop/Foo", true),
            ("com.ac\u{2026}hop.Foo", "com/acme/shop/Foo", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} on {text}");
        }
    }

    #[test]
    fn without_segments_a_star_crosses_slashes() {
        let glob = Glob::of_words("([L*;I)V");
        assert!(glob.matches(b"([Ljava/lang/String;I)V"));
        assert!(!glob.matches(b"(Ljava/lang/String;I)V"));
        assert!(Glob::of_words("http-?-*").matches_text("http-/-\u{1f600}"));
    }

    #[test]
    fn hostile_patterns_are_not_exponential() {
        let pattern = "**a".repeat(200) + "/" + &"*b".repeat(200);
        assert!(!matches(&pattern, &"ab".repeat(10_000)));
    }

    /// The meaning of a glob, spelled out without any cleverness.
    fn naive(tokens: &[Token], text: &[u8]) -> bool {
        let Some((token, rest)) = tokens.split_first() else { return text.is_empty() };
        match token {
            Token::Literal(bytes) => text.strip_prefix(&bytes[..]).is_some_and(|t| naive(rest, t)),
            Token::Nesting => text.first().is_some_and(|b| b"/$".contains(b)) && naive(rest, &text[1..]),
            Token::AnyChar => !text.is_empty() && text[0] != b'/' && naive(rest, &text[1..]),
            Token::Star => {
                (0..=text.len()).take_while(|&n| !text[..n].contains(&b'/')).any(|n| naive(rest, &text[n..]))
            }
            Token::DoubleStar => (0..=text.len()).any(|n| naive(rest, &text[n..])),
            Token::AnySegments => {
                (0..=text.len()).filter(|&n| n == 0 || text[n - 1] == b'/').any(|n| naive(rest, &text[n..]))
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn agrees_with_the_naive_reading(pattern in "[abA./*?]{0,9}", text in "[abA$/]{0,12}") {
            let glob = Glob::of_classes(&pattern);
            prop_assert_eq!(glob.matches(text.as_bytes()), naive(&glob.tokens, text.as_bytes()), "{} on {}", pattern, text);
        }

        #[test]
        fn any_bytes_are_safe(pattern in "\\PC{0,12}", text in proptest::collection::vec(any::<u8>(), 0..40)) {
            Glob::of_classes(&pattern).matches(&text);
            prop_assert!(Glob::of_classes("**").matches(&text));
        }
    }
}
