class public super Main
  version 52

  method static int (I)I
    stack 4
    locals 1
    bipush 7
    ldc2_w 5L
    iload_0
    ifle OTHER
    iload_0
    ireturn
  OTHER:
    frame full int | int long
    iload_0
    ifeq THIRD
    iconst_m1
    ireturn
  THIRD:
    frame full int | int long
    pop2
    ireturn
  end

  method static long (J)J
    stack 8
    locals 2
    aconst_null
    dconst_1
    lload_0
    lload_0
    ladd
    lreturn
  end

  method static object (I)Ljava/lang/Object;
    stack 4
    locals 1
  NEW:
    new java/lang/Object
    ldc "under"
    iload_0
    ifne OTHER
    ldc "value"
    areturn
  OTHER:
    frame full int | new:NEW java/lang/String
    areturn
  end

  method static nothing ()V
    stack 3
    locals 0
    iconst_1
    ldc2_w 2L
    return
  end

  method public static main ([Ljava/lang/String;)V
    stack 8
    locals 1
  A0:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 5
    invokestatic Main.int (I)I
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
    bipush -1
    invokestatic Main.int (I)I
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
  A2:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 0
    invokestatic Main.int (I)I
    invokevirtual java/io/PrintStream.println (I)V
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
    ldc2_w 21L
    invokestatic Main.long (J)J
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
  A4:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 0
    invokestatic Main.object (I)Ljava/lang/Object;
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
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
    bipush 1
    invokestatic Main.object (I)Ljava/lang/Object;
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
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
  A6:
    invokestatic Main.nothing ()V
  E6:
    goto N6
  H6:
    frame same1 java/lang/Throwable
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N6:
    frame same
    nop
    catch A6 E6 H6 java/lang/Throwable
    return
  end
