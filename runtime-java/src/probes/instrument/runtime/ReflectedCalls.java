package instrument.runtime;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandleInfo;
import java.lang.invoke.MethodType;
import java.lang.ref.WeakReference;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;

/**
 * What is about to be called by reflection beneath a root. The agent hears of it before the call is made, once for each object that names a target,
 * and rewrites what is not rewritten yet.
 */
public final class ReflectedCalls {
    private static final int KNOWN = 256;
    /** What the agent heard of last, by identity. A race makes it hear of one twice. */
    private static volatile WeakReference<?>[] known = new WeakReference<?>[KNOWN];
    private static volatile boolean isOn;

    private ReflectedCalls() {}

    /** A method, constructor, class or method handle, or null, is about to be called. */
    public static void calling(Object target) {
        if (!isOn || target == null) {
            return;
        }
        ThreadState state = null;
        try {
            WeakReference<?>[] known = ReflectedCalls.known;
            int at = System.identityHashCode(target) & KNOWN - 1;
            WeakReference<?> last = known[at];
            if (last != null && last.get() == target) {
                return;
            }
            state = CurrentThread.fresh();
            if (state != null && state.mode == state.live) {
                state.mode = ThreadState.BUSY;
                try {
                    follow(target);
                    known[at] = new WeakReference<Object>(target);
                } finally {
                    if (state.mode == ThreadState.BUSY) {
                        state.mode = state.live;
                    }
                }
            }
        } catch (StackOverflowError e) {
            // The call will overflow as well, or is rewritten when it was made.
        } catch (Throwable e) {
            CurrentThread.failed(state, e);
        }
    }

    private static void follow(Object target) {
        if (target instanceof Method) {
            Method method = (Method) target;
            MethodType type = MethodType.methodType(method.getReturnType(), method.getParameterTypes());
            follow(method.getDeclaringClass(), method.getName(), type);
        } else if (target instanceof Constructor) {
            Constructor<?> constructor = (Constructor<?>) target;
            MethodType type = MethodType.methodType(void.class, constructor.getParameterTypes());
            follow(constructor.getDeclaringClass(), "<init>", type);
        } else if (target instanceof Class) {
            follow((Class<?>) target, "<init>", MethodType.methodType(void.class));
        } else if (target instanceof MethodHandle) {
            MethodHandleInfo info = (MethodHandleInfo) reveal(target);
            if (info != null) {
                follow(info.getDeclaringClass(), info.getName(), info.getMethodType());
            }
        }
    }

    private static void follow(Class<?> of, String name, MethodType type) {
        String method = of.getName().replace('.', '/') + "\n" + name + "\n" + type.toMethodDescriptorString();
        follow(method.getBytes(StandardCharsets.UTF_8));
    }

    /** The agent wants to know, from now on. */
    static void begin(byte[] nothing) {
        known = new WeakReference<?>[KNOWN];
        isOn = true;
    }

    /** Class, name and descriptor of a method, each on a line. Returns when it is rewritten, or cannot be waited for. */
    private static native void follow(byte[] method);

    /** What a direct method handle calls, a MethodHandleInfo; null: it is made of others. */
    private static native Object reveal(Object handle);
}
