//! What is known of the heap: garbage collections, and the biographies of objects.

use crate::bytes::Bytes;
use crate::error::{Damage, Error};
use crate::format::*;
use crate::profile::Profile;
use crate::regions::Region;
use crate::source::Source;

/// A garbage collection that stopped the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Collection {
    /// Copy of the runtime that recorded it.
    pub copy: u32,
    /// Its number within the copy, from 1.
    pub number: u32,
    /// Clock at its start.
    pub start: u64,
    /// Clock at its end; 0: it did not come.
    pub end: u64,
}

/// The biography of an object that was followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Object {
    /// Copy of the runtime that recorded it.
    pub copy: u32,
    /// Its number within the copy, from 1.
    pub number: u64,
    /// Number of the class in [`crate::Copy::class_names`].
    pub class: u32,
    /// Ordinal of the thread that made it; 0: unknown.
    pub thread: u32,
    /// Number of the context in [`crate::Copy::contexts`]; 0: none.
    pub context: u32,
    /// Collections that had ended when it was made.
    pub born: u32,
    /// Collections that had ended when it was found to be gone; `None`: it was there to the end.
    pub gone: Option<u32>,
    /// Its bytes.
    pub bytes: u64,
    /// Clock when it was made.
    pub clock: u64,
}

/// A piece of the file that holds biographies, see [`Profile::for_each_object`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObjectPiece {
    /// Copy of the runtime that recorded them.
    pub copy: u32,
    /// Number of the first one.
    pub first: u64,
    /// File offset of the first one.
    pub offset: u64,
    /// How many there is room for.
    pub count: u64,
}

impl Object {
    /// Collections that it outlived: those that ended while it was there. `None`: it was there to the end. An object that was
    /// found to be gone after the first collection that it saw outlived none.
    pub fn outlived(&self) -> Option<u32> {
        self.gone.map(|gone| gone.saturating_sub(self.born).saturating_sub(1))
    }
}

impl ObjectPiece {
    pub(crate) fn new(bytes: &Bytes<'_>, region: &Region) -> ObjectPiece {
        ObjectPiece {
            copy: region.copy,
            first: bytes.u64(region.offset + 16),
            offset: region.offset + HEADER,
            count: (region.length - HEADER) / OBJECT,
        }
    }

    /// A part of it: `count` biographies from index `from` on, as far as they are there.
    #[must_use]
    pub fn part(&self, from: u64, count: u64) -> ObjectPiece {
        let from = from.min(self.count);
        let first = self.first.saturating_add(from);
        ObjectPiece {
            first,
            offset: self.offset + from * OBJECT,
            count: count.min(self.count - from),
            ..*self
        }
    }

    /// Calls `visit` with every finished biography of this piece, in the order of their numbers.
    ///
    /// # Errors
    /// When the source fails.
    pub fn for_each(&self, source: &impl Source, mut visit: impl FnMut(&Object)) -> Result<(), Error> {
        let mut buffer = vec![0; (self.count.min(RECORDS_AT_ONCE) * OBJECT) as usize];
        let mut done = 0;
        while done < self.count {
            let want = ((self.count - done).min(RECORDS_AT_ONCE) * OBJECT) as usize;
            let read = source.fill_at(self.offset + done * OBJECT, &mut buffer[..want])?;
            let records = buffer[..read].as_chunks::<{ OBJECT as usize }>().0;
            for (record, done) in records.iter().zip(done..) {
                let number = self.first.saturating_add(done);
                if let Some(object) = self.object(number, record) {
                    visit(&object);
                }
            }
            if read < want {
                break;
            }
            done += RECORDS_AT_ONCE.min(self.count - done);
        }
        Ok(())
    }

    #[inline]
    fn object(&self, number: u64, record: &[u8; OBJECT as usize]) -> Option<Object> {
        let u32_at =
            |at: usize| u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]]);
        let class = u32_at(0);
        (class != 0).then(|| Object {
            copy: self.copy,
            number,
            class,
            thread: u32_at(4),
            context: u32_at(8),
            born: u32_at(12),
            bytes: 8 * u64::from(u32_at(16)),
            gone: u32_at(20).checked_sub(1),
            clock: u64::from(u32_at(24)) | u64::from(u32_at(28)) << 32,
        })
    }
}

impl Profile {
    /// Calls `visit` with every finished biography, copy by copy in the order of their numbers. They are read anew each
    /// time, a little at once: there may be a thousand million.
    ///
    /// ```
    /// # use instrument_trace::{Profile};
    /// # use instrument_testing::{Life, Writer};
    /// # let mut writer = Writer::new();
    /// # writer.objects(1, &[Life { class: 1, bytes: 24, ..Life::default() }]);
    /// # let file = writer.finish();
    /// let profile = Profile::open(&file)?;
    /// let mut bytes = 0;
    /// profile.for_each_object(&file, |object| bytes += object.bytes)?;
    /// # assert_eq!(bytes, 24);
    /// # Ok::<(), instrument_trace::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the source fails.
    pub fn for_each_object(&self, source: &impl Source, mut visit: impl FnMut(&Object)) -> Result<(), Error> {
        self.objects.iter().try_for_each(|piece| piece.for_each(source, &mut visit))
    }

    /// Collections that have ended of one copy: what [`Object::born`] and [`Object::gone`] count.
    pub fn collections_of(&self, copy: u32) -> &[Collection] {
        let start = self.collections.partition_point(|c| c.copy < copy);
        let end = self.collections.partition_point(|c| c.copy <= copy);
        &self.collections[start..end]
    }
}

/// Reads a collections region.
pub(crate) fn read_collections(
    bytes: &Bytes<'_>,
    region: &Region,
    collections: &mut Vec<Collection>,
    damage: &mut Vec<Damage>,
) {
    let mut number = bytes.u64(region.offset + 16);
    let mut at = region.offset + HEADER;
    while at + COLLECTION <= region.end() {
        let [start, end] = bytes.words(at);
        if start == 0 {
            return;
        }
        let Some(index) = u32::try_from(number).ok().filter(|&number| number != 0) else {
            let reason = format!("number {number}");
            return damage.push(Damage { offset: at, structure: "collection", reason });
        };
        collections.push(Collection { copy: region.copy, number: index, start, end });
        number += 1;
        at += COLLECTION;
    }
    if at != region.end() {
        damage.push(Damage { offset: at, structure: "collection", reason: "it is cut off".into() });
    }
}
