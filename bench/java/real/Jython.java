import org.python.core.PyCode;
import org.python.util.PythonInterpreter;

/** A Python program: dictionaries, strings, classes, sorting. */
public final class Jython implements Real.Program {
    private static final String SOURCE = String.join("\n",
        "class Point(object):",
        "    def __init__(self, x, y):",
        "        self.x = x",
        "        self.y = y",
        "    def norm(self):",
        "        return self.x * self.x + self.y * self.y",
        "def sieve(n):",
        "    marks = [True] * n",
        "    for i in range(2, n):",
        "        if marks[i]:",
        "            for j in range(i * i, n, i):",
        "                marks[j] = False",
        "    return sum([1 for i in range(2, n) if marks[i]])",
        "def words(n):",
        "    count = {}",
        "    for i in range(n):",
        "        word = 'w%d' % (i * 7 % 97)",
        "        count[word] = count.get(word, 0) + 1",
        "    return len(','.join(sorted(count.keys())))",
        "def main():",
        "    points = [Point(i % 13, i % 7) for i in range(3000)]",
        "    points.sort(key=lambda p: p.norm())",
        "    return sieve(5000) + words(5000) + points[-1].norm()",
        "result = main()");

    private final PythonInterpreter interpreter = new PythonInterpreter();
    private final PyCode code = interpreter.compile(SOURCE);

    @Override
    public long round() {
        interpreter.exec(code);
        return interpreter.get("result").asLong();
    }
}
