class public super Main
  version 49
  extends Base

  method <init> (I)V
    stack 2
    locals 2
  START:
    aload_0
    iload_1
    invokespecial Base.<init> (I)V
  END:
    return
  HANDLER:
    athrow
    catch START END HANDLER any
  end

  method static run (I)V
    stack 3
    locals 1
    new Main
    dup
    iload_0
    invokespecial Main.<init> (I)V
    pop
    return
  end

  method public static main ([Ljava/lang/String;)V
    stack 8
    locals 1
  A0:
    bipush 1
    invokestatic Main.run (I)V
  E0:
    goto N0
  H0:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N0:
    nop
    catch A0 E0 H0 java/lang/Throwable
  A1:
    bipush 0
    invokestatic Main.run (I)V
  E1:
    goto N1
  H1:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N1:
    nop
    catch A1 E1 H1 java/lang/Throwable
    return
  end

class super Base
  version 49

  method <init> (I)V
    stack 2
    locals 2
    aload_0
    invokespecial java/lang/Object.<init> ()V
    bipush 12
    iload_1
    idiv
    pop
    return
  end
