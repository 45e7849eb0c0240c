class public super Main
  version 52

  method static work (II)J
    stack 4
    locals 3
    iload_0
    ifle OUT
    ldc2_w 40L
    iload_0
    iload_1
    idiv
    i2l
    lsub
    lstore_1
  LOOP:
    frame full int long |
    iinc 0 -1
    iload_0
    ifle DONE
    lload_1
    lconst_1
    ladd
    lstore_1
    goto LOOP
  DONE:
    frame same
    lload_1
    lreturn
  OUT:
    frame full int int |
    lconst_0
    lreturn
  end

  method public static main ([Ljava/lang/String;)V
    stack 8
    locals 1
  A0:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 3
    iconst_1
    invokestatic Main.work (II)J
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
    iconst_0
    iconst_0
    invokestatic Main.work (II)J
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
    iconst_4
    iconst_0
    invokestatic Main.work (II)J
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
  A3:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 8
    iconst_2
    invokestatic Main.work (II)J
    invokevirtual java/io/PrintStream.println (J)V
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
