class public super Main
  version 52

  method static keeps (Ljava/lang/Object;)I
    stack 1
    locals 1
    aload_0
    monitorenter
    iconst_1
    ireturn
  end

  method static releases (Ljava/lang/Object;)I
    stack 1
    locals 1
    aload_0
    monitorexit
    iconst_1
    ireturn
  end

  method public static main ([Ljava/lang/String;)V
    stack 8
    locals 1
  A0:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    ldc class Main
    invokestatic Main.keeps (Ljava/lang/Object;)I
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
    ldc "lock"
    invokestatic Main.keeps (Ljava/lang/Object;)I
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
    ldc class Main
    invokestatic Main.releases (Ljava/lang/Object;)I
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
    return
  end
