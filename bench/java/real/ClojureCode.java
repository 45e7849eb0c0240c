import clojure.java.api.Clojure;
import clojure.lang.IFn;

/** Lazy sequences and persistent maps. */
public final class ClojureCode implements Real.Program {
    private final IFn work;

    public ClojureCode() {
        IFn eval = Clojure.var("clojure.core", "eval");
        IFn read = Clojure.var("clojure.core", "read-string");
        work = (IFn) eval.invoke(read.invoke(String.join("\n",
            "(fn []",
            "  (let [words (map #(str \"w\" (mod (* 31 %) 101)) (range 20000))",
            "        counts (reduce (fn [m w] (update m w (fnil inc 0))) {} words)",
            "        sorted (sort-by (fn [[k v]] [v k]) counts)",
            "        primes (loop [i 2 found []]",
            "                 (if (< i 1500)",
            "                   (recur (inc i) (if (some #(zero? (mod i %)) (take-while #(<= (* % %) i) found)) found (conj found i)))",
            "                   found))]",
            "    (+ (count sorted) (reduce + primes) (reduce + (map (comp count str) (partition 3 (range 3000)))))))")));
    }

    @Override
    public long round() {
        return ((Number) work.invoke()).longValue();
    }
}
