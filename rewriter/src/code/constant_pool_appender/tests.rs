use super::*;
use crate::code::testing::Assembly;

/// The appender behind the pool of these instructions.
fn with<T>(text: &str, test: impl FnOnce(&ConstantPool<'_>, &mut ConstantPoolAppender, u16) -> T) -> T {
    let class = Assembly::of(text).class();
    let pool = Assembly::pool(&class);
    let mut appender = ConstantPoolAppender::default();
    appender.reset(&pool, Reach::default());
    test(&pool, &mut appender, pool.count())
}

#[test]
fn entries_that_are_there_are_used_and_others_appended_once() {
    // 1 A, 2 its Class, 3 B, 4 its Class.
    with("new A; new B", |pool, appender, next| {
        assert_eq!(next, 5);
        assert_eq!([&b"B"[..], b"A"].map(|name| appender.class_named(pool, name)), [Ok(4), Ok(2)]);
        assert_eq!(appender.text_named(pool, b"B"), Ok(3));
        assert!(appender.bytes().is_empty());
        assert_eq!(appender.class_named(pool, b"CD"), Ok(6));
        assert_eq!(appender.bytes(), [1, 0, 2, b'C', b'D', 7, 0, 5]);
        assert_eq!(appender.string(&[b"ab", b"", b"c"]), Ok(8));
        assert_eq!(appender.bytes()[8..], [1, 0, 3, b'a', b'b', b'c', 8, 0, 7]);
        assert_eq!(appender.count(), 9);
    });
}

#[test]
fn the_throwable_of_handlers_is_the_pools_own_if_it_has_one() {
    let throwable = "java/lang/Throwable";
    let of = |text: &str| {
        with(text, |pool, appender, _| {
            let index = appender.throwable(pool).unwrap();
            assert_eq!(appender.throwable(pool), Ok(index));
            (index, appender.bytes().to_vec())
        })
    };
    // Behind 1 A, 2 its Class.
    assert_eq!(of(&format!("new A; new {throwable}")), (4, vec![]));
    // A text alone, and nothing.
    assert_eq!(of(&format!("invokestatic A.{throwable}:()V")), (7, vec![7, 0, 1]));
    let (index, bytes) = of("new A");
    assert_eq!((index, &bytes[3..22], &bytes[22..]), (4, throwable.as_bytes(), &[7, 0, 3][..]));
}

#[test]
fn equal_constants_of_a_user_are_one_and_are_forgotten_with_their_method() {
    with("new A", |_, appender, next| {
        assert_eq!(appender.own_string(b"x"), Ok(next + 1));
        let bits = 0x0123_4567_89ab_cdef;
        assert_eq!(appender.own_wide(Tag::Long, bits), Ok(next + 2));
        let mark = appender.mark();
        // As far as the bits are the same, in each half of each byte, or have another type.
        let mut expected = next + 4;
        for shift in (0..64).step_by(4) {
            for nibble in [1, 8] {
                assert_eq!(appender.own_wide(Tag::Long, bits ^ nibble << shift), Ok(expected), "{shift}");
                expected += 2;
            }
        }
        assert_eq!(appender.own_wide(Tag::Double, bits), Ok(expected));
        assert_eq!(appender.own_string(b"y"), Ok(expected + 3));
        for _ in 0..2 {
            assert_eq!(appender.own_string(b"x"), Ok(next + 1));
            assert_eq!(appender.own_wide(Tag::Long, bits), Ok(next + 2));
            appender.roll_back(mark);
            assert_eq!(appender.count(), next + 4);
        }
        assert_eq!(appender.own_string(b"y"), Ok(next + 5));
        assert_eq!(appender.own_wide(Tag::Long, bits ^ 1), Ok(next + 6));
    });
}

#[test]
fn a_pool_has_65535_indices_at_most() {
    with("new A", |_, appender, _| {
        while appender.count() < 65_533 {
            appender.entry(Tag::Integer, &[0; 4]).unwrap();
        }
        let mark = appender.mark();
        assert_eq!(appender.own_wide(Tag::Long, 9), Ok(65_533));
        assert_eq!(appender.count(), 65_535);
        appender.roll_back(mark);
        appender.entry(Tag::Integer, &[0; 4]).unwrap();
        assert_eq!(appender.own_wide(Tag::Long, 9), Err(Reason::ConstantPoolFull));
        assert_eq!(appender.entry(Tag::Integer, &[0; 4]), Ok(65_534));
        assert_eq!(appender.entry(Tag::Integer, &[0; 4]), Err(Reason::ConstantPoolFull));
    });
}
