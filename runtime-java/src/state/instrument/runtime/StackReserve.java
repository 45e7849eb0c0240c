package instrument.runtime;

/**
 * Makes an entry probe need more stack than any other probe. Where an entry got through, the exit, unwind or handler probe
 * of the same frame then cannot overflow the stack, whichever of the two is interpreted or compiled; an entry that does
 * not get through has recorded nothing, and to the program its call overflowed.
 *
 * <p>An entry probe calls {@link #frame} first. Interpreted, it has a frame of more than 4 KiB. Compiled, it has none, but
 * HotSpot touches the stack as far below a method as its interpreted frames would reach, operand stack included, once that
 * is more than a page; {@link #pad} and {@link #rest}, which are called before the first event only, make the operand stack that large without a byte of stack or code
 * on the usual path. So it does not matter which of the two is compiled when, nor whether one is part of the other.
 */
final class StackReserve {
    private StackReserve() {}

    /** A frame of 600 local variables and as large an operand stack. */
    static void frame() {
        long l0, l1, l2, l3, l4, l5, l6, l7, l8, l9, l10, l11, l12, l13, l14, l15, l16, l17, l18, l19;
        long l20, l21, l22, l23, l24, l25, l26, l27, l28, l29, l30, l31, l32, l33, l34, l35, l36, l37, l38, l39;
        long l40, l41, l42, l43, l44, l45, l46, l47, l48, l49, l50, l51, l52, l53, l54, l55, l56, l57, l58, l59;
        long l60, l61, l62, l63, l64, l65, l66, l67, l68, l69, l70, l71, l72, l73, l74, l75, l76, l77, l78, l79;
        long l80, l81, l82, l83, l84, l85, l86, l87, l88, l89, l90, l91, l92, l93, l94, l95, l96, l97, l98, l99;
        long l100, l101, l102, l103, l104, l105, l106, l107, l108, l109, l110, l111, l112, l113, l114, l115, l116, l117, l118, l119;
        long l120, l121, l122, l123, l124, l125, l126, l127, l128, l129, l130, l131, l132, l133, l134, l135, l136, l137, l138, l139;
        long l140, l141, l142, l143, l144, l145, l146, l147, l148, l149, l150, l151, l152, l153, l154, l155, l156, l157, l158, l159;
        long l160, l161, l162, l163, l164, l165, l166, l167, l168, l169, l170, l171, l172, l173, l174, l175, l176, l177, l178, l179;
        long l180, l181, l182, l183, l184, l185, l186, l187, l188, l189, l190, l191, l192, l193, l194, l195, l196, l197, l198, l199;
        long l200, l201, l202, l203, l204, l205, l206, l207, l208, l209, l210, l211, l212, l213, l214, l215, l216, l217, l218, l219;
        long l220, l221, l222, l223, l224, l225, l226, l227, l228, l229, l230, l231, l232, l233, l234, l235, l236, l237, l238, l239;
        long l240, l241, l242, l243, l244, l245, l246, l247, l248, l249, l250, l251, l252, l253, l254, l255, l256, l257, l258, l259;
        long l260, l261, l262, l263, l264, l265, l266, l267, l268, l269, l270, l271, l272, l273, l274, l275, l276, l277, l278, l279;
        long l280, l281, l282, l283, l284, l285, l286, l287, l288, l289, l290, l291, l292, l293, l294, l295, l296, l297, l298, l299;
        // What is asked for is asked for next anyway. Less than 325 bytes of code: HotSpot makes no larger method a part of
        // its caller.
        if (CurrentThread.first == null) {
            rest(0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, pad(
                0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L,
                0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L,
                0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L,
                0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L,
                0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L,
                0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L,
                0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, pad(
                0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L,
                0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L,
                0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L,
                0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L,
                0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L,
                0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L,
                0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L,
                0L)));
        }
    }

    static long rest(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j) {
        return 0;
    }

    static long pad(
        long p0, long p1, long p2, long p3, long p4, long p5, long p6, long p7, long p8,
        long p9, long p10, long p11, long p12, long p13, long p14, long p15, long p16, long p17,
        long p18, long p19, long p20, long p21, long p22, long p23, long p24, long p25, long p26,
        long p27, long p28, long p29, long p30, long p31, long p32, long p33, long p34, long p35,
        long p36, long p37, long p38, long p39, long p40, long p41, long p42, long p43, long p44,
        long p45, long p46, long p47, long p48, long p49, long p50, long p51, long p52, long p53,
        long p54, long p55, long p56, long p57, long p58, long p59, long p60, long p61, long p62,
        long p63, long p64, long p65, long p66, long p67, long p68, long p69, long p70, long p71,
        long p72, long p73, long p74, long p75, long p76, long p77, long p78, long p79, long p80,
        long p81, long p82, long p83, long p84, long p85, long p86, long p87, long p88, long p89,
        long p90, long p91, long p92, long p93, long p94, long p95, long p96, long p97, long p98,
        long p99, long p100, long p101, long p102, long p103, long p104, long p105, long p106, long p107,
        long p108, long p109, long p110, long p111, long p112, long p113, long p114, long p115, long p116,
        long p117, long p118, long p119, long p120, long p121, long p122, long p123, long p124, long p125,
        long p126) {
        return 0;
    }
}
