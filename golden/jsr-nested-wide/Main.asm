class public super Main
  version 45.3

  method static work (I)I
    stack 2
    locals 302
    jsr_w OUTER
    iload_0
    ireturn
  OUTER:
    wide astore 300
    wide iinc 0 1000
    jsr INNER
    jsr INNER
    wide ret 300
  INNER:
    wide astore 301
    iinc 0 1
    iload_0
    sipush 1010
    if_icmplt BACK
    iinc 0 100
  BACK:
    wide ret 301
  end

  method static leave (I)I
    stack 2
    locals 2
    jsr SUB
    nop
    iconst_m1
    ireturn
  SUB:
    astore_1
    iload_0
    ifeq DONE
    iinc 0 -1
    goto SUB2
  DONE:
    ret 1
  SUB2:
    iload_0
    ireturn
  end

  method public static main ([Ljava/lang/String;)V
    stack 8
    locals 1
  A0:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 1
    invokestatic Main.work (I)I
    invokevirtual java/io/PrintStream.println (I)V
  E0:
    goto N0
  H0:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N0:
    nop
    catch A0 E0 H0 java/lang/Throwable
  A1:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 8
    invokestatic Main.work (I)I
    invokevirtual java/io/PrintStream.println (I)V
  E1:
    goto N1
  H1:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N1:
    nop
    catch A1 E1 H1 java/lang/Throwable
  A2:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 20
    invokestatic Main.work (I)I
    invokevirtual java/io/PrintStream.println (I)V
  E2:
    goto N2
  H2:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N2:
    nop
    catch A2 E2 H2 java/lang/Throwable
  A3:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 0
    invokestatic Main.leave (I)I
    invokevirtual java/io/PrintStream.println (I)V
  E3:
    goto N3
  H3:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N3:
    nop
    catch A3 E3 H3 java/lang/Throwable
  A4:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 5
    invokestatic Main.leave (I)I
    invokevirtual java/io/PrintStream.println (I)V
  E4:
    goto N4
  H4:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N4:
    nop
    catch A4 E4 H4 java/lang/Throwable
    return
  end
