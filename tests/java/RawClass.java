import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Where the parts of a class file lie (JVMS 4.1), for comparing bytes; nothing is resolved but attribute names. */
class RawClass {
    private static final List<String> TABLES = List.of("LineNumberTable", "LocalVariableTable", "LocalVariableTypeTable",
            "StackMapTable", "RuntimeVisibleTypeAnnotations", "RuntimeInvisibleTypeAnnotations");

    final byte[] bytes;
    final int poolEnd;
    final int methods;
    final int methodsEnd;
    final List<Member> members = new ArrayList<>();
    private final int[] constants;

    /** A method: its start, and the contents of its Code attribute, or -1. */
    final class Member {
        int start;
        int code = -1;
        int codeEnd = -1;
        private final List<int[]> rest = new ArrayList<>();

        /** The attributes other than Code, as text that can be compared. */
        String others(byte[] from) {
            return text(from, rest);
        }

        /** The attributes of Code other than the tables of JVMS 4.7, as text that can be compared. */
        String codeOthers(byte[] from, RawClass in) {
            int at = code + 4 + 4 + in.u4(code + 4);
            at += 2 + 8 * in.u2(at);
            List<int[]> unknown = new ArrayList<>();
            for (int left = in.u2(at), p = at + 2; left > 0; left--) {
                int end = p + 6 + in.u4(p + 2);
                if (!TABLES.contains(in.utf8(in.u2(p)))) {
                    unknown.add(new int[] {p, end});
                }
                p = end;
            }
            return text(from, unknown);
        }

        private String text(byte[] from, List<int[]> spans) {
            StringBuilder text = new StringBuilder();
            for (int[] span : spans) {
                text.append(Arrays.toString(Arrays.copyOfRange(from, span[0], span[1])));
            }
            return text.toString();
        }
    }

    RawClass(byte[] bytes) {
        this.bytes = bytes;
        constants = new int[u2(8)];
        int at = 10;
        for (int i = 1; i < constants.length; i++) {
            constants[i] = at;
            switch (bytes[at]) {
                case 1: at += 3 + u2(at + 1); break;
                case 5: case 6: at += 9; i++; break;
                case 7: case 8: case 16: case 19: case 20: at += 3; break;
                case 15: at += 4; break;
                default: at += 5;
            }
        }
        poolEnd = at;
        at += 6;
        at += 2 + 2 * u2(at);
        int fields = u2(at);
        at += 2;
        for (; fields > 0; fields--) {
            at = attributes(at + 6, null);
        }
        methods = at;
        int count = u2(at);
        at += 2;
        for (; count > 0; count--) {
            Member member = new Member();
            member.start = at;
            at = attributes(at + 6, member);
            members.add(member);
        }
        methodsEnd = at;
    }

    private int attributes(int at, Member member) {
        int count = u2(at);
        at += 2;
        for (; count > 0; count--) {
            int end = at + 6 + u4(at + 2);
            if (member != null) {
                if (utf8(u2(at)).equals("Code")) {
                    member.code = at + 6;
                    member.codeEnd = end;
                } else {
                    member.rest.add(new int[] {at, end});
                }
            }
            at = end;
        }
        return at;
    }

    /** The constant that the index at {@code at} refers to. */
    String utf8At(int at) {
        return utf8(u2(at));
    }

    private int u2(int at) {
        return (bytes[at] & 0xFF) << 8 | bytes[at + 1] & 0xFF;
    }

    private int u4(int at) {
        return u2(at) << 16 | u2(at + 2);
    }

    private String utf8(int index) {
        int at = constants[index];
        return new String(bytes, at + 3, u2(at + 1), java.nio.charset.StandardCharsets.ISO_8859_1);
    }
}
