import java.io.BufferedOutputStream;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Enumeration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * The opponent: ASM, doing the same job by its usual means. Every method with code gets entry and exit calls in a
 * try/finally; maximum stack sizes are computed by ASM and the one new frame is written by hand, which is its fastest way.
 *
 * <pre>
 * AsmRewriter events|pass IN.jar OUT.jar          jar to jar, deflate level 6
 * AsmRewriter loop events|pass IN.jar LOOPS       class bytes in memory; prints loop times
 * </pre>
 */
public class AsmRewriter {
    private static final String RUNTIME = "instrument/runtime/ProfilerRuntime";
    private static final AtomicInteger IDS = new AtomicInteger();

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("loop")) {
            loop(arguments[1].equals("events"), arguments[2], Integer.parseInt(arguments[3]));
        } else {
            jar(arguments[0].equals("events"), arguments[1], arguments[2]);
        }
    }

    static byte[] rewrite(byte[] bytes, boolean events) {
        ClassReader reader = new ClassReader(bytes);
        // Handing the reader to the writer copies the constant pool and every method that no visitor touches.
        ClassWriter writer = new ClassWriter(reader, events ? ClassWriter.COMPUTE_MAXS : 0);
        reader.accept(events ? new Events(writer) : new ClassVisitor(Opcodes.ASM9, writer) {
            @Override
            public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] thrown) {
                // A visitor in between keeps ASM from copying the method's bytes unseen.
                MethodVisitor next = super.visitMethod(access, name, descriptor, signature, thrown);
                return new MethodVisitor(Opcodes.ASM9, next) {};
            }
        }, 0);
        return writer.toByteArray();
    }

    private static void jar(boolean events, String in, String out) throws Exception {
        Set<String> seen = new HashSet<>();
        try (ZipFile zip = new ZipFile(in);
                ZipOutputStream target = new ZipOutputStream(new BufferedOutputStream(new FileOutputStream(out), 1 << 16))) {
            for (Enumeration<? extends ZipEntry> entries = zip.entries(); entries.hasMoreElements();) {
                ZipEntry entry = entries.nextElement();
                if (!seen.add(entry.getName())) {
                    continue; // ZipOutputStream refuses duplicates
                }
                byte[] bytes;
                try (InputStream stream = zip.getInputStream(entry)) {
                    bytes = stream.readAllBytes();
                }
                if (isClass(entry.getName())) {
                    bytes = rewrite(bytes, events);
                }
                ZipEntry copy = new ZipEntry(entry.getName());
                copy.setTime(entry.getTime());
                if (entry.getMethod() == ZipEntry.STORED) {
                    CRC32 crc = new CRC32();
                    crc.update(bytes);
                    copy.setMethod(ZipEntry.STORED);
                    copy.setSize(bytes.length);
                    copy.setCrc(crc.getValue());
                }
                target.putNextEntry(copy);
                target.write(bytes);
                target.closeEntry();
            }
        }
    }

    private static void loop(boolean events, String in, int loops) throws Exception {
        List<byte[]> classes = new ArrayList<>();
        long size = 0;
        try (ZipFile zip = new ZipFile(in)) {
            for (Enumeration<? extends ZipEntry> entries = zip.entries(); entries.hasMoreElements();) {
                ZipEntry entry = entries.nextElement();
                if (isClass(entry.getName())) {
                    try (InputStream stream = zip.getInputStream(entry)) {
                        classes.add(stream.readAllBytes());
                    }
                    size += classes.get(classes.size() - 1).length;
                }
            }
        }
        double[] seconds = new double[loops];
        long produced = 0;
        for (int i = 0; i < loops; i++) {
            IDS.set(0);
            long start = System.nanoTime();
            for (byte[] bytes : classes) {
                produced += rewrite(bytes, events).length;
            }
            seconds[i] = (System.nanoTime() - start) / 1e9;
        }
        double cold = seconds[0];
        double[] steady = Arrays.copyOfRange(seconds, loops / 2, loops);
        Arrays.sort(steady);
        System.out.printf("{\"classes\": %d, \"bytes\": %d, \"produced\": %d, \"cold\": %.6f, \"median\": %.6f, \"best\": %.6f}%n",
                classes.size(), size, produced / loops, cold, steady[steady.length / 2], steady[0]);
    }

    private static boolean isClass(String name) {
        return name.endsWith(".class") && !name.endsWith("module-info.class");
    }

    private static final class Events extends ClassVisitor {
        private boolean frames;

        Events(ClassVisitor next) {
            super(Opcodes.ASM9, next);
        }

        @Override
        public void visit(int version, int access, String name, String signature, String superName, String[] interfaces) {
            frames = (version & 0xFFFF) >= Opcodes.V1_6;
            super.visit(version, access, name, signature, superName, interfaces);
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] thrown) {
            MethodVisitor next = super.visitMethod(access, name, descriptor, signature, thrown);
            boolean code = (access & (Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE)) == 0;
            return code ? new Probes(next, name.equals("<init>"), frames, IDS.getAndIncrement()) : next;
        }
    }

    private static final class Probes extends MethodVisitor {
        private final boolean frames;
        private final int id;
        private final List<Label> ranges = new ArrayList<>();
        /** Waiting for super() or this(); constructors are entered after it, as AdviceAdapter does. */
        private boolean before;
        /** `new` instructions whose constructor has not been called yet. */
        private int pending;
        private Label start;
        private boolean empty;

        Probes(MethodVisitor next, boolean constructor, boolean frames, int id) {
            super(Opcodes.ASM9, next);
            this.before = constructor;
            this.frames = frames;
            this.id = id;
        }

        private void call(String name) {
            if (id <= 5) {
                mv.visitInsn(Opcodes.ICONST_0 + id);
            } else if (id <= Byte.MAX_VALUE) {
                mv.visitIntInsn(Opcodes.BIPUSH, id);
            } else if (id <= Short.MAX_VALUE) {
                mv.visitIntInsn(Opcodes.SIPUSH, id);
            } else {
                mv.visitLdcInsn(id);
            }
            mv.visitMethodInsn(Opcodes.INVOKESTATIC, RUNTIME, name, "(I)V", false);
        }

        private void open() {
            start = new Label();
            mv.visitLabel(start);
            empty = true;
        }

        private void close() {
            if (start != null && !empty) {
                Label end = new Label();
                mv.visitLabel(end);
                ranges.add(start);
                ranges.add(end);
            }
            start = null;
        }

        @Override
        public void visitCode() {
            super.visitCode();
            if (!before) {
                call("methodEntry");
                open();
            }
        }

        @Override
        public void visitInsn(int opcode) {
            if (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN && !before) {
                close();
                call("methodExit");
                mv.visitInsn(opcode);
                open();
            } else {
                empty = false;
                mv.visitInsn(opcode);
            }
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
            empty = false;
            mv.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
            if (before && opcode == Opcodes.INVOKESPECIAL && name.equals("<init>") && pending-- == 0) {
                before = false;
                call("methodEntry");
                open();
            }
        }

        @Override
        public void visitTypeInsn(int opcode, String type) {
            empty = false;
            if (before && opcode == Opcodes.NEW) {
                pending++;
            }
            mv.visitTypeInsn(opcode, type);
        }

        @Override
        public void visitMaxs(int stack, int locals) {
            close();
            if (!ranges.isEmpty()) {
                Label handler = new Label();
                mv.visitLabel(handler);
                for (int i = 0; i < ranges.size(); i += 2) {
                    mv.visitTryCatchBlock(ranges.get(i), ranges.get(i + 1), handler, null);
                }
                if (frames) {
                    mv.visitFrame(Opcodes.F_FULL, 0, null, 1, new Object[] {"java/lang/Throwable"});
                }
                call("methodUnwind");
                mv.visitInsn(Opcodes.ATHROW);
            }
            super.visitMaxs(stack, locals);
        }

        @Override
        public void visitIntInsn(int opcode, int operand) {
            empty = false;
            mv.visitIntInsn(opcode, operand);
        }

        @Override
        public void visitVarInsn(int opcode, int local) {
            empty = false;
            mv.visitVarInsn(opcode, local);
        }

        @Override
        public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
            empty = false;
            mv.visitFieldInsn(opcode, owner, name, descriptor);
        }

        @Override
        public void visitInvokeDynamicInsn(String name, String descriptor, org.objectweb.asm.Handle bootstrap, Object... rest) {
            empty = false;
            mv.visitInvokeDynamicInsn(name, descriptor, bootstrap, rest);
        }

        @Override
        public void visitJumpInsn(int opcode, Label label) {
            empty = false;
            mv.visitJumpInsn(opcode, label);
        }

        @Override
        public void visitLdcInsn(Object value) {
            empty = false;
            mv.visitLdcInsn(value);
        }

        @Override
        public void visitIincInsn(int local, int increment) {
            empty = false;
            mv.visitIincInsn(local, increment);
        }

        @Override
        public void visitTableSwitchInsn(int min, int max, Label other, Label... labels) {
            empty = false;
            mv.visitTableSwitchInsn(min, max, other, labels);
        }

        @Override
        public void visitLookupSwitchInsn(Label other, int[] keys, Label[] labels) {
            empty = false;
            mv.visitLookupSwitchInsn(other, keys, labels);
        }

        @Override
        public void visitMultiANewArrayInsn(String descriptor, int dimensions) {
            empty = false;
            mv.visitMultiANewArrayInsn(descriptor, dimensions);
        }
    }
}
