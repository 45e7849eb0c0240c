class public super Main
  version 52

  method static ints (II)I
    stack 2
    locals 3
    iconst_0
    istore_2
    iload_0
    iload_1
    if_icmpeq Leq
    iinc 2 1
  Leq:
    frame append int
    iload_0
    iload_1
    if_icmpne Lne
    iinc 2 2
  Lne:
    frame same
    iload_0
    iload_1
    if_icmplt Llt
    iinc 2 4
  Llt:
    frame same
    iload_0
    iload_1
    if_icmpge Lge
    iinc 2 8
  Lge:
    frame same
    iload_0
    iload_1
    if_icmpgt Lgt
    iinc 2 16
  Lgt:
    frame same
    iload_0
    iload_1
    if_icmple Lle
    iinc 2 32
  Lle:
    frame same
    goto_w END
    frame same
    goto_w END
  END:
    frame same
    iload_2
    ireturn
  end

  method static zeros (I)I
    stack 2
    locals 2
    iconst_0
    istore_1
    iload_0
    ifeq Leq
    iinc 1 1
  Leq:
    frame append int
    iload_0
    ifne Lne
    iinc 1 2
  Lne:
    frame same
    iload_0
    iflt Llt
    iinc 1 4
  Llt:
    frame same
    iload_0
    ifge Lge
    iinc 1 8
  Lge:
    frame same
    iload_0
    ifgt Lgt
    iinc 1 16
  Lgt:
    frame same
    iload_0
    ifle Lle
    iinc 1 32
  Lle:
    frame same
    goto NEXT
  NEXT:
    frame same
    iload_1
    ireturn
  end

  method static objects (Ljava/lang/Object;Ljava/lang/Object;)I
    stack 2
    locals 3
    iconst_0
    istore_2
    aload_0
    aload_1
    if_acmpeq A
    iinc 2 1
  A:
    frame append int
    aload_0
    aload_1
    if_acmpne B
    iinc 2 2
  B:
    frame same
    aload_0
    ifnull C
    iinc 2 4
  C:
    frame same
    aload_0
    ifnonnull D
    iinc 2 8
  D:
    frame same
    iload_2
    ireturn
  end

  method public static main ([Ljava/lang/String;)V
    stack 8
    locals 1
  A0:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    iconst_1
    iconst_2
    invokestatic Main.ints (II)I
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
    iconst_2
    iconst_2
    invokestatic Main.ints (II)I
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
    iconst_3
    iconst_2
    invokestatic Main.ints (II)I
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
    bipush -1
    invokestatic Main.zeros (I)I
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
    bipush 0
    invokestatic Main.zeros (I)I
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
    bipush 1
    invokestatic Main.zeros (I)I
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
  A6:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    aconst_null
    aconst_null
    invokestatic Main.objects (Ljava/lang/Object;Ljava/lang/Object;)I
    invokevirtual java/io/PrintStream.println (I)V
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
  A7:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    ldc "a"
    ldc "b"
    invokestatic Main.objects (Ljava/lang/Object;Ljava/lang/Object;)I
    invokevirtual java/io/PrintStream.println (I)V
  E7:
    goto N7
  H7:
    frame same1 java/lang/Throwable
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N7:
    frame same
    nop
    catch A7 E7 H7 java/lang/Throwable
  A8:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    ldc "a"
    ldc "a"
    invokestatic Main.objects (Ljava/lang/Object;Ljava/lang/Object;)I
    invokevirtual java/io/PrintStream.println (I)V
  E8:
    goto N8
  H8:
    frame same1 java/lang/Throwable
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N8:
    frame same
    nop
    catch A8 E8 H8 java/lang/Throwable
    return
  end
