class public super Main
  version 52

  method static x1 (I)Ljava/lang/Object;
    stack 4
    locals 1
    iload_0
    new java/lang/StringBuilder
    dup_x1
    swap
    invokespecial java/lang/StringBuilder.<init> (I)V
    iload_0
    invokevirtual java/lang/StringBuilder.append (I)Ljava/lang/StringBuilder;
    areturn
  end

  method static x2 (J)Ljava/lang/Object;
    stack 6
    locals 2
    lload_0
    new java/util/Date
    dup_x2
    dup_x2
    pop
    invokespecial java/util/Date.<init> (J)V
    invokevirtual java/util/Date.getTime ()J
    invokestatic java/lang/Long.valueOf (J)Ljava/lang/Long;
    areturn
  end

  method static local ()Ljava/lang/Object;
    stack 2
    locals 1
    new java/util/ArrayList
    astore_0
    aload_0
    invokespecial java/util/ArrayList.<init> ()V
    aload_0
    areturn
  end

  method static dropped ()V
    stack 1
    locals 0
    new java/lang/Object
    invokespecial java/lang/Object.<init> ()V
    return
  end

  method static twice ()I
    stack 5
    locals 0
    new java/util/LinkedList
    new java/util/LinkedList
    dup
    invokespecial java/util/LinkedList.<init> ()V
    swap
    dup_x1
    swap
    invokespecial java/util/LinkedList.<init> (Ljava/util/Collection;)V
    invokevirtual java/util/LinkedList.size ()I
    ireturn
  end

  method public static main ([Ljava/lang/String;)V
    stack 8
    locals 1
  A0:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 7
    invokestatic Main.x1 (I)Ljava/lang/Object;
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
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
    ldc2_w 5000000000L
    invokestatic Main.x2 (J)Ljava/lang/Object;
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
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
    invokestatic Main.local ()Ljava/lang/Object;
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
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
    invokestatic Main.dropped ()V
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
    invokestatic Main.twice ()I
    invokevirtual java/io/PrintStream.println (I)V
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
    return
  end
