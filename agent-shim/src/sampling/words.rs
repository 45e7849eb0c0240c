//! Memory of the profile, which the signal handler reads and writes.

/// Words of the profile at an address.
#[derive(Debug, Clone, Copy)]
pub(super) struct Words(pub(super) usize);

impl Words {
    pub(super) fn get(self, word: usize) -> u64 {
        // SAFETY: whoever made this has a region of the profile there, which is mapped until `Sampled::leave` has returned.
        unsafe { (self.0 as *const u64).add(word).read_volatile() }
    }

    pub(super) fn put(self, word: usize, value: u64) {
        // SAFETY: as above; the recorder writes no word that is written here.
        unsafe { (self.0 as *mut u64).add(word).write_volatile(value) }
    }

    pub(super) fn add(self, word: usize, more: u64) {
        self.put(word, self.get(word).wrapping_add(more));
    }
}
