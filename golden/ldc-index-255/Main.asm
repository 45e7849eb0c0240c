class public super Main
  pool 252

  method static work ()I
    stack 4
    locals 0
    ldc 1000001
    ldc 1000002
    iadd
    ldc_w 1000003
    iadd
    ldc_w 1000004
    iadd
    ireturn
  end

  method public static main ([Ljava/lang/String;)V
    stack 8
    locals 1
  A0:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    invokestatic Main.work ()I
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
    return
  end
