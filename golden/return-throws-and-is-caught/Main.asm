class public super Main
  version 52

  method static work (Ljava/lang/Object;)I
    stack 1
    locals 1
  START:
    aload_0
    monitorenter
    iconst_1
    ireturn
  END:
  HANDLER:
    frame same1 java/lang/IllegalMonitorStateException
    pop
    aload_0
    monitorexit
    iconst_m1
    ireturn
    catch START END HANDLER java/lang/IllegalMonitorStateException
  end

  method public static main ([Ljava/lang/String;)V
    stack 8
    locals 1
  A0:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    ldc class Main
    invokestatic Main.work (Ljava/lang/Object;)I
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
    ldc class Main
    invokestatic Main.work (Ljava/lang/Object;)I
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
    return
  end
