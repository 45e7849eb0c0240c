//! Lines and tokens: comments, quoted names, `repeat`.

use std::fmt;

use anyhow::{Context, Result, bail, ensure};

/// One token: its bytes (modified UTF-8 when quoted) and whether it was quoted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) bytes: Vec<u8>,
    pub(super) quoted: bool,
}

impl Token {
    /// The text of an unquoted token; quoted ones are never keywords.
    pub(super) fn word(&self) -> &str {
        if self.quoted { "" } else { std::str::from_utf8(&self.bytes).unwrap_or("") }
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.bytes))
    }
}

/// A line that holds at least one token.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) number: usize,
    pub(super) tokens: Vec<Token>,
}

/// The file's statements, with every `repeat` written out.
pub(super) fn lines(text: &str) -> Result<Vec<Line>> {
    let raw: Vec<(usize, &str)> = text.lines().enumerate().map(|(i, l)| (i + 1, l.trim())).collect();
    let mut out = Vec::new();
    expand(&raw, &[], &mut out)?;
    Ok(out)
}

fn expand(raw: &[(usize, &str)], variables: &[(&str, u32)], out: &mut Vec<Line>) -> Result<()> {
    let mut at = 0;
    while at < raw.len() {
        let (number, line) = raw[at];
        if let Some(head) = line.strip_prefix("repeat ") {
            let end =
                matching_end(raw, at).with_context(|| format!("line {number}: repeat without end-repeat"))?;
            let mut words = head.split_whitespace();
            let times: u32 = words.next().unwrap_or("").parse().with_context(|| format!("line {number}"))?;
            let name = words.next().unwrap_or("i");
            for i in 0..times {
                let inner: Vec<_> = variables.iter().copied().chain([(name, i)]).collect();
                expand(&raw[at + 1..end], &inner, out)?;
            }
            at = end + 1;
            continue;
        }
        let mut line = line.to_owned();
        for (name, value) in variables.iter().filter(|_| line.contains('$')).collect::<Vec<_>>() {
            line = line.replace(&format!("${name}"), &value.to_string());
        }
        let tokens = tokens(&line).with_context(|| format!("line {number}"))?;
        if !tokens.is_empty() {
            out.push(Line { number, tokens });
        }
        at += 1;
    }
    Ok(())
}

fn matching_end(raw: &[(usize, &str)], start: usize) -> Option<usize> {
    let mut depth = 0;
    for (i, (_, line)) in raw.iter().enumerate().skip(start) {
        if line.starts_with("repeat ") {
            depth += 1;
        } else if *line == "end-repeat" {
            depth -= 1;
            if depth == 0 {
                return Some(i);
            }
        }
    }
    None
}

fn tokens(line: &str) -> Result<Vec<Token>> {
    let mut out: Vec<Token> = Vec::new();
    let mut chars = line.chars().peekable();
    while let Some(&c) = chars.peek() {
        if c.is_whitespace() {
            chars.next();
        } else if c == '"' {
            chars.next();
            out.push(Token { bytes: quoted(&mut chars)?, quoted: true });
        } else {
            let mut word = String::new();
            while let Some(&c) = chars.peek().filter(|c| !c.is_whitespace()) {
                word.push(c);
                chars.next();
            }
            if word.starts_with("//") {
                break;
            }
            out.push(Token { bytes: word.into_bytes(), quoted: false });
        }
    }
    Ok(out)
}

fn quoted(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    loop {
        match chars.next() {
            None => bail!("a quoted token has no end"),
            Some('"') => return Ok(out),
            Some('\\') => match chars.next() {
                Some('u') => modified_utf8(hex(chars, 4)? as u16, &mut out),
                Some('x') => out.push(hex(chars, 2)? as u8),
                Some('n') => out.push(b'\n'),
                Some(c) => modified_utf8(c as u16, &mut out),
                None => bail!("a quoted token ends in a backslash"),
            },
            Some(c) => {
                let mut units = [0; 2];
                c.encode_utf16(&mut units).iter().for_each(|&unit| modified_utf8(unit, &mut out));
            }
        }
    }
}

fn hex(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, digits: usize) -> Result<u32> {
    let text: String = chars.take(digits).collect();
    ensure!(text.len() == digits, "a short escape");
    Ok(u32::from_str_radix(&text, 16)?)
}

/// One UTF-16 code unit in the encoding of JVMS 4.4.7.
fn modified_utf8(unit: u16, out: &mut Vec<u8>) {
    match unit {
        1..=0x7f => out.push(unit as u8),
        0 | 0x80..=0x7ff => out.extend([0xc0 | (unit >> 6) as u8, 0x80 | (unit & 0x3f) as u8]),
        _ => out.extend([
            0xe0 | (unit >> 12) as u8,
            0x80 | (unit >> 6 & 0x3f) as u8,
            0x80 | (unit & 0x3f) as u8,
        ]),
    }
}

/// A decimal or `0x` integer.
pub(super) fn integer(token: &Token) -> Result<i64> {
    let text = token.word();
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let value = match digits.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16),
        None => digits.parse(),
    }
    .with_context(|| format!("{token}: not an integer"))?;
    Ok(if negative { -value } else { value })
}
