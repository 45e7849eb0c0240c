class public super Main
  version 52

  method static parse (I)I
    stack 2
    locals 1
    bipush 10
    iload_0
    idiv
    ireturn
  end

  method <init> (I)V
    stack 2
    locals 3
  START:
    iload_1
    invokestatic Main.parse (I)I
    istore_2
  END:
    goto JOIN
  HANDLER:
    frame full this int | java/lang/ArithmeticException
    pop
    iconst_m1
    istore_2
  JOIN:
    frame full this int int |
    iload_2
    iconst_1
    if_icmpne GOOD
    aconst_null
    athrow
  GOOD:
    frame same
    aload_0
    invokespecial java/lang/Object.<init> ()V
  START2:
    iload_2
    iload_1
    idiv
    pop
  END2:
    return
  HANDLER2:
    frame full Main int int | java/lang/ArithmeticException
    pop
    return
    catch START END HANDLER java/lang/ArithmeticException
    catch START2 END2 HANDLER2 java/lang/ArithmeticException
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
    bipush 0
    invokestatic Main.run (I)V
  E0:
    goto N0
  H0:
    frame same1 java/lang/Throwable
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N0:
    frame same
    nop
    catch A0 E0 H0 java/lang/Throwable
  A1:
    bipush 5
    invokestatic Main.run (I)V
  E1:
    goto N1
  H1:
    frame same1 java/lang/Throwable
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N1:
    frame same
    nop
    catch A1 E1 H1 java/lang/Throwable
  A2:
    bipush 10
    invokestatic Main.run (I)V
  E2:
    goto N2
  H2:
    frame same1 java/lang/Throwable
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N2:
    frame same
    nop
    catch A2 E2 H2 java/lang/Throwable
    return
  end
