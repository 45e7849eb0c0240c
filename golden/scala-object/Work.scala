class Cell(val n: Int, val name: String)

object Work {
  def parse(text: String): Int =
    try Integer.parseInt(text)
    catch { case e: NumberFormatException if text.length > 3 => -1 }
    finally { new Cell(text.length, "dropped"); () }

  def nested(text: String): Cell =
    new Cell(try Integer.parseInt(text) catch { case _: NumberFormatException => new Cell(9, "inner").n }, if (text.isEmpty) "empty" else text)

  def matched(o: AnyRef): Int = o match {
    case s: String if s.length > 3 => 1
    case s: String => 2
    case c: Cell => c.n
  }

  lazy val late: Int = parse("5")

  def locked(n: Int): Int = synchronized { while (n > 5) { if (n > 6) return 1; throw new IllegalStateException }; n }

  def fail(): Nothing = throw new UnsupportedOperationException

  def dead(n: Int): Int = { if (n > 0) { fail() }; n }

  def main(args: Array[String]): Unit = {
    var i = 0
    while (i < 3) {
      val text = if (i == 0) "12" else if (i == 1) "word" else ""
      try System.out.println(parse(text)) catch { case e: NumberFormatException => System.out.println("no number") }
      val cell = nested(text)
      System.out.println(cell.n + matched(cell) + matched(text))
      i += 1
    }
    System.out.println(late + late)
    try System.out.println(locked(2) + locked(7) + locked(6)) catch { case e: IllegalStateException => System.out.println("state") }
    try System.out.println(dead(1)) catch { case e: UnsupportedOperationException => System.out.println("fail") }
    try System.out.println(matched(new Object)) catch { case e: Throwable => System.out.println(e.getClass) }
  }
}
