//! Options whose value is one of a few words. The command line, `instrument.toml` and the agent's option string take
//! the same words.

/// A value that is written as one word.
pub trait Word: Copy + PartialEq + Send + Sync + 'static {
    /// Every value: its word, and what it means in a line for people.
    const WORDS: &'static [(&'static str, Self, &'static str)];

    /// The word.
    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, value, _)| *value == self).map_or("", |(word, ..)| word)
    }

    /// The value of a word.
    ///
    /// # Errors
    /// The words that there are.
    fn of(word: &str) -> Result<Self, String> {
        Self::WORDS.iter().find(|(known, ..)| *known == word).map(|(_, value, _)| *value).ok_or_else(|| {
            let words: Vec<&str> = Self::WORDS.iter().map(|(word, ..)| *word).collect();
            format!("there are {}", words.join(", "))
        })
    }
}

/// Defines an enumeration whose values are words: `Name { Variant = "word": "What it means", .. }`.
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($variant:ident = $word:literal: $help:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, ::serde::Deserialize, ::serde::Serialize)]
        pub enum $name {
            $(#[doc = $help] #[serde(rename = $word)] $variant,)+
        }

        impl $crate::word::Word for $name {
            const WORDS: &'static [(&'static str, Self, &'static str)] =
                &[$(($word, $name::$variant, $help),)+];
        }
    };
}

pub use words;
