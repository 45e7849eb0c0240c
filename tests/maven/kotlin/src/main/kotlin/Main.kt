package kot

fun twice(n: Int) = listOf(n, n).sumOf { it }

fun main() {
    println("twice " + twice(21))
}
