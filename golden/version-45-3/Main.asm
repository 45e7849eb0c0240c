class public super Main
  version 45.3
  field value I

  method <init> (I)V
    stack 3
    locals 2
    aload_0
    invokespecial java/lang/Object.<init> ()V
    iload_1
    ifle SKIP
    aload_0
    iload_1
    putfield Main.value I
  SKIP:
    return
  end

  method static work (I)I
    stack 3
    locals 2
  START:
    bipush 12
    iload_0
    idiv
    istore_1
  END:
    iload_1
    bipush 12
    if_icmpne OUT
    iconst_0
    ireturn
  OUT:
    iload_1
    ireturn
  HANDLER:
    pop
    new Main
    dup
    iconst_5
    invokespecial Main.<init> (I)V
    getfield Main.value I
    bipush -5
    iadd
    istore_1
    aconst_null
    athrow
    catch START END HANDLER java/lang/ArithmeticException
  end

  method public static main ([Ljava/lang/String;)V
    stack 8
    locals 1
  A0:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 1
    invokestatic Main.work (I)I
    invokevirtual java/io/PrintStream.println (I)V
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
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 3
    invokestatic Main.work (I)I
    invokevirtual java/io/PrintStream.println (I)V
  E1:
    goto N1
  H1:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N1:
    nop
    catch A1 E1 H1 java/lang/Throwable
  A2:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 0
    invokestatic Main.work (I)I
    invokevirtual java/io/PrintStream.println (I)V
  E2:
    goto N2
  H2:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N2:
    nop
    catch A2 E2 H2 java/lang/Throwable
    return
  end
