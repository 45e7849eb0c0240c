class public super Main
  version 52

  method static work (I)I
    stack 2
    locals 1
    iload_0
    ifeq FAR
    iload_0
    iconst_1
    if_icmpeq FAR
    iload_0
    iconst_2
    if_icmpne NEAR
    bipush 20
    ireturn
  NEAR:
    frame same
    iload_0
    iconst_3
    if_icmpne NOPS
    bipush 30
    ireturn
  NOPS:
    frame same
    repeat 32715
    nop
    end-repeat
    iload_0
    bipush 9
    if_icmpeq LEAVE
    iload_0
    bipush 8
    if_icmpeq TURN
    bipush 40
    ireturn
  TURN:
    frame same
    iinc 0 1
    goto NEAR
  FAR:
    frame same
    iload_0
    iconst_5
    iadd
    ireturn
  LEAVE:
    frame same
    bipush 50
    ireturn
  end

  method static chain (I)I
    stack 2
    locals 1
    goto A
  X:
    frame same
    iload_0
    ireturn
  A:
    frame same
    iload_0
    iconst_1
    if_icmpeq C
    iload_0
    iconst_2
    if_icmpeq C
    iload_0
    ifne B
    iconst_m1
    ireturn
  B:
    frame same
    repeat 32720
    nop
    end-repeat
    iload_0
    bipush 7
    if_icmpeq X
    iload_0
    bipush 6
    if_icmpeq A2
    bipush 60
    ireturn
  C:
    frame same
    iload_0
    bipush 10
    imul
    ireturn
  A2:
    frame same
    iinc 0 1
    goto A
  end

  method public static main ([Ljava/lang/String;)V
    stack 8
    locals 1
  A0:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 0
    invokestatic Main.work (I)I
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
    bipush 1
    invokestatic Main.work (I)I
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
    bipush 2
    invokestatic Main.work (I)I
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
    bipush 3
    invokestatic Main.work (I)I
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
    bipush 8
    invokestatic Main.work (I)I
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
    bipush 77
    invokestatic Main.work (I)I
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
    bipush 0
    invokestatic Main.chain (I)I
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
    bipush 1
    invokestatic Main.chain (I)I
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
    bipush 7
    invokestatic Main.chain (I)I
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
  A9:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 5
    invokestatic Main.chain (I)I
    invokevirtual java/io/PrintStream.println (I)V
  E9:
    goto N9
  H9:
    frame same1 java/lang/Throwable
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N9:
    frame same
    nop
    catch A9 E9 H9 java/lang/Throwable
  A10:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 6
    invokestatic Main.chain (I)I
    invokevirtual java/io/PrintStream.println (I)V
  E10:
    goto N10
  H10:
    frame same1 java/lang/Throwable
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N10:
    frame same
    nop
    catch A10 E10 H10 java/lang/Throwable
    return
  end
