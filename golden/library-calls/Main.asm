class public super Main
  version 52
  extends java/util/ArrayList

  // The constructor of a library, and a call among its arguments: no handler may cover either.
  method <init> (Ljava/lang/String;)V
    stack 2
    locals 2
    aload_0
    aload_1
    invokestatic java/lang/Integer.parseInt (Ljava/lang/String;)I
    invokespecial java/util/ArrayList.<init> (I)V
    return
  end

  // One branch leads to the call, another one to the instruction behind it.
  method static branches (I)J
    stack 4
    locals 1
    iload_0
    ifeq OTHER
    bipush -7
    goto CALL
  OTHER:
    frame same
    bipush -9
  CALL:
    frame same1 int
    invokestatic java/lang/Math.abs (I)I
  BEHIND:
    frame same1 int
    dup
    bipush 100
    if_icmpgt OUT
    bipush 50
    iadd
    goto BEHIND
  OUT:
    frame same1 int
    i2l
    lconst_1
    invokestatic java/lang/Math.max (JJ)J
    lreturn
  end

  // The range is the call and nothing else.
  method static covered (Ljava/lang/String;)I
    stack 1
    locals 1
    aload_0
  FROM:
    invokestatic java/lang/Integer.parseInt (Ljava/lang/String;)I
  TO:
    ireturn
  HANDLER:
    frame same1 java/lang/NumberFormatException
    pop
    iconst_m1
    ireturn
    catch FROM TO HANDLER java/lang/NumberFormatException
  end

  // Two rows lead to a handler that normal flow runs into as well.
  method static falls (Ljava/lang/String;)I
    stack 1
    locals 1
    aload_0
  FROM:
    invokestatic java/lang/Integer.parseInt (Ljava/lang/String;)I
  TO:
    pop
    aconst_null
  HANDLER:
    frame same1 java/lang/Throwable
    ifnull NONE
    iconst_1
    ireturn
  NONE:
    frame same
    iconst_0
    ireturn
    catch FROM TO HANDLER java/lang/NumberFormatException
    catch FROM TO HANDLER java/lang/Error
  end

  // An object that is not initialised lies under the arguments.
  method static made (Ljava/lang/String;)V
    stack 3
    locals 1
  FROM:
    new Main
    dup
    aload_0
    invokespecial Main.<init> (Ljava/lang/String;)V
    pop
  TO:
    return
  HANDLER:
    frame same1 java/lang/IllegalArgumentException
    pop
    return
    catch FROM TO HANDLER java/lang/IllegalArgumentException
  end

  method static passes ()V
    stack 1
    locals 0
    invokestatic java/util/Collections.emptyList ()Ljava/util/List;
    invokeinterface java/util/List.iterator ()Ljava/util/Iterator;
    invokeinterface java/util/Iterator.next ()Ljava/lang/Object;
    pop
    return
  end

  method public static main ([Ljava/lang/String;)V
    stack 5
    locals 1
    getstatic java/lang/System.out Ljava/io/PrintStream;
    iconst_0
    invokestatic Main.branches (I)J
    iconst_1
    invokestatic Main.branches (I)J
    ladd
    invokevirtual java/io/PrintStream.println (J)V
    getstatic java/lang/System.out Ljava/io/PrintStream;
    ldc "5"
    invokestatic Main.covered (Ljava/lang/String;)I
    ldc "x"
    invokestatic Main.covered (Ljava/lang/String;)I
    iadd
    invokevirtual java/io/PrintStream.println (I)V
    getstatic java/lang/System.out Ljava/io/PrintStream;
    ldc "5"
    invokestatic Main.falls (Ljava/lang/String;)I
    ldc "x"
    invokestatic Main.falls (Ljava/lang/String;)I
    iadd
    invokevirtual java/io/PrintStream.println (I)V
    ldc "5"
    invokestatic Main.made (Ljava/lang/String;)V
    ldc "x"
    invokestatic Main.made (Ljava/lang/String;)V
    ldc "-5"
    invokestatic Main.made (Ljava/lang/String;)V
    iconst_1
    newarray int
    invokevirtual [I.clone ()Ljava/lang/Object;
    pop
  FROM:
    invokestatic Main.passes ()V
  TO:
    return
  HANDLER:
    frame same1 java/util/NoSuchElementException
    pop
    return
    catch FROM TO HANDLER java/util/NoSuchElementException
  end
