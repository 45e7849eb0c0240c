class public super Main
  version 52

  method static enter ()V
    stack 0
    locals 0
    return
  end

  method static leave ()V
    stack 0
    locals 0
    return
  end

  method static fail ()V
    stack 0
    locals 0
    return
  end

  method static work (IJ)J
    stack 4
    locals 5
    invokestatic Main.enter ()V
  START:
    iload_0
    ifle ELSE
    lload_1
    iload_0
    i2l
    lmul
    lstore_3
    goto JOIN
  ELSE:
    frame same
    lload_1
    iload_0
    i2l
    ldiv
    lstore_3
  JOIN:
    frame append long
    lload_3
    invokestatic Main.leave ()V
  END:
    lreturn
  HANDLER:
    frame full | java/lang/Throwable
    invokestatic Main.fail ()V
    athrow
    catch START END HANDLER any
  end

  method public static main ([Ljava/lang/String;)V
    stack 8
    locals 1
  A0:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 3
    ldc2_w 5L
    invokestatic Main.work (IJ)J
    invokevirtual java/io/PrintStream.println (J)V
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
    bipush -2
    ldc2_w 9L
    invokestatic Main.work (IJ)J
    invokevirtual java/io/PrintStream.println (J)V
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
    bipush 0
    ldc2_w 9L
    invokestatic Main.work (IJ)J
    invokevirtual java/io/PrintStream.println (J)V
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
