package instrument.runtime;

import java.util.Arrays;
import java.util.Iterator;
import java.util.function.Function;
import java.util.stream.Stream;

/** By the stack walker, whose frames have descriptors since Java 10. {@code build.sh} compiles this class by itself, since the rest is compiled against Java 8. */
final class LaterStacks extends Stacks {
    // Java 22 and later tell no descriptor otherwise.
    private static final StackWalker WALKER = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);

    LaterStacks() {}

    @Override
    String[] constructors(int most) {
        return WALKER.walk(new First(most, false));
    }

    @Override
    String caller() {
        String[] names = WALKER.walk(new First(1, true));
        return names.length == 0 ? null : names[0];
    }

    // Not a lambda: nothing is to be linked in a probe.
    private static final class First implements Function<Stream<StackWalker.StackFrame>, String[]> {
        private final int most;
        /** Nothing but the recorder may be above. */
        private final boolean isCaller;

        First(int most, boolean isCaller) {
            this.most = most;
            this.isCaller = isCaller;
        }

        @Override
        public String[] apply(Stream<StackWalker.StackFrame> frames) {
            String[] names = new String[4];
            int count = 0;
            for (Iterator<StackWalker.StackFrame> rest = frames.iterator(); count < most && rest.hasNext();) {
                StackWalker.StackFrame frame = rest.next();
                if ("<init>".equals(frame.getMethodName())) {
                    if (count == names.length) {
                        names = Arrays.copyOf(names, 2 * count);
                    }
                    names[count++] = frame.getClassName().concat(frame.getDescriptor());
                } else if (isCaller && !isOwn(frame.getClassName())) {
                    break;
                }
            }
            return Arrays.copyOf(names, count);
        }
    }
}
