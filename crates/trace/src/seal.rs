//! The checksum of a profile that nobody writes to any more: whoever knows that its process has ended writes it into the header. While a
//! process lives, its threads change the file at any moment; so what was killed, or what nobody waited for, has none.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};

use crate::error::Damage;
use crate::format::{FILE_HEADER, SEAL, SEALED};
use crate::head::Head;
use crate::source::Source;

/// Bytes that are read at a time.
const ROOM: usize = 256 * 1024;
/// The largest file that has a checksum: to read a trace of many GB each time that a report is printed would take longer than the report.
const LARGEST: u64 = 1 << 30;

/// Writes the checksum of a profile into its header. To be called only where its process has ended. Returns whether it was written: a
/// profile whose program was killed gets none.
///
/// # Errors
/// Those of the file.
pub fn seal(file: &File) -> io::Result<bool> {
    if !Head::read(file).is_some_and(|head| head.has_ended()) {
        return Ok(false);
    }
    let mut out = file;
    let Some(checksum) = checksum(file, word(file, 40)?)? else { return Ok(false) };
    out.seek(SeekFrom::Start(SEAL))?;
    out.write_all(&(SEALED | u64::from(checksum)).to_le_bytes())?;
    Ok(true)
}

/// What is wrong with the file if it has a checksum that is not that of its bytes. What was cut off is not looked at.
pub(crate) fn check(source: &dyn Source) -> io::Result<Option<Damage>> {
    let seal = word(source, SEAL)?;
    let Some(checksum) = (if seal == 0 { None } else { checksum(source, word(source, 40)?)? }) else {
        return Ok(None);
    };
    let reason = "its checksum is not that of its bytes: it has changed since the program ended, and any figure may be wrong";
    let damage = Damage { offset: 0, structure: "file", reason: reason.into() };
    Ok((seal != SEALED | u64::from(checksum)).then_some(damage))
}

fn word(source: &dyn Source, offset: u64) -> io::Result<u64> {
    let mut word = [0; 8];
    source.fill_at(offset, &mut word)?;
    Ok(u64::from_le_bytes(word))
}

/// CRC-32 of the bytes up to `end`, that of the checksum itself being 0; none: they are not all there, or too many.
fn checksum(source: &dyn Source, end: u64) -> io::Result<Option<u32>> {
    if !(FILE_HEADER..=LARGEST).contains(&end) || source.size()? < end {
        return Ok(None);
    }
    let (mut hasher, mut at, mut room) = (crc32fast::Hasher::new(), 0, vec![0; ROOM]);
    while at < end {
        let wanted = usize::try_from(end - at).unwrap_or(ROOM).min(ROOM);
        let read = source.fill_at(at, &mut room[..wanted])?;
        if read < wanted {
            return Ok(None);
        }
        if at == 0 {
            room[SEAL as usize..SEAL as usize + 8].fill(0);
        }
        hasher.update(&room[..read]);
        at += read as u64;
    }
    Ok(Some(hasher.finalize()))
}
