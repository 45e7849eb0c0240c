class public super Main
  version 48
  source "odd.txt"
  attribute org.example.Marker 00 01 utf8:text

  method static work (I)I
    stack 2
    locals 1
  A:
    line 30
    iload_0
    ifle B
    line 10 1
    iconst_1
    line 20
    ireturn
  B:
    line 10
    iconst_2
  C:
    line 5 1
    ireturn
    attribute StackMap u2:1 pc:B u2:1 01 u2:0
    attribute org.example.Offsets pc:A pc:B pc:C
    attribute Empty
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
    bipush 0
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
    return
  end
