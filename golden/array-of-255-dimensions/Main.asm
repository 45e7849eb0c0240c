class public super Main
  version 52

  method static work (I)I
    stack 255
    locals 2
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    iload_0
    multianewarray [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[I 255
    astore_1
    iload_0
    ifle OUT
    aload_1
    iconst_0
    aaload
    pop
  OUT:
    frame append [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[I
    aload_1
    arraylength
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
    return
  end
