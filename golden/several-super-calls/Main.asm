class public super Main
  version 52
  extends Base

  method public <init> (I)V
    stack 4
    locals 2
    aload_0
    iload_1
    tableswitch 0 A B B C C B default D
  A:
    frame full this int | this
    invokespecial Base.<init> ()V
    goto END
  B:
    frame full this int | this
    iload_1
    invokespecial Base.<init> (I)V
    goto END
  C:
    frame full this int | this
    iload_1
    iconst_3
    isub
    iconst_2
    swap
    invokespecial Main.<init> (II)V
    goto END
  D:
    frame full this int | this
    pop
    new java/lang/IllegalArgumentException
    dup
    invokespecial java/lang/IllegalArgumentException.<init> ()V
    athrow
  END:
    frame full Main int |
    iload_1
    ifne OUT
    new java/lang/IllegalStateException
    dup
    invokespecial java/lang/IllegalStateException.<init> ()V
    athrow
  OUT:
    frame same
    return
  end

  method public <init> (II)V
    stack 4
    locals 3
    aload_0
    iload_2
    invokespecial Base.<init> (I)V
    return
  end

  method static run (I)Z
    stack 3
    locals 1
    new Main
    dup
    iload_0
    invokespecial Main.<init> (I)V
    pop
    iconst_1
    ireturn
  end

  method public static main ([Ljava/lang/String;)V
    stack 8
    locals 1
  A0:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 0
    invokestatic Main.run (I)Z
    invokevirtual java/io/PrintStream.println (Z)V
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
    bipush 1
    invokestatic Main.run (I)Z
    invokevirtual java/io/PrintStream.println (Z)V
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
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 2
    invokestatic Main.run (I)Z
    invokevirtual java/io/PrintStream.println (Z)V
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
  A3:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 3
    invokestatic Main.run (I)Z
    invokevirtual java/io/PrintStream.println (Z)V
  E3:
    goto N3
  H3:
    frame same1 java/lang/Throwable
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N3:
    frame same
    nop
    catch A3 E3 H3 java/lang/Throwable
  A4:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 4
    invokestatic Main.run (I)Z
    invokevirtual java/io/PrintStream.println (Z)V
  E4:
    goto N4
  H4:
    frame same1 java/lang/Throwable
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N4:
    frame same
    nop
    catch A4 E4 H4 java/lang/Throwable
  A5:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 6
    invokestatic Main.run (I)Z
    invokevirtual java/io/PrintStream.println (Z)V
  E5:
    goto N5
  H5:
    frame same1 java/lang/Throwable
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N5:
    frame same
    nop
    catch A5 E5 H5 java/lang/Throwable
    return
  end

class super Base
  version 52

  method <init> ()V
    stack 1
    locals 1
    aload_0
    invokespecial java/lang/Object.<init> ()V
    return
  end

  method <init> (I)V
    stack 3
    locals 2
    aload_0
    invokespecial java/lang/Object.<init> ()V
    bipush 12
    iload_1
    iconst_1
    isub
    idiv
    pop
    return
  end
