package scala.runtime;

public abstract class Nothing$ extends Throwable {}
