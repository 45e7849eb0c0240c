class public super Main
  version 52

  method <init> ()V
    stack 2
    locals 1
    new java/lang/IllegalStateException
    dup
    invokespecial java/lang/IllegalStateException.<init> ()V
    athrow
  end

  method static run ()V
    stack 2
    locals 0
    new Main
    dup
    invokespecial Main.<init> ()V
    pop
    return
  end

  method public static main ([Ljava/lang/String;)V
    stack 8
    locals 1
  A0:
    invokestatic Main.run ()V
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
    invokestatic Main.run ()V
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
    invokestatic Main.run ()V
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
