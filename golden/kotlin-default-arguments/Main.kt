open class Shape(val size: Int = 3, val name: String = if (size > 5) "big" else "small") {
    fun scaled(by: Int = 2, label: String = name): String = label + size / by
}

class Square(size: Int = 7, val extra: Long = size.toLong()) : Shape(size)

object Main {
    @JvmStatic
    fun main(args: Array<String>) {
        println(Shape().scaled())
        println(Shape(9).scaled(3))
        println(Square().extra + Square(4, 5L).extra)
        try {
            Square().scaled(0)
        } catch (e: ArithmeticException) {
            println("by zero")
        }
    }
}
