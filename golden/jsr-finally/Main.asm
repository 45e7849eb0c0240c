class public super Main
  version 49
  field static count I

  method static work (I)I
    stack 3
    locals 4
    iload_0
    ifeq ZERO
  START:
    bipush 100
    iload_0
    bipush 7
    isub
    idiv
    istore_1
    jsr FINALLY
    iload_1
    ireturn
  ZERO:
    jsr FINALLY
    iconst_m1
    ireturn
  HANDLER:
    astore_2
    jsr FINALLY
    aload_2
    athrow
  FINALLY:
    astore_3
    getstatic Main.count I
    iconst_1
    iadd
    putstatic Main.count I
    ret 3
    catch START HANDLER HANDLER any
  end

  method static count ()I
    stack 1
    locals 0
    getstatic Main.count I
    ireturn
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
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N0:
    nop
    catch A0 E0 H0 java/lang/Throwable
  A1:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 7
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
    bipush 5
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
    bipush 2
    invokestatic Main.work (I)I
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
    invokestatic Main.count ()I
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
