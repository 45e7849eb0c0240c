import kotlin.coroutines.Continuation
import kotlin.coroutines.intrinsics.COROUTINE_SUSPENDED
import kotlin.coroutines.intrinsics.suspendCoroutineUninterceptedOrReturn

class Flow {
    @JvmField
    var waiting: Continuation<Int>? = null

    private suspend fun next(): Int = suspendCoroutineUninterceptedOrReturn { it: Continuation<Int> ->
        waiting = it
        COROUTINE_SUSPENDED
    }

    suspend fun sum(n: Int): Long {
        var total = 0L
        for (i in 0 until n) {
            val factor = total + i
            try {
                total = factor * next() + combine(next(), "x$i")
            } catch (e: IllegalStateException) {
                total -= next()
            }
        }
        return total
    }

    private suspend fun combine(a: Int, text: String): Int {
        if (a > 3) throw IllegalStateException(text)
        return a + next() + text.length
    }
}
