import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Enumeration;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * A second opinion on rewritten jars that shares no code with the rewriter: takes out what was injected and compares the
 * rest with the original.
 *
 * <p>{@code java JarOracle ORIGINAL REWRITTEN} prints {@code fault<TAB>entry<TAB>text} for each difference,
 * {@code unchanged<TAB>entry<TAB>name<TAB>descriptor} for each method with code that is the same bytes (the first 10,000), and
 * last {@code checked<TAB>classes<TAB>methods with code<TAB>changed methods}.
 *
 * <p>Jar: the same entries in the same order with the same times and methods; what is no class has the same bytes; new
 * entries lie under {@code META-INF/instrument/} and {@code instrument/runtime/} only. Class: the old constant pool is a
 * prefix of the new one; everything but the Code attributes is the same bytes; a class without any change in its code is the
 * same bytes. Code: {@link CodeOracle}.
 */
class JarOracle {
    private static int classes;
    private static int methods;
    private static int changed;

    public static void main(String[] arguments) throws Exception {
        try (ZipFile before = new ZipFile(arguments[0]);
                ZipFile after = new ZipFile(arguments[1])) {
            List<ZipEntry> old = entries(before);
            List<ZipEntry> now = entries(after);
            boolean signed = old.stream().anyMatch(entry -> isSignature(entry.getName()));
            now.removeIf(entry -> isOurs(entry.getName()) && before.getEntry(entry.getName()) == null);
            old.removeIf(entry -> isSignature(entry.getName()));
            for (int i = 0; i < Math.max(old.size(), now.size()); i++) {
                if (i >= old.size() || i >= now.size() || !old.get(i).getName().equals(now.get(i).getName())) {
                    fault(i < old.size() ? old.get(i).getName() : now.get(i).getName(), "entries differ from here on");
                    break;
                }
                entry(before, old.get(i), after, now.get(i), signed);
            }
        }
        System.out.println("checked\t" + classes + "\t" + methods + "\t" + changed);
    }

    private static void entry(ZipFile before, ZipEntry old, ZipFile after, ZipEntry now, boolean signed) throws Exception {
        String name = old.getName();
        if (old.getTime() != now.getTime() || old.getMethod() != now.getMethod()
                || !Arrays.equals(old.getExtra(), now.getExtra()) && !name.endsWith(".jar")) {
            fault(name, "time, method or extra field differs");
        }
        byte[] a = read(before, old);
        byte[] b = read(after, now);
        if (Arrays.equals(a, b)) {
            if (old.getCompressedSize() != now.getCompressedSize()) {
                fault(name, "the same bytes were compressed again");
            }
            if (name.endsWith(".class")) {
                unchanged(name, a);
            }
        } else if (name.endsWith("module-info.class")) {
            module(name, a, b);
        } else if (name.endsWith(".class")) {
            classes++;
            try {
                compare(name, a, b);
            } catch (RuntimeException error) {
                fault(name, "unreadable: " + error);
            }
        } else if (!(signed && name.equals("META-INF/MANIFEST.MF")) && !name.equals("META-INF/INDEX.LIST")) {
            fault(name, "bytes differ");
        }
    }

    private static void unchanged(String name, byte[] bytes) {
        if (bytes.length < 10 || bytes[0] != (byte) 0xCA || bytes[1] != (byte) 0xFE) {
            return;
        }
        classes++;
        RawClass same = new RawClass(bytes);
        for (RawClass.Member member : same.members) {
            if (member.code >= 0) {
                methods++;
                unchanged(name, same.utf8At(member.start + 2), same.utf8At(member.start + 4));
            }
        }
    }

    private static void unchanged(String entry, String name, String descriptor) {
        if (methods - changed <= 10_000) {
            System.out.println("unchanged\t" + entry + "\t" + name + "\t" + descriptor);
        }
    }

    /** A module declaration may only learn of our package, or of our module. */
    private static void module(String name, byte[] a, byte[] b) {
        ClassNode old = node(a);
        ClassNode now = node(b);
        List<String> packages = new ArrayList<>(now.module.packages == null ? List.of() : now.module.packages);
        if (old.module.packages == null || !old.module.packages.contains("instrument/runtime")) {
            packages.remove("instrument/runtime");
        }
        now.module.requires.removeIf(requires -> requires.module.equals("instrument.runtime"));
        boolean same = packages.equals(old.module.packages == null ? List.of() : old.module.packages)
                && now.module.requires.size() == old.module.requires.size()
                && now.module.name.equals(old.module.name)
                && count(now.module.exports) == count(old.module.exports)
                && count(now.module.opens) == count(old.module.opens)
                && count(now.module.uses) == count(old.module.uses)
                && count(now.module.provides) == count(old.module.provides);
        if (!same) {
            fault(name, "module declaration differs by more than our package");
        }
    }

    private static int count(List<?> list) {
        return list == null ? 0 : list.size();
    }

    private static void compare(String name, byte[] a, byte[] b) {
        RawClass old = new RawClass(a);
        RawClass now = new RawClass(b);
        if (a[4] != b[4] || a[5] != b[5] || a[6] != b[6] || a[7] != b[7]) {
            fault(name, "version differs");
        }
        if (old.poolEnd > b.length || !Arrays.equals(a, 10, old.poolEnd, b, 10, old.poolEnd)) {
            fault(name, "the constant pool does not begin with the old one");
        }
        if (!Arrays.equals(a, old.poolEnd, old.methods, b, now.poolEnd, now.methods)) {
            fault(name, "flags, names, interfaces or fields differ");
        }
        if (!Arrays.equals(a, old.methodsEnd, a.length, b, now.methodsEnd, b.length)) {
            fault(name, "class attributes differ");
        }
        if (old.members.size() != now.members.size()) {
            fault(name, "number of methods differs");
            return;
        }
        ClassNode oldNode = node(a);
        ClassNode newNode = node(b);
        int changes = 0;
        for (int i = 0; i < old.members.size(); i++) {
            MethodNode oldMethod = oldNode.methods.get(i);
            String where = oldMethod.name + oldMethod.desc;
            RawClass.Member x = old.members.get(i);
            RawClass.Member y = now.members.get(i);
            if (!Arrays.equals(a, x.start, x.start + 6, b, y.start, y.start + 6) || !x.others(a).equals(y.others(b))) {
                fault(name, where + ": flags, name, descriptor or attributes other than Code differ");
            }
            if (x.code < 0 || y.code < 0) {
                if (x.code != y.code) {
                    fault(name, where + ": code came or went");
                }
                continue;
            }
            methods++;
            if (!x.codeOthers(a, old).equals(y.codeOthers(b, now))) {
                fault(name, where + ": an attribute of Code that is not a known table differs");
            }
            if (!Arrays.equals(a, x.code, x.codeEnd, b, y.code, y.codeEnd)) {
                changed++;
                changes++;
                String fault = CodeOracle.compare(oldNode.name, oldMethod, newNode.methods.get(i), oldNode.version & 0xFFFF);
                if (fault != null) {
                    fault(name, where + ": " + fault);
                }
            } else {
                unchanged(name, oldMethod.name, oldMethod.desc);
            }
        }
        if (changes == 0) {
            fault(name, "no code changed, but the class did");
        }
    }

    private static ClassNode node(byte[] bytes) {
        ClassNode node = new ClassNode();
        new ClassReader(bytes).accept(node, ClassReader.EXPAND_FRAMES);
        return node;
    }

    private static List<ZipEntry> entries(ZipFile zip) {
        List<ZipEntry> entries = new ArrayList<>();
        for (Enumeration<? extends ZipEntry> e = zip.entries(); e.hasMoreElements();) {
            entries.add(e.nextElement());
        }
        return entries;
    }

    private static byte[] read(ZipFile zip, ZipEntry entry) throws Exception {
        try (InputStream in = zip.getInputStream(entry)) {
            return in.readAllBytes();
        }
    }

    private static boolean isOurs(String name) {
        return name.startsWith("META-INF/instrument/") || name.startsWith("instrument/");
    }

    private static boolean isSignature(String name) {
        return name.matches("META-INF/[^/]*\\.(SF|RSA|DSA|EC)");
    }

    private static void fault(String entry, String fault) {
        System.out.println("fault\t" + entry + "\t" + fault);
    }
}
