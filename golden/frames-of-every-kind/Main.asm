class public super Main
  version 52

  method static kinds (I)I
    stack 4
    locals 7
    iload_0
    ifle A
    iconst_1
    istore_1
    ldc2_w 2L
    lstore_2
    fconst_1
    fstore 4
    iload_0
    ifle OTHER
    iconst_3
    ireturn
  OTHER:
    frame append int long float
    nop
    iload_0
    ifle CHOP1
  CHOP1:
    frame chop 1
    iload_0
    ifle CHOP2
  CHOP2:
    frame chop 2
    iload_0
    iload_0
    aconst_null
    astore_1
    dconst_0
    dstore_2
    ifne STACK
    pop
    iconst_0
  STACK:
    frame full int java/lang/Object double | int
    ireturn
  A:
    frame chop 2
    iload_0
    dup
    ifne SAME1
  SAME1:
    frame same1 int
    ireturn
  end

  method static gaps (I)I
    stack 2
    locals 1
    iload_0
    iconst_1
    if_icmpne A
    repeat 50
    nop
    end-repeat
    iconst_1
    ireturn
  A:
    frame same
    iload_0
    iconst_2
    if_icmpne B
    repeat 54
    nop
    end-repeat
    nop
    iconst_2
    ireturn
  B:
    frame same
    iload_0
    iconst_3
    if_icmpne C
    repeat 55
    nop
    end-repeat
    nop
    iconst_2
    ireturn
  C:
    frame same
    iload_0
    dup
    ifne D
    repeat 58
    nop
    end-repeat
  D:
    frame same1 int
    repeat 63
    nop
    end-repeat
    ifne E
    iconst_5
    ireturn
  E:
    frame same
    iload_0
    ireturn
  end

  method public static main ([Ljava/lang/String;)V
    stack 8
    locals 1
  A0:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 1
    invokestatic Main.kinds (I)I
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
    invokestatic Main.kinds (I)I
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
    bipush -1
    invokestatic Main.kinds (I)I
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
    bipush 1
    invokestatic Main.gaps (I)I
    invokevirtual java/io/PrintStream.println (I)V
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
    bipush 2
    invokestatic Main.gaps (I)I
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
  A5:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 0
    invokestatic Main.gaps (I)I
    invokevirtual java/io/PrintStream.println (I)V
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
