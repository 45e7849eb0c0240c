import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;

/**
 * A java agent that does with ASM what `AsmRewriter` does, to classes as they load: entry and exit of every method with code, in a
 * try/finally. What is called is {@code hook/ProfilerRuntime}, in the agent's own jar.
 */
public final class AsmAgent implements ClassFileTransformer {
    private AsmAgent() {}

    public static void premain(String arguments, Instrumentation instrumentation) {
        instrumentation.addTransformer(new AsmAgent());
    }

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> old, ProtectionDomain domain, byte[] bytes) {
        boolean jdk = loader == null || loader == ClassLoader.getPlatformClassLoader();
        // Accessors that the JDK makes have loaders of their own, and cannot see the hooks.
        if (jdk || name == null || name.startsWith("jdk/") || name.startsWith("AsmRewriter") || name.startsWith("org/objectweb/asm/")
            || name.startsWith("instrument/")) {
            return null;
        }
        try {
            return AsmRewriter.rewrite(bytes, true);
        } catch (Throwable e) {
            // A transformer that throws is not heard of.
            System.err.println("AsmAgent: " + name + ": " + e);
            return null;
        }
    }
}
