use super::*;

const FAR: u64 = 5 << 30;

fn central(extra: &[u8], packed: u32, size: u32, offset: u32) -> Vec<u8> {
    let mut record = vec![0; CENTRAL_LEN];
    record[..4].copy_from_slice(&CENTRAL_SIGNATURE);
    put16(&mut record, 6, 20);
    put16(&mut record, 8, FLAG_DESCRIPTOR);
    put32(&mut record, 20, packed);
    put32(&mut record, 24, size);
    put16(&mut record, 28, 1);
    put16(&mut record, 30, extra.len() as u16);
    put16(&mut record, 32, 2);
    put32(&mut record, 42, offset);
    [&record[..], b"n", extra, b"co"].concat()
}

fn zip64(values: &[u64]) -> Vec<u8> {
    let mut field = EXTRA_ZIP64.to_le_bytes().to_vec();
    field.extend_from_slice(&(values.len() as u16 * 8).to_le_bytes());
    values.iter().for_each(|value| field.extend_from_slice(&value.to_le_bytes()));
    field
}

const OTHER: [u8; 5] = [0x55, 0x54, 1, 0, 9];
const ALL: u32 = u32::MAX;

fn again(old: &[u8], new: Option<&Sizes>, offset: u64) -> Vec<u8> {
    let mut out = b"before".to_vec();
    central_header(old, new, offset, &mut out);
    out.split_off(6)
}

fn extra_of(record: &[u8]) -> &[u8] {
    &record[CENTRAL_LEN + 1..record.len() - 2]
}

#[test]
fn central_header_that_only_moves() {
    let old = central(&OTHER, 10, 20, 30);
    assert_eq!(again(&old, None, 30), old);
    assert_eq!(again(&old, None, 31), central(&OTHER, 10, 20, 31));

    // Beyond 4 GiB the offset needs a zip64 field; back below it, one that is there stays.
    let far = again(&old, None, FAR);
    assert_eq!(extra_of(&far), [&OTHER[..], &zip64(&[FAR])].concat());
    assert_eq!((u32_at(&far, 20), u32_at(&far, 24), u32_at(&far, 42)), (10, 20, ALL));
    assert_eq!((u16_at(&far, 6), u16_at(&far, 8)), (45, FLAG_DESCRIPTOR));
    let near = again(&far, None, 7);
    assert_eq!(extra_of(&near), [&OTHER[..], &zip64(&[7])].concat());

    // APPNOTE 4.5.3: uncompressed, compressed, offset, each only if marked.
    let old = central(&[&zip64(&[FAR + 1, FAR]), &OTHER[..]].concat(), ALL, ALL, 30);
    let far = again(&old, None, FAR + 2);
    assert_eq!(extra_of(&far), [&zip64(&[FAR + 1, FAR, FAR + 2]), &OTHER[..]].concat());
    assert_eq!(again(&old, None, 30)[CENTRAL_LEN..], old[CENTRAL_LEN..]);
}

#[test]
fn central_header_keeps_a_zip64_field_that_nothing_refers_to() {
    let old = central(&zip64(&[20, 10]), 10, 20, 30);
    assert_eq!(extra_of(&again(&old, None, 99)), zip64(&[20, 10]));
}

#[test]
fn central_header_with_new_sizes_drops_what_nothing_refers_to() {
    let new = Sizes { crc: 1, packed: 2, size: 3 };
    assert_eq!(extra_of(&again(&central(&zip64(&[20, 10]), 10, 20, 30), Some(&new), 99)), b"");
    // With a zip64 field for the offset, and without one before.
    let far = again(&central(&zip64(&[20]), 10, 20, 30), None, FAR);
    assert_eq!(extra_of(&far), zip64(&[FAR]));
}

#[test]
fn central_header_keeps_the_disk_number() {
    let mut field = zip64(&[7, 0]);
    field.truncate(4 + 12);
    field[2] = 12;
    let mut old = central(&field, 1, 2, ALL);
    put16(&mut old, 34, 0xFFFF);
    let new = again(&old, None, 8);
    assert_eq!(u64_at(extra_of(&new), 4), 8);
    assert_eq!(new.len(), old.len());
}

#[test]
fn central_header_with_new_sizes() {
    let small = Sizes { crc: 0xC, packed: 1, size: 2 };
    let old = central(&[&zip64(&[FAR, FAR, FAR]), &OTHER[..]].concat(), ALL, ALL, ALL);
    let new = again(&old, Some(&small), 3);
    assert_eq!(extra_of(&new), OTHER);
    assert_eq!((u32_at(&new, 16), u32_at(&new, 20), u32_at(&new, 24), u32_at(&new, 42)), (0xC, 1, 2, 3));
    assert_eq!(u16_at(&new, 8), 0);
    assert!(new.ends_with(b"co"));

    let large = Sizes { crc: 0xC, packed: 9, size: FAR };
    let new = again(&old, Some(&large), FAR);
    assert_eq!(extra_of(&new), [&zip64(&[FAR, FAR]), &OTHER[..]].concat());
    assert_eq!((u32_at(&new, 20), u32_at(&new, 24), u32_at(&new, 42)), (9, ALL, ALL));
}

#[test]
fn central_header_puts_zip64_before_what_is_no_field() {
    let old = central(&[&OTHER[..], &[0, 0, 0]].concat(), 1, 2, 3);
    assert_eq!(extra_of(&again(&old, None, FAR)), [&OTHER[..], &zip64(&[FAR]), &[0, 0, 0]].concat());
}

fn local(extra: &[u8]) -> Vec<u8> {
    let mut header = vec![0; LOCAL_LEN];
    header[..4].copy_from_slice(&LOCAL_SIGNATURE);
    put16(&mut header, 6, FLAG_DESCRIPTOR | FLAG_UTF8);
    put16(&mut header, 26, 1);
    put16(&mut header, 28, extra.len() as u16);
    [&header[..], b"n", extra].concat()
}

#[test]
fn local_header_with_new_sizes() {
    let small = Sizes { crc: 0xC, packed: 1, size: 2 };
    let mut out = Vec::new();
    local_header(&local(&[&zip64(&[FAR, FAR]), &OTHER[..]].concat()), Some(&small), 0, false, &mut out);
    assert_eq!(out[LOCAL_LEN + 1..], OTHER);
    assert_eq!((u16_at(&out, 6), u16_at(&out, 28)), (FLAG_UTF8, 5));
    assert_eq!((u32_at(&out, 14), u32_at(&out, 18), u32_at(&out, 22)), (0xC, 1, 2));

    let mut out = Vec::new();
    let large = Sizes { packed: 1, size: FAR, ..small };
    local_header(&local(&OTHER), Some(&large), 0, false, &mut out);
    assert_eq!(out[LOCAL_LEN + 1..], [&OTHER[..], &zip64(&[FAR, 1])].concat());
    assert_eq!((u16_at(&out, 4), u32_at(&out, 18), u32_at(&out, 22)), (45, ALL, ALL));
}

#[test]
fn local_header_aligns() {
    let field = [&EXTRA_ALIGN_ANDROID.to_le_bytes()[..], &[4, 0, 4, 0, 0, 0]].concat();
    for at in 0..9 {
        let mut out = vec![1; 3];
        local_header(&local(&field), None, FAR + at, true, &mut out);
        let header = &out[3..];
        assert_eq!((FAR + at + header.len() as u64) % 4, 0);
        assert_eq!(usize::from(u16_at(header, 28)), header.len() - LOCAL_LEN - 1);
        assert_eq!(usize::from(u16_at(header, LOCAL_LEN + 3)), header.len() - LOCAL_LEN - 1 - 4);
    }
}

#[test]
fn alignment_fields() {
    assert_eq!(alignment(&[0x35, 0xD9, 2, 0, 8, 0]), 8);
    assert_eq!(alignment(&[0x1E, 0xA1, 2, 0, 0, 0x90]), 0x1000);
    assert_eq!(alignment(&[0x35, 0xD9, 1, 0, 8]), 1);
    assert_eq!(alignment(&[0x1E, 0xA1, 1, 0, 8]), 1);
    assert_eq!(alignment(&[9, 9, 2, 0, 4, 0, 0x1E, 0xA1, 2, 0, 16, 0]), 16);
    assert_eq!(alignment(&[0x35, 0xD9, 2, 0, 0, 0]), 1);
    assert_eq!(alignment(&[0, 0, 0]), 1);
}

#[test]
fn descriptors() {
    let sizes = Sizes { crc: 1, packed: 2, size: 3 };
    let small = [1u32, 2, 3].map(u32::to_le_bytes).concat();
    let wide = [&1u32.to_le_bytes()[..], &2u64.to_le_bytes(), &3u64.to_le_bytes()].concat();
    for body in [small, wide] {
        assert_eq!(descriptor_len(&body, &sizes), body.len());
        let signed = [&DESCRIPTOR_SIGNATURE[..], &body, b"gap"].concat();
        assert_eq!(descriptor_len(&signed, &sizes), body.len() + 4);
        assert_eq!(descriptor_len(&signed[..body.len()], &sizes), 0);
        for other in [Sizes { size: 4, ..sizes }, Sizes { crc: 4, ..sizes }, Sizes { packed: 4, ..sizes }] {
            assert_eq!(descriptor_len(&body, &other), 0);
        }
        assert_eq!(descriptor_len(&[b"gap!", &body[..], b"gap"].concat(), &sizes), 0);
    }
    let far = Sizes { crc: 1, packed: FAR, size: FAR };
    let body = [&1u32.to_le_bytes()[..], &FAR.to_le_bytes(), &FAR.to_le_bytes()].concat();
    assert_eq!(descriptor_len(&body, &far), 20);
}

#[test]
fn end_records_beyond_the_classic_limits() {
    let mut old = vec![0; END_LEN + 3];
    old[..4].copy_from_slice(&END_SIGNATURE);
    put16(&mut old, 20, 3);
    let write = |old64: Option<&[u8]>, old: &[u8], count, len, offset| {
        let mut out = Vec::new();
        end_records(old, old64, &DirectoryExtent { count, len, offset }, FAR, &mut out);
        out
    };
    let classic = write(None, &old, 65_534, 7, 0xFFFF_FFFE);
    assert_eq!(classic.len(), old.len());
    assert_eq!((u16_at(&classic, 8), u16_at(&classic, 10)), (65_534, 65_534));
    assert_eq!((u32_at(&classic, 12), u32_at(&classic, 16)), (7, 0xFFFF_FFFE));

    for (count, len, offset) in [(65_535, 1, 1), (1, 0xFFFF_FFFF, 1), (1, 1, FAR), (1, 1, 0xFFFF_FFFF)] {
        let wide = write(None, &old, count, len, offset);
        assert_eq!(wide.len(), END64_LEN + LOCATOR_LEN + old.len());
        assert_eq!((u64_at(&wide, 24), u64_at(&wide, 32)), (count, count));
        assert_eq!((u64_at(&wide, 40), u64_at(&wide, 48)), (len, offset));
        // Behind this field.
        assert_eq!(u64_at(&wide, 4), END64_LEN as u64 - 12);
        assert_eq!((u16_at(&wide, 12), u16_at(&wide, 14)), (45, 45));
        assert_eq!(u64_at(&wide, END64_LEN + 8), FAR, "the locator leads to the zip64 record");
        let end = &wide[END64_LEN + LOCATOR_LEN..];
        assert_eq!(u64::from(u32_at(end, 16)), offset.min(MAX32));
        assert_eq!(u64::from(u16_at(end, 10)), count.min(MAX16));

        // Written once more, with room for all: the form stays, and so does extensible data.
        let mut old64 = wide[..END64_LEN].to_vec();
        old64.extend_from_slice(b"sector");
        let small = write(Some(&old64), end, 5, 6, 7);
        assert_eq!(&small[END64_LEN..END64_LEN + 6], b"sector");
        assert_eq!((u64_at(&small, 32), u64_at(&small, 40), u64_at(&small, 48)), (5, 6, 7));
        let again = &small[END64_LEN + 6 + LOCATOR_LEN..];
        let expect = |was: u64, mark: u64, now: u64| if was >= mark { mark } else { now };
        assert_eq!(u64::from(u16_at(again, 10)), expect(count, MAX16, 5));
        assert_eq!(u64::from(u32_at(again, 12)), expect(len, MAX32, 6));
        assert_eq!(u64::from(u32_at(again, 16)), expect(offset, MAX32, 7));
    }
}

/// An alignment field: to this many bytes, with so much padding.
fn alignment_field(align: u8, padding: usize) -> Vec<u8> {
    [
        &EXTRA_ALIGN_ANDROID.to_le_bytes()[..],
        &(2 + padding as u16).to_le_bytes(),
        &[align, 0],
        &vec![0; padding],
    ]
    .concat()
}

#[test]
fn local_header_pads_the_first_alignment_field_on_request() {
    let two = [alignment_field(4, 3), alignment_field(16, 5)].concat();
    for at in 0..4 {
        let mut out = Vec::new();
        local_header(&local(&two), None, at, false, &mut out);
        assert_eq!(out, local(&two), "not asked for");
        out.clear();
        local_header(&local(&two), None, at, true, &mut out);
        // 30 bytes, the name, and two fields of 6 and 11.
        let padding = (4 - (at as usize + 31 + 6 + 11) % 4) % 4;
        assert_eq!(out, local(&[alignment_field(4, padding), alignment_field(16, 5)].concat()), "{at}");
    }
}

#[test]
fn local_header_keeps_its_padding_where_more_does_not_fit() {
    // The extra area holds 65,535 bytes at most: so many are there without padding.
    for (rest, at, padding) in
        [(65_532u16, 3, 2), (65_532, 1, 3), (65_531, 2, 4), (65_531, 1, 3), (65_531, 6, 0)]
    {
        let other = [&[9, 9][..], &(rest - 10).to_le_bytes(), &vec![7; usize::from(rest - 10)]].concat();
        let old = [alignment_field(8, 3), other.clone()].concat();
        let mut out = Vec::new();
        local_header(&local(&old), None, at, true, &mut out);
        assert!(out == local(&[alignment_field(8, padding), other].concat()), "{rest} {at}");
    }
}
