class public super Main
  version 52

  method <init> ()V
    stack 2
    locals 1
    goto START
    frame full | java/lang/Throwable
    nop
    athrow
  START:
    frame full this |
    aload_0
    invokespecial java/lang/Object.<init> ()V
    return
    frame full Main |
    return
    frame full | java/lang/Throwable
    athrow
  end

  method static work (I)I
    stack 3
    locals 1
    new Main
    dup
    invokespecial Main.<init> ()V
    pop
  START:
    bipush 10
    iload_0
    idiv
    ireturn
  END:
    frame full | java/lang/Throwable
    nop
    nop
    athrow
    frame full int |
  DEAD:
    new Main
    dup
    invokespecial Main.<init> ()V
    pop
    iconst_1
    ireturn
  DEAD_HANDLER:
    frame full int | java/lang/Throwable
    pop
    goto DEAD
    catch DEAD DEAD_HANDLER DEAD_HANDLER any
  end

  method public static main ([Ljava/lang/String;)V
    stack 8
    locals 1
  A0:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 5
    invokestatic Main.work (I)I
    invokevirtual java/io/PrintStream.println (I)V
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
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 0
    invokestatic Main.work (I)I
    invokevirtual java/io/PrintStream.println (I)V
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
    return
  end
