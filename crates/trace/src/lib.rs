//! The profile file format (`.iprof`): its specification and a tolerant reader. What records is the Java runtime
//! (`runtime-java/`); [`Writer`] writes sums of what was recorded. This page is what all are held to. [`Profile::open`] reads a file in
//! place.
//!
//! A process writes one file, through memory mappings that its threads own. Nothing is flushed or closed at the end, so a
//! file may stop at any event: the process may have been killed between any two stores. A reader accepts any truncation.
//!
//! # Reading a profile
//! The figures of methods are per thread. Names of methods are in the id map that the profile carries ([`Copy`]); `instrument-analysis`
//! puts both together, and takes the cost of recording out of the times.
//!
//! ```
//! use instrument_trace::Profile;
//!
//! # use instrument_testing::{Script, Writer};
//! # let mut writer = Writer::new();
//! # writer.tree("main", &Script::new(1000).call(1, |s| s.wait(10).times(3, |s| s.call(2, |s| s.wait(100)))));
//! # let bytes = writer.finish();
//! // A file is read in place: `Profile::open(&std::fs::File::open("app.iprof")?)`.
//! let profile = Profile::parse(&bytes)?;
//! let thread = &profile.threads[0];
//! assert_eq!(thread.name, "main");
//! // By the id of the method: how often it was called.
//! assert_eq!((thread.methods[&1].entries, thread.methods[&2].entries), (1, 3));
//! // What was cut off or cannot be read is no error; it is listed.
//! let cut = Profile::parse(&bytes[..bytes.len() / 2])?;
//! assert!(cut.is_cut || !cut.damage.is_empty());
//! # Ok::<(), instrument_trace::Error>(())
//! ```
//!
//! A reader of this crate reads the profiles of all earlier versions; for what a name means to those who use the crate, see
//! `instrument-rewriter`: the same is promised. `examples/show.rs` prints what is found in profiles.
//!
//! # Conventions
//! Little endian. A *word* is 8 bytes, stored by one instruction. Offsets are in bytes; *file offsets* count from the start
//! of the file. Bytes not named here are 0 and are to be ignored. Text is UTF-8.
//!
//! # Version
//! A reader accepts versions 1 to 8. Anything that an old reader can ignore is added without a new version: new region
//! kinds, new header words, new property keys, new flag bits. Whatever changes the meaning of bytes named here is version 9.
//!
//! | version | what is new |
//! |---|---|
//! | 2 | the nodes of a tree lie in pieces (kind 8, flag 4; kind 21) |
//! | 3 | where only some calls are timed, each stands for others, and some words of a node are others (kind 8, flags 1 and 8) |
//! | 5 | some words of a node lie elsewhere (kind 8, flag 16) |
//! | 6 | calls that returned are counted for a thread, and not for each method (kind 3, flag 1) |
//! | 7 | times are samples, and not sums over calls (kind 8, flag 32; kind 26) |
//! | 8 | methods that are counted have samples in the place of exits (kind 3, flag 2) |
//!
//! # Clock
//! Times are in ns of the monotonic clock of the virtual machine (`System.nanoTime()`, `CLOCK_MONOTONIC`); they compare within
//! one process only. Header words 32 and 64 give the same moment on both clocks. A recorder may read another clock that it has set to
//! this one beforehand (property `clock`); all times of a file are of one clock.
//!
//! # File header, 4096 bytes
//! | offset | size | |
//! |---|---|---|
//! | 0 | 8 | magic: 89 `IPROF` 0D 0A; written last |
//! | 8 | 4 | version: 8 |
//! | 12 | 4 | length of this header: 4096 |
//! | 16 | 8 | nonce: a random number, so that two copies of the runtime know the file as theirs |
//! | 24 | 8 | process id, as the process saw it; 0: unknown |
//! | 32 | 8 | start, in ms since 1970-01-01 UTC |
//! | 40 | 8 | end: file offset at which the next block will begin |
//! | 48 | 8 | events dropped by threads that have no region (at least; threads write it without a lock) |
//! | 56 | 8 | copies of the runtime that write to this file |
//! | 64 | 8 | start, in ns of the clock; 0: a recorder without a clock |
//! | 72 | 8 | the clock at the last beat: written now and then while the process lives (see `instrument.snapshot`) |
//! | 80 | 8 | the clock when the virtual machine began to shut down; 0: it did not, or was killed |
//! | 88 | 8 | 1: a snapshot that was made while the process went on; 0: the profile |
//! | 96 | 8 | checksum, written by who knows that the process has ended ([`seal`]): bit 32 is 1, bits 0-31 are the CRC-32 of all bytes up to the end (word 40), these 8 taken as 0; 0: there is none |
//!
//! A sum over several processes ([`Writer`]) has no clock that all of them share: its words 64 and 72 are 0, and word 80 is 1 if all of them
//! ended by themselves. All its figures are those of ended threads.
//!
//! # Blocks
//! From offset 4096, one after another: the pieces by which the file grows. The zeros of a block are written before it is
//! mapped, its header after; so a zero where a block should begin ends the file.
//!
//! | offset | size | |
//! |---|---|---|
//! | 0 | 4 | `BLOK` |
//! | 4 | 4 | copy of the runtime that owns it, from 1. Method ids and class numbers belong to a copy |
//! | 8 | 8 | length, a multiple of 4096, this header included |
//! | 64 | | regions, one after another; a region of length 0 ends the block |
//!
//! # Regions
//! Lengths are multiples of 64. A reader skips kinds that it does not know, and names them.
//!
//! | offset | size | |
//! |---|---|---|
//! | 0 | 4 | kind; 0: free, or not finished |
//! | 4 | 4 | owner: ordinal of a thread of this copy, from 1; 0: the copy itself |
//! | 8 | 8 | length, this header included |
//! | 16 | 48 | depends on the kind |
//! | 64 | | body |
//!
//! ## 1: thread, and 2: ended threads
//! Figures of a thread; kind 2 sums up threads that ended, whose regions were used again. There may be one for each pool, by its name; for threads
//! without a name one for each link that started them; and one, of ordinal 0, for all others. Recorders before had only that. In the
//! name of a pool `*` stands for a number: the last one of the thread's name, or every one. A counts,
//! allocations or bytecodes region that no thread points to is to be ignored: it is a new copy in the making, or an old one.
//!
//! | offset | size | |
//! |---|---|---|
//! | 16 | 8 | file offset of the counts or tree region; 0: none, as for a thread whose events are in trace regions |
//! | 24 | 8 | file offset of the allocations or tree allocations region; 0: none |
//! | 32 | 8 | events dropped |
//! | 40 | 8 | flags: 1 recording stopped early; 2 the shadow stack is being repaired; 4 it is being folded into a sum of ended ones |
//! | 48 | 8 | kind 1: bytes of the name. Kind 2: number of threads folded |
//! | 56 | 8 | file offset of the bytecodes region; 0: none |
//! | 64 | 128 | kind 1: name of the thread at its first event. Recorders without a clock: 192 bytes; if 48 says more than 128, the four words that follow are not there |
//! | 96 | 96 | kind 2: name of the pool |
//! | 192 | 8 | kind 1: start: the clock at its first event; 0: unknown. Kind 2: bytes of the name |
//! | 200 | 8 | kind 1: end: the clock when it was first seen to have ended; 0: it was not |
//! | 208 | 8 | both: number of the link that started it, or each of them; 0: none, or unknown |
//! | 216 | 8 | both: ns that the recorder took for itself (growing regions, folding), and in which recording was paused; already left out of every time |
//! | 224 | 8 | kind 1 with flag 4: ordinal of the sum that it is folded into |
//! | 64 | 8 | kind 2: 1: the journal is valid |
//! | 72 | 24 | kind 2: journal: target, value, source |
//!
//! Folding moves one word at a time: *target* += *source*; *source* = 0. If the journal is valid the reader finishes the
//! move: the word at file offset *target* is *value*, the word at file offset *source* is 0. The shortest and the longest
//! call of a tree's node may be moved in the same way, *value* being the smaller or the larger of the two; so in a tree that is
//! being folded (flag 4) a shortest call of 0 ns has been moved. Or they are written without the journal and stay where they
//! were: to merge them twice does no harm.
//!
//! ## 3: counts
//! | offset | size | |
//! |---|---|---|
//! | 16 | 8 | n: words of the shadow stack |
//! | 24 | 8 | flags: 1 the records have no exits; 2 they have samples in the place of exits (kind 26), beside flag 1 |
//! | 32 | 8 | if flag 1 is set: exits of all methods |
//! | 64 | 8 n | shadow stack, outermost frame first, up to the first 0. Bit 63: pending; bits 32-62: id + 1; the rest is the writer's |
//! | 64 + 8 n | 64 each | records, up to the first that begins with 0: id + 1, entries, exits, unwinds, aborted, unclosed, unmatched, open |
//!
//! A record with nothing but 0 behind its id is of a method that was not called: writers make the records of several methods at once.
//! *open* is 0 but for ended threads: frames that were open when the thread ended. A method may have several records. An
//! entry writes its frame, then its count; a close writes its count, then clears its frame. So **the balance of calls**, for every
//! method and thread, `open` being counted on the shadow stack,
//!
//! ```text
//! entries = exits + unwinds + aborted + unclosed + open
//! ```
//!
//! holds, or the method is that of the topmost frame and `entries` is one less: that event was being written.
//!
//! With flag 1 that holds for the sums of all methods of a thread. The exits of a method are what its balance leaves, and one more for the method of the
//! topmost frame if an event was being written.
//!
//! ## 4: allocations
//! 16 bytes each, up to the first that begins with 0: class number (4 bytes), id + 1 of the method on top of the shadow
//! stack or 0 for none (4 bytes), objects or arrays made (8 bytes).
//!
//! ## 5: class names
//! Up to the first word that is 0: class number, from 1 (4 bytes), length n of the name (4 bytes), name as
//! `Class.getName()` gives it (n bytes, padded to words).
//!
//! ## 6: id map, and 7: properties
//! Offset 16: length of the data, which is at 64. An id map is a gzip file as the rewriter put it into the jar; there may
//! be several, and the same one twice. An id whose flags have bit 16 (10000 in hexadecimal) is not of a method that tells when it is entered, but of calls of a
//! method that are recorded where they are made: *library calls*. They are frames and contexts as those of methods are; what an exception
//! leaves is an unwind. Properties are lines `KEY=VALUE`, with `\n`, `\r` and `\\` escaped. Of a key that occurs again, the value nearest to the end
//! of the file holds.
//!
//! ## 8: tree
//! A thread's calling context tree.
//!
//! | offset | size | |
//! |---|---|---|
//! | 16 | 8 | n: words of the shadow stack, even |
//! | 24 | 8 | flags: 1 only some calls are timed; 2 CPU time is recorded; 4 the nodes are in pieces (kind 21), as they always are since version 2; 8 only some calls were timed, and the nodes have estimates; 16 some words of the nodes lie elsewhere; 32 times are samples: see below |
//! | 32 | 8 | if flag 4 is set: file offset of the first piece; 0: there are no nodes |
//! | 40 | 8 | file offset of the first piece of durations (kind 27); 0: there is none |
//! | 48 | 8 | calls whose durations found no room there |
//! | 56 | 8 | how often recursion got no context, see below |
//! | 64 | 8 n | shadow stack, outermost frame first, two words each, up to the first frame that is 0: frame; clock at its entry, or 0 if this call is not timed |
//! | 64 + 8 n | 128 each | without flag 4: nodes, numbered from 1, up to the first whose word at 0 is 0 |
//!
//! Frame: bit 63: pending; bits 32-62: id + 1, of a link frame 7FFFFFFF; bits 0-31: number of its node. The second word of a popped frame is the
//! clock at its end, so the largest second word on the whole stack, used or not, is the thread's last event.
//!
//! A node is a context: a method under its callers.
//!
//! | offset | size | |
//! |---|---|---|
//! | 0 | 4 | consumer: id + 1 of the method; 7FFFFFFF: *deeper*, see below; bit 31 set: link frame, bits 0-30 are the number of the link |
//! | 4 | 4 | number of the node that called it, which is in front of it; 0: nothing instrumented did |
//! | 8 | 8 | entries |
//! | 16 | 8 | exits |
//! | 24 | 8 | ns: sum over the calls that ended, callees included |
//! | 32 | 8 | the shortest of them, ns; 2^63-1 if there is none |
//! | 40 | 8 | the longest of them, ns |
//! | 48 | 8 | sum of their squares, ns², an IEEE 754 double |
//! | 56 | 8 | only the recorder uses it |
//! | 64 | 8 | unwinds |
//! | 72 | 8 | aborted |
//! | 80 | 8 | unclosed |
//! | 88 | 8 | unmatched |
//! | 96 | 8 | open: 0 but for ended threads |
//! | 104 | 8 | ns of CPU time of the calls that ended, callees included, if flag 2 is set |
//! | 112 | 8 | 0 if every call is timed |
//! | 120 | 8 | ns of the frames that were open when their thread ended, up to its last event |
//!
//! An entry writes its frame, then its count, then the clock into the frame; a close writes its times, then its count, then
//! clears its frame. The counts balance for every node as it does for every method of a counts region. A unmatched event is counted in
//! the context that its method would have under the topmost frame.
//!
//! *Deeper*: past a limit of depth or of contexts (properties `limit.depth`, `limit.contexts`), calls are counted per method only: the nodes whose
//! caller is the one *deeper* node, which itself has no counts and no caller. They have no times, but samples; times are part of the last
//! context above the limit. What such a call calls is deeper, too.
//!
//! When nine tenths of the contexts are there, what would be a new one is counted as if recursion had none: in the context of the nearest caller of the same method, and else below the
//! context where the recursion of its caller began, as far as 64 calls above each. With flag 32 such a call is not timed, the frames on the stack are no path in the tree then,
//! and several may have one node. Without flag 32 it is deeper. Calls within such a call that have contexts there are not counted at 56 again.
//!
//! With flag 1 some calls are timed, and each of them stands for those since the one before it, too. Of each context the first 16 calls, the
//! *head*, are all timed, but not of a method whose calls are known to be short from its other contexts: such a context has no head. There is no CPU time and no ended thread in such a tree; some words of a node are others (the version that wrote flag 1 before
//! version 3 had others again, which are not read):
//!
//! | offset | size | |
//! |---|---|---|
//! | 24 | 8 | sum over the timed calls behind the head of ns, times the calls that it stands for |
//! | 32, 40 | 16 | the shortest and the longest of all timed calls |
//! | 48 | 8 | sum of the squares of all timed calls, ns², times the calls that each stands for: an IEEE 754 double |
//! | 56 | 8 | bits 0-13, too: number of the call, from 0, from which on the next one is timed: its lower bits |
//! | 96 | 8 | timed calls that ended, the head included |
//! | 104 | 8 | calls that the sums stand for, the head included |
//! | 112 | 8 | ns of the head; as a signed number, negative without a head: -1, or the complement of the ns of the first call that was timed |
//! | 120 | 8 | variance of the sum at 24, ns², a double: for a call of d ns that stands for k, k (k - 1) (d - mean)² |
//!
//! The total of a context is (112) + (24), and for the calls that have ended since, closed - (104), the mean of those behind the head, or of
//! the head if there are no others. A context without a head of which no call was timed has for each of its calls the mean of the
//! first timed calls of the method's other contexts without a head; if there are none, of all its timed calls. With flag 8, which the tree of ended threads has instead of flag 1, nodes have these totals
//! at 24, the squares in the same way, timed calls at 56 and the variance at 104.
//!
//! With flag 16, two words are for the recorder, which guesses by them which node is entered next, and what was there lies elsewhere:
//!
//! | offset | size | |
//! |---|---|---|
//! | 48 | 8 | bit 0: the durations of its calls are kept (kind 27), all of which are timed; bits 14-38: number of the node that was entered in the same context after a call of this one had ended, the last time; bits 39-63: another one that was, earlier; 0: none |
//! | 56 | 8 | bits 14-38 and 39-63: the same for the node that a call of this one entered first |
//! | 80 | 4 | unclosed |
//! | 84 | 4 | unmatched |
//! | 88 | 8 | sum of the squares |
//!
//! With flag 32 samples of the thread's CPU time tell where it was (kind 26), and calls are not timed but those of methods that block their thread, and those whose durations are kept. The tree of ended
//! threads has it, too; flags 1, 2 and 8 are never set beside it. Words 24 to 48 (88 with flag 16) are of the calls that were timed and ended, word 120 of those
//! that were open when their thread ended; and
//!
//! | offset | size | |
//! |---|---|---|
//! | 104 | 8 | calls that were timed and ended |
//! | 112 | 8 | samples that met the context as the innermost recorded call, the processor not being in a probe |
//!
//! Aborted frames that are closed only because they pile up (no one instrumented lies beneath them), and the library calls right above them, are
//! counted and not timed: when they failed is not known.
//!
//! ## 9: tree allocations
//! 32 bytes each, up to the first that begins with 0: class number (4 bytes), node of the topmost frame or 0 (4 bytes),
//! objects or arrays made (8), their bytes (8; headers and padding included, classes of unknown size count as 0), 0 (8).
//!
//! ## 10: trace
//! A piece of a thread's events. A thread has any number of them.
//!
//! | offset | size | |
//! |---|---|---|
//! | 16 | 8 | number of the piece within its thread, from 1 |
//! | 24 | 8 | the clock at its beginning |
//! | 64 | 8 each | events, up to the first that is 0 |
//!
//! Event: bits 60-63: kind; bits 34-59: a number; bits 0-33: ns since the event before it, or since the beginning of the piece.
//!
//! | kind | | number |
//! |---|---|---|
//! | 1 | method entry | id |
//! | 2 | constructor entry: a pending frame | id |
//! | 3 | super() returned | id |
//! | 4 | exit | id |
//! | 5 | unwind | id |
//! | 6 | exception caught | id |
//! | 7 | object or array made; bits 0-33 are its bytes / 8, the clock does not move | class number |
//! | 8 | surplus: bits 0-33 are how many of the pending frames, oldest first, are aborted; when they failed is not known, so they have no time; what is above them is called by what is beneath; the clock does not move | only those with so many frames beneath, or more |
//! | 9 | link frame entered: what follows runs on behalf of a link | number of the link |
//! | 10 | link frame left | number of the link |
//! | 11 | a link was made here | number of the link |
//! | 12 | bits 0-59: ns that the recorder took for itself, or in which recording was paused: the clock goes on by them, the times of open calls do not | |
//! | 13 | bits 0-59: events dropped here; the thread's region counts them, too, as it does the ns of kind 12 | |
//! | 14 | the topmost frames are gone: aborted if they are pending, or else unclosed | how many |
//! | 15 | bits 0-59: ns to add to the clock, where 34 bits are not enough | |
//!
//! Kinds that are not named do not move the clock, and a reader skips them.
//!
//! Events are as the probes saw them; what closes which frame is for the reader to find out: an event belongs to the topmost
//! frame of its id that it fits: exit and unwind a ready one, super() returned a pending one, exception caught any. Pending
//! frames above it are aborted, anything else above it is unclosed; both close there. An event that fits no frame is unmatched. A link
//! frame is left by its own event only; frames above it then are unclosed, or aborted if they are pending. It is unclosed itself if
//! it is above a frame that an event belongs to. Of a library call that an exception leaves there is an unwind, right before the
//! event that told of it; but there is none of those above a surplus (kind 8): they stay open.
//!
//! ## 11: links
//! Of the copy; there may be several such regions. A number is given again when nothing in the file refers to it any more. 32 bytes each, up to the first that begins with 0: number, from 1 (4 bytes); kind (4): 1 a thread was started, 2 a task was
//! handed over, 3 a remote call was made, 4 remote calls are served (see kind 19), 5 the virtual machine loads a class, 6 it links an invokedynamic instruction: nobody made such a link, its frames take the time of that work out of the method that waits for it, and one within another is part of it, 7 the program says that a part of it begins that has a name of its own, such as a test: nobody made such a link, and its name is the property `boundary.NUMBER`, 8 a call of a method with probes began before the recording, in code without them: nobody made such a link, the id of the method is the property `running.NUMBER`, and the counts and times of its frames are those of what was seen of the call, and no figures of the method; node (4) and ordinal of the thread (4) that did it: node 0: its events tell (kind 11), or unknown; that of a sum (kind 2): one of the ended threads;
//! clock (8) when it was made, 0 if many share this link.
//!
//! ## 12: region timings
//! Of one code region and thread; of kind 2: of the ended threads that were folded, without their last passages. A recursive passage
//! is counted like any other.
//!
//! | offset | size | |
//! |---|---|---|
//! | 16 | 8 | number of the region; property `region.N` is its name |
//! | 24 | 8 | passages |
//! | 32 | 8 | their ns |
//! | 40 | 8 | the shortest, ns; 2^63-1 if there is none |
//! | 48 | 8 | the longest, ns |
//! | 56 | 8 | passages that were left otherwise than over the region's end |
//! | 64 | 16 each | ring: the clock at its beginning, ns; passage k is at index k mod length |
//!
//! ## 13: collections
//! Garbage collections that stopped the program. Offset 16: number of the first one in the region, from 1. 16 bytes each, up to the
//! first that begins with 0: clock at its start, clock at its end (0: it did not come).
//!
//! ## 14: objects
//! Biographies, one for each object that was followed. Offset 16: number of the first one in the region, from 1. 32 bytes each; one
//! whose class is 0 was not finished.
//!
//! | offset | size | |
//! |---|---|---|
//! | 0 | 4 | class number |
//! | 4 | 4 | ordinal of the thread that made it; 0: unknown |
//! | 8 | 4 | context, see kind 15; 0: none |
//! | 12 | 4 | collections that had ended when it was made |
//! | 16 | 4 | its bytes / 8 |
//! | 20 | 4 | collections that had ended when it was found to be gone, and 1 more; 0: it was there to the end |
//! | 24 | 8 | the clock when it was made |
//!
//! ## 15: contexts
//! Chains of callers for figures that outlive the tree of their thread. Offset 16: number of the first one in the region, from 1. 8
//! bytes each, up to the first that is 0: the context that called it, a lower number, or 0 (4 bytes); id + 1 of the method, or
//! 7FFFFFFF for *deeper* (4 bytes). Link frames are left out: a chain begins in the thread itself.
//!
//! ## 16: waits
//! Times in which a thread could not go on because of a monitor. 64 bytes each; one whose kind is 0 was not finished.
//!
//! | offset | size | |
//! |---|---|---|
//! | 0 | 4 | kind: 1 to enter a monitor that another thread had, 2 in `Object.wait` |
//! | 4 | 4 | number of the thread, see kind 17 |
//! | 8 | 8 | the clock at its beginning |
//! | 16 | 8 | the clock at its end; 0: it did not come |
//! | 24 | 4 | number of the monitor, from 1, the same for the same object; 0: unknown |
//! | 28 | 4 | class number of the monitor |
//! | 32 | 4 | context, see kind 15; 0: none |
//! | 36 | 4 | kind 1: number of the thread that had the monitor; 0: unknown |
//! | 40 | 8 | kind 2: the timeout that was asked for, in ms; 0: none |
//! | 48 | 4 | flags: 1 the timeout ran out |
//!
//! ## 17: Java threads
//! What the virtual machine knows of its threads, whether they recorded anything or not. 256 bytes each, in no certain order; one whose
//! number is 0 was not finished. A virtual thread is met at its first wait; its end is not known.
//!
//! | offset | size | |
//! |---|---|---|
//! | 0 | 4 | number, from 1 |
//! | 4 | 4 | ordinal of the thread's region; 0: it recorded nothing so far |
//! | 8 | 8 | the clock at its start, of a virtual thread at its first wait; 0: it was there before the recorder |
//! | 16 | 8 | the clock at its end; 0: it was there to the end, or is virtual |
//! | 24 | 4 | number of the thread that started it; 0: unknown |
//! | 28 | 4 | flags: 1 daemon, 2 virtual |
//! | 32 | 6 | bytes of its name, of its group's and of its group's parent's (2 each) |
//! | 40 | 216 | the three, one after another, cut to what fits |
//!
//! ## 18: connections
//! Of remote method invocation, as seen from this process. 64 bytes each, up to the first that begins with 0.
//!
//! | offset | size | |
//! |---|---|---|
//! | 0 | 4 | number, from 1 |
//! | 4 | 4 | side: 1 this process connected, 2 it accepted |
//! | 8 | 2 | local port |
//! | 10 | 2 | remote port |
//! | 12 | 4 | which connection of this process with these ports and addresses it is, from 1: ports are used again |
//! | 16 | 16 | local address; an IPv4 address a.b.c.d is ::ffff:a.b.c.d |
//! | 32 | 16 | remote address |
//! | 48 | 8 | the clock when it was made |
//! | 56 | 4 | side 2: how many sockets with these ports and addresses this process has accepted, whatever they carried; 0: unknown. Of several connections with them the largest number holds |
//!
//! One is there from its first call on that is recorded; those that carry none are not counted, but in the word at 56. A socket is in it before anything is sent over it: a client
//! that has made a call knows that its own is among them. It is known if the listening socket was seen before it accepted anything.
//!
//! ## 19: remote calls
//! 128 bytes each, in no certain order, for a call made (by the client) as for a call served (by the server); one whose kind is 0 was not finished.
//!
//! | offset | size | |
//! |---|---|---|
//! | 0 | 4 | kind: 1 made, 2 served; of a request by HTTP 3 made, 4 served, of a call by gRPC 5 made, 6 served, of a message by JMS 7 sent, 8 received, see below |
//! | 4 | 4 | ordinal of the thread; 0: unknown |
//! | 8 | 4 | number of the connection; 0: unknown |
//! | 12 | 4 | which call on that connection it is, from 1 |
//! | 16 | 8 | ObjID of the remote object: its object number |
//! | 24 | 8 | and its UID: time |
//! | 32 | 4 | unique |
//! | 36 | 2 | count |
//! | 38 | 2 | flags: 1 it ended by an exception that the method threw (kind 1: that the server sent; it may also be about the arguments); 2 the return's UID is known; 4 it was not dispatched: no such object; 8 it failed otherwise (the connection, the arguments) |
//! | 40 | 8 | hash of the method, or of the interface if it has an operation number |
//! | 48 | 4 | operation number; -1: none |
//! | 52 | 4 | kind 2: class number of the implementation; 0: unknown |
//! | 56 | 8 | UID that the server gives each return, and sends with it: time |
//! | 64 | 4 | unique |
//! | 68 | 2 | count |
//! | 72 | 4 | kind 1: context that made it, see kind 15; 0: unknown |
//! | 76 | 4 | kind 1: number of its link in a trace, or 0; kind 2: number of the link frame that it ran under, or 0 |
//! | 80 | 8 | the clock at its beginning. Kind 1: before there is a connection; kind 2: the ObjID has been read |
//! | 88 | 8 | kind 1: the arguments are written, the wait begins; kind 2: the arguments are read, the method is called. 0: it did not come so far |
//! | 96 | 8 | kind 1: the return has begun to come; kind 2: the return begins to be written. 0: it did not come so far |
//! | 104 | 8 | the clock at its end; 0: it did not come |
//! | 112 | 4 | number, in the class names, of the method as `name(descriptor)`; 0: unknown |
//! | 116 | 4 | number, in the class names, of a host as text. Kind 1: the one that no connection to could be had, 0: there was one; kind 2: the client's, where the connection is unknown, else 0 |
//! | 120 | 2 | kind 1: and the port that was asked for |
//! | 124 | 4 | made, of every kind: the number of the call that its thread served meanwhile, if that has one; served: its own, where several threads serve it; or 0 |
//!
//! What a thread does for a call that it serves is under a link frame (kind 4 of the links): in a tree one for each remote object and method (past 4,096 of
//! them one for each method), in a trace one for each call. A thread that is outside of all root methods stays there, and its calls have no link. A call made is
//! over when its connection is given back: calls that the collector makes for references in the return come after it.
//!
//! Without the JDK's own classes (a jar that was rewritten) only stubs, skeletons and the methods that a remote interface declares tell:
//! connection, ObjID and UID are unknown then. A call that only its method tells of has no hash and no link; it is the outermost such method in
//! a thread that serves, so what served it is taken for its method if that is not rewritten and calls such a method itself.
//!
//! Two records are of the same call if their returns have the same UID: no two returns have, of whatever process. A call that did
//! not return is found by its connection and its place on it.
//!
//! Requests by HTTP have the same record but for
//!
//! | offset | size | |
//! |---|---|---|
//! | 8 | 8 | connection and number, where the library counts all that goes over its connections: also what is not recorded; else 0 |
//! | 16 | 16 | trace id of its `traceparent` header (W3C Trace Context), the first half first |
//! | 38 | 2 | flags: 8 an exception ended it; 16 there was a header that is valid; 32 there was one that is not; 64 the connection leads to a proxy or comes from one; 128 it carries several requests at a time; 256 kind 3: it was not sent |
//! | 40 | 4 | hash of the request's method and path, without the query, the same at both ends; 4 bytes of 0 follow |
//! | 48 | 4 | -1 |
//! | 56 | 8 | parent id of the header |
//! | 64 | 8 | 0 |
//! | 80 | 8 | kind 3: the clock before anything is sent; kind 4: where the request is handed to the program |
//! | 88 | 16 | 0 |
//! | 104 | 8 | kind 3: the clock where the response is there or an exception; kind 4: where the program has returned |
//! | 112 | 4 | number, in the class names, of the request's method and path without ids: `GET /orders/?` |
//! | 116 | 4 | the same of a host as text: kind 3: that of the address; kind 4: the client's |
//! | 120 | 2 | kind 3: the port of the address |
//! | 122 | 2 | status of the response; 0: unknown |
//!
//! Two records are of the same request if trace id, parent id and the hash are the same, and no third record of either kind has them.
//!
//! Calls by gRPC have the same record as requests by HTTP, with kind 5 for kind 3 and 6 for 4, but for
//!
//! | offset | size | |
//! |---|---|---|
//! | 4 | 4 | kind 6: ordinal of the thread that was handed the call first |
//! | 38 | 2 | flags: 1 an exception has left what serves it |
//! | 40 | 4 | hash of the full name of the method |
//! | 76 | 4 | kind 6: number of the link frame that it ran under, in whichever threads; or 0 |
//! | 80 | 8 | kind 5: the clock where it is started, behind all interceptors; kind 6: where it is handed to the program |
//! | 104 | 8 | kind 5: the clock where the client is told of the end; kind 6: where the program ends it, or is told that it was cancelled |
//! | 112 | 4 | number, in the class names, of the full name of the method: `shop.Orders/Place` |
//! | 122 | 2 | status code, and one more: 1 is `OK`; 0: unknown |
//!
//! Messages by JMS have the same record as requests by HTTP, with kind 7 for kind 3 and 8 for 4, but for
//!
//! | offset | size | |
//! |---|---|---|
//! | 16 | 16 | with flag 512 a hash of the id that the provider gives each message; without it, as of HTTP |
//! | 38 | 2 | flags: 1 an exception has left what received it; 512 the key is of the message's id |
//! | 40 | 4 | 0 |
//! | 56 | 8 | with flag 512 another hash of the id |
//! | 76 | 4 | kind 8: number of the link frame that what received it ran under, in whichever threads; or 0 |
//! | 80 | 8 | kind 7: the clock before it is sent; kind 8: where the program has it |
//! | 104 | 8 | kind 7: the clock where it is sent; kind 8: where whoever received it last has returned, or asks for another one |
//! | 112 | 4 | number, in the class names, of where it goes to: `queue orders`, `topic prices`, `temporary queue` |
//! | 122 | 2 | 0 |
//!
//! A message that was sent once is received by each record that has its key. What two records have sent has no receiver.
//!
//! ## 20: pauses
//! When recording was paused. 16 bytes each, up to the first that begins with 0: the clock at its beginning, the clock at its end (0: it did
//! not come). Calls that began during a pause are nowhere in the file; what they called after it has the nearest caller that is recorded.
//! Calls that began before are closed when they end, and those that end in a pause end with its beginning. The time of a pause is left out of
//! the times of open calls and is part of word 216 of the thread (kind 12 in a trace), once the thread had an event after it.
//!
//! ## 21: tree nodes
//! A piece of the nodes of one tree. Pieces are chained; one that no tree leads to is to be ignored. A tree that grows gets one piece more: nodes never move, so
//! that the file has nothing but nodes and at most an eighth of room for more.
//!
//! | offset | size | |
//! |---|---|---|
//! | 16 | 8 | number of the first node; that of each further node is larger by 2 |
//! | 24 | 8 | file offset of the next piece; 0: this is the last one |
//! | 64 | 128 each | nodes, as in kind 8, up to the first whose word at 0 is 0 |
//!
//! Numbers are what frames, nodes, links and tree allocations call nodes by. They say nothing else: a piece may have lower ones than the piece before it.
//!
//! ## 22: holders
//! A search through the heap for who holds objects that may leak: of the objects of one class, made in one context, a sample. It is made when the
//! program ends. Offset 16: length of the data, which is at 64.
//!
//! | offset | size | |
//! |---|---|---|
//! | 0 | 4 | 0: it looked at all that can be reached; 1: its time was over before; 2: it had met as many objects as it may |
//! | 4 | 4 | objects that it met; arrays of primitive types are not among them |
//! | 8 | 8 | ns that it took |
//! | 16 | | entries, up to the end of the data |
//!
//! An entry is objects of one class and context that are held in one way. What the entries of a class and context count together is their sample.
//!
//! | offset | size | |
//! |---|---|---|
//! | 0 | 4 | class number |
//! | 4 | 4 | context, see kind 15; 0: none |
//! | 8 | 4 | objects of this class and context that were looked for |
//! | 12 | 4 | those that are held in this way |
//! | 16 | 4 | flags: 1 they were not met; 2 they are held in several other ways |
//! | 20 | 4 | bytes of the path, 0 with a flag |
//! | 24 | | the path, a line for each step, padded to words: first the root (`static com.acme.Cache.entries`, `thread "main"`, `local variable of M in thread "T"`, ..), then fields with the classes that declare them; `[]` behind a step whose elements the next one is about. Steps between objects of the same class are left out |
//!
//! ## 23: bytecodes
//! How many instructions the calls of a thread have executed, without what they called, as the transform `bytecodes` counts them: an open hash table of
//! 16 bytes each, whose places say nothing; a place whose first word is 0 is not used. A call adds its instructions when it ends, a constructor those in front of its
//! `super()` when it comes to them; what calls had executed that were open at the end is in no file.
//!
//! | offset | size | |
//! |---|---|---|
//! | 0 | 8 | in a profile with trees the number of the node; else id + 1 of the method |
//! | 8 | 8 | instructions |
//!
//! ## 24: change of the selection
//! Which methods were excluded, or included again, and which roots were added or removed, while the program ran: one region for each change.
//! Offset 16: length of the data, which is at 64.
//!
//! | offset | size | |
//! |---|---|---|
//! | 0 | 8 | the clock. Excluded, roots removed: before the first method lost its probes; included: when the last one had them again; roots added: when they and what is nearest to them had probes |
//! | 8 | 4 | 1: excluded; 2: included; 3: roots added; 4: roots removed |
//! | 12 | 4 | how many ids follow |
//! | 16 | 4 each | ids of methods that this concerned when it happened, ascending; of roots, the methods that fitted |
//! | | | the patterns that were given, a line for each, up to the end of the data: what fits and was loaded later is excluded or included as well |
//!
//! Calls of an excluded method are nowhere in the file, but those that were open then, which are closed when they end. The same holds for calls
//! beneath a root that was removed, unless another root can make them.
//!
//! ## 25: counts of lines
//! What the methods of a process have counted with the transform `lines`, written when the recording ends: of a process that was killed there is
//! none. Offset 16: length of the data, which is at 64: one record after the other. Those of the same method and check are added up.
//!
//! | offset | size | |
//! |---|---|---|
//! | 0 | 4 | id of the method |
//! | 4 | 4 | check: says which code was counted (`instrument_rewriter::executions`, which knows from a class file where its counters stand) |
//! | 8 | 4 | n: how many counters follow |
//! | 16 | 8 n | how often control has passed each |
//!
//! ## 26: thread samples
//! Of a thread whose tree (kind 8, flag 32) or whose counts (kind 3, flag 2) have samples, or of a sum of ended threads: the samples that no context has, and what all of them
//! stand for. 128 bytes; the owner is the ordinal of the thread or of the sum. What is noted for a sum of ended threads is a sum.
//!
//! | offset | size | |
//! |---|---|---|
//! | 16 | 8 | ns of CPU time between two samples, as was asked for |
//! | 24 | 4 | what makes them: 1 a perf event of the software clock; 2 a POSIX timer on the CPU clock of the thread; 3 a thread of the recorder that looks |
//! | 28 | 4 | flags: 1 samples meet the thread only in user code; 2 another handler had the signal at the end: samples are missing |
//! | 32 | 8 | q: the squares of what each sample counts for, added up; 0: each counts for one. n samples of which some count for several tell as much as n^2 / q that count for one |
//! | 64 | 8 | only the recorder uses it |
//! | 72 | 8 | CPU time of the thread since its first event, ns, as noted last: at each sample, and when it ends |
//! | 80 | 8 | samples that met a probe of the recorder |
//! | 88 | 8 | samples that met no recorded call |
//! | 96 | 8 | samples of which it is not known what they met: the signal came late, or met unknown code |
//! | 104 | 8 | of the samples of contexts, those that met the virtual machine's own code |
//! | 112 | 8 | CPU time of the handler of the signals, ns |
//! | 120 | 8 | samples that came while recording was paused, whose CPU time is not counted |
//!
//! With the property `samples.event`, the name of the event that is sampled in the place of CPU time, words 16 and 72 are numbers of such events. They are those
//! that the counter of the thread has seen, scaled where the processor counted for a part of the time. The event `wall` is the time of threads, whether they run or wait: both words are ns,
//! those of the time that threads of Java lived while they were recorded; of other threads they are ns of CPU time.
//!
//! A profile of two runs (`instrument run --twice`, `attach --twice`; properties `twice.*`) has the samples of a run in which nothing was recorded as those of sums of 0 threads;
//! its other threads have the samples of their probes alone, and the CPU time of these.
//!
//! A sample stands for the CPU time of the thread over all its samples: those of its contexts and words 80, 88 and 96. With flag 1 it stands for no more than
//! the period, and the CPU time that remains was spent in the kernel.
//!
//! ## 27: durations
//! A piece of the histograms of one tree: how long the calls of contexts took. Pieces are chained; one that no tree leads to is to be ignored.
//!
//! | offset | size | |
//! |---|---|---|
//! | 16 | 8 | file offset of the next piece; 0: this is the last one |
//! | 64 | 320 each | octaves, up to the first whose word at 0 is 0 |
//!
//! A histogram is base-2 exponential, of scale 6: bucket i has the durations above 2^(i/64) ns and up to 2^((i+1)/64) ns. Octave o has the buckets from 64 o to 64 o + 63. A context
//! has an octave once it has a duration there, and several of the same one where a count would be too large; what these have adds up. The duration of a call is the time from
//! its entry to its exit, less what the recorder took for itself. Only calls that returned or that an exception left have one, and only the outermost of those that
//! are open of a method: contexts below another of the same method have none.
//!
//! | offset | size | |
//! |---|---|---|
//! | 0 | 4 | number of the node |
//! | 4 | 1 | o + 1 |
//! | 5 | 1 | 0: calls that returned; 1: calls that an exception left |
//! | 8 | 8 | sum of the durations, ns |
//! | 16 | 8 | the shortest, ns; 2^63-1 if there is none |
//! | 24 | 8 | the longest, ns |
//! | 32 | 8 | those that are longer than the threshold |
//! | 40 | 8 | the threshold, ns; 0: there is none |
//! | 64 | 4 each | 64 counts, by bucket. The first one of octave -1 has the durations of 0 ns |
//!
//! ## 28: worst call
//! One of the calls that took longest of a method whose durations are kept, or one that was drawn at random, and what it did. The owner is the thread. Of each method the process keeps ten of
//! the former and 50 of the latter, of which each call is as likely as any other, or none if they found no room;
//! a process that was killed while one took the place of another may have left both. What they did is in the trees of their threads, too: without them these are the rest.
//!
//! | offset | size | |
//! |---|---|---|
//! | 16 | 4 | id + 1 of the method |
//! | 20 | 4 | flags: 1 an exception left it; 2 not all that it did is known: it is past a limit of depth or contexts, or there was no room; 4 it was drawn at random |
//! | 24 | 8 | how long it took, less what the recorder took for itself, ns |
//! | 32 | 8 | the clock at its end |
//! | 40 | 8 | n: its nodes |
//! | 64 | 40 n | nodes, of which the first is the method itself |
//!
//! | offset | size | |
//! |---|---|---|
//! | 0 | 4 | consumer, as in kind 8 |
//! | 4 | 4 | the node that called it, from 1, which is in front of it; of the first 0 |
//! | 8 | 24 | entries; exits, the others having ended otherwise; ns of those that were timed, 0 where not all calls of such a context are |
//! | 32 | 8 | samples |
//!
//! # Properties
//! `record` (counts, tree, trace; samples: whole stacks, from samples of all threads, nothing being rewritten: trees have samples and no calls, and are sums of threads whose names differ in a number only; frames that are no methods have the class `(stacks)`; then `samples.lost` has the samples for which there was no room, `samples.event` the event that was sampled, if it is not CPU time, `samples.user-only` whether in user code only, and `samples.without` the threads that had no counter); `timing` (auto, all, every:N: which calls are timed; samples: none but those of methods that block, see kind 26), then `samples.source` (perf, timer, thread) and `samples.period` (ns), `samples.probes` (address, mark: how they are known), as far as they are the same for all threads, and no calibration; `twice.bare.ns`, `twice.outside.ns`, `twice.probes.ns` (of a profile of two runs: CPU time of the one without probes, and of the recorded one outside of probes and in them), `twice.contexts.both`, `twice.contexts.times`, `twice.contexts.counts` (contexts of both runs, and of only one), `twice.alike` (true: the times may be divided by the calls), `twice.parts` (true: they are parts of one run); `roots` (in the beginning); `latency` (the methods whose durations are kept, with thresholds); `limit.depth`, `limit.contexts`, `limit.threads`
//! (threads that kept figures of their own after they ended), `limit.bytes` (of the file, if there is one); `region.N`; `selection` (what was inserted where: transforms and patterns, of all
//! programs on the class path, or of the agent); `name`
//! (what the user calls the process); `processors` (that the virtual machine had at the start); `command`, `directory`, `start-class` (of a Spring Boot archive: the program's own class that it starts), `host`, `os`, `java.version`, `java.vm.name`, `java.vm.version`; the clock:
//! `clock` (monotonic, or tsc: the processor's time-stamp counter), `clock.error` (of its speed, in parts per million, as it was set), `clock.drift`
//! (ns that it was ahead of the monotonic clock in the end, since the recording began); under the agent `rewriting.classes` and `rewriting.ns` (classes that it looked
//! at as they were loaded, and the time for which it held up the threads that loaded them), `rewriting.left` (a
//! pattern of classes of the program that it left as they are unless an include pattern names them), `recording.ended` (before-program: it was
//! stopped, and the program ran on); `merged.processes` (of a sum over several processes: how many); where objects are recorded `heap.allocated` (an estimate from samples of the bytes that
//! the program allocated in all while they were recorded) and `heap.allocated.error` (its standard error, bytes); and what calibration found, in ns as decimal numbers:
//!
//! | key | |
//! |---|---|
//! | `calibration.inner` | part of the cost of one call's probes that falls into the call's own time (t_I) |
//! | `calibration.outer` | part that falls into its caller's time (t_O) |
//! | `calibration.spread` | how much inner + outer differed between rounds: half the distance between the quartiles |
//! | `calibration.clock` | cost of one reading of the clock |
//! | `calibration.inner.untimed`, `calibration.outer.untimed` | the same for a call that is counted but not timed; inner is 0, for it has no time of its own |
//! | `calibration.outer.untimed.middle`, `calibration.outer.untimed.long` | the same beside calls that do more, and most; recorders may have measured neither, or the last only |
//! | `calibration.call`, `calibration.call.middle`, `calibration.call.long` | what a call takes without probes in the loops that `calibration.outer.untimed`, `.middle` and `.long` are of |
//! | `calibration.allocation` | cost of one allocation event |
//! | `calibration.rounds` | rounds that the figures come from: those in which the probes were compiled and nothing disturbed them |
//! | `calibration.rounds.least` | so many of them are needed; with fewer the figures are insufficient and times are not to be corrected by them |
//! | `calibration.start.*`, `calibration.end.*` | `inner`, `outer`, `spread` and `rounds` of each of the two measurements by itself |
//! | `calibration.cpu.inner`, `calibration.cpu.outer` | what a call's probes add to readings of the thread's CPU time, in the call and in its caller; only if CPU time is recorded |
//!
//! The keys without the name of a measurement are the figures to use. A key that comes again replaces the one before: the recorder
//! calibrates once more when the program ends. Of calls that are not timed the cheaper figure is used, whichever measurement it is from. Under the
//! agent the start is 2 s after that of the program, and later again until there are rounds enough: of a program that was killed before nothing is
//! known.
//!
//! # Example
//! A thread `main` that is inside its method 5, having called it twice (words as hexadecimal numbers):
//!
//! ```text
//! 1000  BLOK, copy 1            | 10000
//! 1040  thread, owner 1: 1_00000001 | 100 | counts at 1140 | 0 | 0 | 0 | 4 bytes of name | 0 | "main"
//! 1140  counts,  owner 1: 1_00000003 | 800 | 38 words of stack | ...
//! 1180    6_00000068              frame: id 5, ready
//! 1188    0                       end of the stack
//! 1340    6 | 2 | 1 | 0 | 0 | 0 | 0 | 0     id 5: 2 entries, 1 exit
//! 1380    0                       end of the records
//! 1940  0 | 0                   end of the block
//! ```
//!
//! The same as a tree of version 1, where method 4 had called it, once before for 100 ns and now again (a node is two lines):
//!
//! ```text
//! 1140  tree,    owner 1: 1_00000008 | 1000 | 38 words of stack | ...
//! 1180    5_00000001 | 5F5E100    frame: id 4, node 1, entered at 100 ms
//! 1190    6_00000002 | 5F5E200    frame: id 5, node 2, entered 256 ns later
//! 11a0    0          | 5F5E1F0    no frame; one was closed here at this time
//! 1340    0_00000005 | 1 | 0 | 0  | 7FFFFFFFFFFFFFFF | 0 | 0 | 0              node 1: id 4, no caller, 1 entry
//! 1380    0 | 0 | 0 | 0 | 0 | 0 | 0 | 0
//! 13c0    1_00000006 | 2 | 1 | 64 | 64 | 64 | 40C3880000000000 | 0            node 2: id 5 under node 1, 2 entries, 1 exit, 100 ns
//! 1400    0 | 0 | 0 | 0 | 0 | 0 | 0 | 0
//! 1440    0                       end of the nodes
//! ```
//!
//! And as events, in a trace region whose clock begins at 5F5E100: `1000001000000000` entry of 4; `100000140000008C` entry of
//! 5, 140 ns later; `4000001400000064` its exit after 100 ns; `1000001400000010` entry of 5.
#![deny(missing_docs)]

mod balance;
mod bytes;
mod calibration;
mod context;
mod durations;
mod durations_region;
#[doc(hidden)]
pub mod encode;
mod error;
mod event;
mod facts;
#[doc(hidden)]
pub mod format;
mod hash;
mod head;
mod heap;
mod histogram;
mod holder;
mod java_thread;
mod line;
mod link;
mod method;
mod pause;
mod plausible;
mod profile;
mod reader;
mod region_timing;
mod regions;
mod remote;
mod seal;
mod selection;
mod source;
mod thread;
mod thread_samples;
mod tree;
mod tree_region;
mod untimed;
mod wait;
mod worst_call;
mod writer;

pub use balance::Imbalance;
pub use calibration::{Beside, Calibration, CpuCost, LEAST_ROUNDS, Phase};
pub use context::{Context, Contexts};
pub use durations::ContextDurations;
pub use error::{Damage, Error};
pub use event::Event;
pub use facts::{Copy, Mode};
pub use head::{Head, is_profile};
pub use heap::{Collection, Object, ObjectPiece};
pub use histogram::{Histogram, bucket};
pub use holder::{Holder, HolderPath, HolderSearch, SearchEnd};
pub use java_thread::JavaThread;
pub use line::LineKey;
pub use link::{Link, LinkKind};
pub use method::{Closes, Method};
pub use pause::Pause;
pub use plausible::beyond;
pub use profile::{Profile, RemoteCallsAt};
pub use region_timing::{Passage, RegionTiming};
pub use remote::{
    Connection, Http, ObjId, Protocol, RemoteCall, RemoteCallKind, RemoteCalls, Side, TraceParent, Uid,
};
pub use seal::seal;
pub use selection::{Change, SelectionChange};
pub use source::Source;
pub use thread::{Allocation, Frame, Piece, Thread, ThreadKind, TreeAllocation};
pub use thread_samples::{SampleSource, ThreadSamples};
pub use tree::{NO_MIN, Tree, TreeConsumer, TreeNode};
pub use wait::{Wait, WaitKind, WaitPiece};
pub use worst_call::WorstCall;
pub use writer::{About, Sum, Writer};
