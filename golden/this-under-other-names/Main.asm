class public super Main
  version 52

  method <init> (I)V
    stack 3
    locals 3
    aload_0
    astore_2
    aconst_null
    astore_0
    bipush 10
    iload_1
    idiv
    pop
    aload_2
    aload_0
    aload_2
    invokespecial java/lang/Object.<init> ()V
    pop2
    iconst_1
    iload_1
    iconst_2
    isub
    idiv
    pop
    return
  end

  method <init> (Ljava/lang/String;)V
    stack 3
    locals 3
    aload_1
    aload_0
    dup_x1
    pop
    pop
    aload_0
    astore_2
    aconst_null
    astore_0
    aload_2
    invokespecial java/lang/Object.<init> ()V
    return
  end

  method <init> (Ljava/lang/String;I)V
    stack 2
    locals 3
    new java/lang/Error
    dup
    invokespecial java/lang/Error.<init> ()V
    athrow
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

  method static text ()V
    stack 3
    locals 0
    new Main
    dup
    aconst_null
    invokespecial Main.<init> (Ljava/lang/String;)V
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
    frame same1 java/lang/Throwable
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N0:
    frame same
    nop
    catch A0 E0 H0 java/lang/Throwable
  A1:
    bipush 0
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
    bipush 2
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
  A3:
    invokestatic Main.text ()V
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
    return
  end
