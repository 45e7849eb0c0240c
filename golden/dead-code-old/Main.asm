class public super Main
  version 49

  method static work (I)I
    stack 2
    locals 1
    iload_0
    ifle OUT
    iconst_1
    ireturn
    pop
    pop2
    invokespecial java/lang/Object.<init> ()V
    ireturn
  OUT:
    iconst_2
    ireturn
    lreturn
    new java/lang/Object
    invokespecial java/lang/Object.<init> ()V
    goto OUT
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
    bipush 0
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
    return
  end
