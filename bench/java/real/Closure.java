import com.google.javascript.jscomp.CompilationLevel;
import com.google.javascript.jscomp.Compiler;
import com.google.javascript.jscomp.CompilerOptions;
import com.google.javascript.jscomp.SourceFile;
import java.util.Collections;

/** Compiles a program in JavaScript with simple optimizations, in one thread. */
public final class Closure implements Real.Program {
    private final String source;

    public Closure() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 150; i++) {
            text.append("function f").append(i).append("(a, b) {\n  var unused = a + ").append(i).append(";\n")
                .append("  if (a > ").append(i).append(") { return b ? f").append(i / 2).append("(a - 1, b) : {x: a, y: [b, 1 + 2 * ").append(i).append("]}; }\n")
                .append("  for (var i = 0, s = ''; i < a; i++) { s += 'abc' + i; switch (i) { case 1: continue; default: s = s.trim(); } }\n")
                .append("  return (function (c) { try { return c + s.length; } catch (e) { return e.message; } })(b);\n}\nwindow['f").append(i).append("'] = f").append(i).append(";\n");
        }
        source = text.toString();
    }

    @Override
    public long round() {
        Compiler compiler = new Compiler(new java.io.PrintStream(new java.io.ByteArrayOutputStream()));
        compiler.disableThreads();
        CompilerOptions options = new CompilerOptions();
        CompilationLevel.SIMPLE_OPTIMIZATIONS.setOptionsForCompilationLevel(options);
        compiler.compile(Collections.<SourceFile>emptyList(), Collections.singletonList(SourceFile.fromCode("in.js", source)), options);
        return compiler.toSource().length();
    }
}
