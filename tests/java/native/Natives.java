package p_q;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.TreeSet;
import java.util.function.IntBinaryOperator;

/** Calls native methods in every way there is, and prints what a program can see of them. */
public final class Natives {
    public static void main(String[] arguments) throws Throwable {
        System.loadLibrary("registered");
        exported();
        registered();
        inherited();
        indirect();
        failing();
        seen();
        concurrent();
        long start = System.nanoTime();
        for (int i = 0; i < 5; i++) {
            Exported.spin(40);
        }
        System.err.println("spun " + (System.nanoTime() - start));
        System.out.println("end");
    }

    private static void exported() throws Exception {
        long sum = 0;
        for (int i = 0; i < 1000; i++) {
            sum += Exported.add(i, 1) + Exported.add(1L << 40, i);
        }
        Exported exported = new Exported();
        System.out.println(sum + " " + exported.greet("you") + " " + exported.callSecret() + exported.callSecret());
        for (int i = 0; i < 3; i++) {
            exported.locked(() -> System.out.println("locked " + Thread.holdsLock(exported)));
        }
        Exported.lockedClass(() -> System.out.println("locked " + Thread.holdsLock(Exported.class)));
        System.out.println(Exported.under_score() + " " + Exported.größe() + " " + Exported.back(() -> 77));
        System.out.println(exported.mixed(1, 0.5, "text", 0.25f, 7));
    }

    private static void registered() {
        for (int i = 0; i < 5; i++) {
            System.out.print(Registered.twice(i) + " ");
        }
        System.out.println(Registered.twice("a") + Registered.twice("b") + new Registered().locked());
        for (int i = 0; i < 4; i++) {
            System.out.print(SelfRegistered.three(i) + " ");
        }
        System.out.println(new SelfRegistered().callOwn(1L << 33));
    }

    private static void inherited() {
        Base base = new Base();
        Base sub = new Sub();
        System.out.println(base.value() + base.value() + base.value() + " " + (sub.value() + sub.value()));
        System.out.println(((Sub) sub).both());
        Shape shape = new Square();
        Square square = new Square();
        System.out.println(shape.area() + shape.area() + shape.area() + shape.area() + square.area());
        Source source = new Counter();
        int sum = 0;
        for (int i = 0; i < 6; i++) {
            sum += source.next();
        }
        System.out.println(sum);
    }

    private static void indirect() throws Throwable {
        Method method = Exported.class.getDeclaredMethod("add", int.class, int.class);
        int sum = 0;
        for (int i = 0; i < 7; i++) {
            sum += (Integer) method.invoke(null, i, i);
        }
        MethodHandle handle = MethodHandles.lookup().findStatic(Exported.class, "add",
            MethodType.methodType(int.class, int.class, int.class));
        sum += (int) handle.invokeExact(1, 2) + (int) handle.invokeExact(3, 4);
        IntBinaryOperator operator = Exported::add;
        for (int i = 0; i < 8; i++) {
            sum += operator.applyAsInt(i, i);
        }
        System.out.println(sum + " " + Exported.again());
    }

    private static void failing() {
        for (int i = 0; i < 3; i++) {
            try {
                new Exported().fail("boom " + i);
            } catch (IllegalStateException e) {
                print(e);
            }
        }
        try {
            new Registered().fail("registered");
        } catch (IllegalStateException e) {
            print(e);
        }
        try {
            Exported.missing();
        } catch (UnsatisfiedLinkError e) {
            System.out.println(e.getClass().getName());
        }
    }

    private static void print(Throwable thrown) {
        System.out.println(thrown);
        for (StackTraceElement frame : thrown.getStackTrace()) {
            System.out.println("  " + frame.getClassName() + "." + frame.getMethodName()
                + (frame.isNativeMethod() ? " native" : ""));
        }
    }

    /** What reflection shows, but for what is synthetic and the modifier {@code native}. */
    private static void seen() {
        for (Class<?> type : new Class<?>[] {Exported.class, Sub.class, Registered.class, SelfRegistered.class}) {
            TreeSet<String> methods = new TreeSet<>();
            for (Method method : type.getDeclaredMethods()) {
                if (!method.isSynthetic()) {
                    methods.add(method.toGenericString().replace("native ", "")
                        + " " + method.getAnnotations().length);
                }
            }
            methods.forEach(System.out::println);
        }
    }

    private static void concurrent() throws InterruptedException {
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                for (int j = 0; j < 500; j++) {
                    Exported.add(j, j);
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
