open class Parent(val n: Int)

class Child(text: String) : Parent(try { Integer.parseInt(text) } catch (e: NumberFormatException) { -1 })

class Pair2(val a: Any, val b: Any)

inline fun attempt(block: () -> Int): Int =
    try {
        block()
    } catch (e: ArithmeticException) {
        -7
    }

object Main {
    @JvmStatic
    fun pair(n: Int): Pair2 =
        Pair2(StringBuilder(attempt { 10 / n }.toString()), Pair2(n, attempt { if (n > 1) throw ArithmeticException() else n }))

    @JvmStatic
    fun early(n: Int): Int {
        attempt {
            if (n > 1) return n
            5 / n
        }
        return 0
    }

    @JvmStatic
    fun main(args: Array<String>) {
        for (n in 0..2) {
            val pair = pair(n)
            println(pair.a.toString() + (pair.b as? Pair2)?.b + early(n))
        }
        println(Child("12").n)
        println(Child("word").n)
    }
}
