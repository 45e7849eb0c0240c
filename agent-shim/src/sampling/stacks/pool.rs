//! Which threads are added up: those whose names differ in their last number, as the recorder does it with threads that ended.

/// Up to so many sums the last number of a name becomes a star; past that every number does.
const POOLS: usize = 64;

/// A name with a star in the place of its last number, or of all. A number that a letter follows is part of a word. `pools`: how many there are.
pub(super) fn of(name: &str, pools: usize) -> String {
    let all = pools >= POOLS;
    let mut parts: Vec<String> = Vec::new();
    let (mut end, mut is_done) = (name.len(), false);
    let bytes = name.as_bytes();
    while end > 0 {
        let digits = bytes[..end].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let next = bytes.get(end);
        let is_word = next.is_some_and(|byte| byte.is_ascii_alphabetic() || *byte >= 0x80);
        if digits > 0 {
            let replaces = !is_word && (all || !is_done);
            parts.push(if replaces { "*".to_owned() } else { name[end - digits..end].to_owned() });
            is_done |= replaces;
            end -= digits;
        } else {
            let text = bytes[..end].iter().rev().take_while(|byte| !byte.is_ascii_digit()).count();
            parts.push(name[end - text..end].to_owned());
            end -= text;
        }
    }
    parts.into_iter().rev().collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_last_number_or_all_become_stars() {
        for (name, few, many) in [
            ("main", "main", "main"),
            ("pool-1-thread-12", "pool-1-thread-*", "pool-*-thread-*"),
            ("GC Thread#0", "GC Thread#*", "GC Thread#*"),
            ("http-8080-2nd", "http-*-2nd", "http-*-2nd"),
            ("17", "*", "*"),
            ("Fäden 3", "Fäden *", "Fäden *"),
            ("", "", ""),
        ] {
            assert_eq!(
                (super::of(name, 3), super::of(name, 64)),
                (few.to_owned(), many.to_owned()),
                "{name}"
            );
        }
    }
}
