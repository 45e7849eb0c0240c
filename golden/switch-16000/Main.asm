class public super Main
  version 52

  method static table (I)I
    stack 1
    locals 1
    iload_0
    tableswitch -5 A*8000 B*8000 default D
  A:
    frame same
    iconst_1
    ireturn
  B:
    frame same
    iconst_2
    ireturn
  D:
    frame same
    iconst_3
    ireturn
  end

  method static lookup (I)I
    stack 1
    locals 1
    iload_0
    lookupswitch -4000..0:A 1..4000:B default D
  A:
    frame same
    iconst_1
    ireturn
  B:
    frame same
    iconst_2
    ireturn
  D:
    frame same
    iconst_3
    ireturn
  end

  method public static main ([Ljava/lang/String;)V
    stack 8
    locals 1
  A0:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    sipush -5
    invokestatic Main.table (I)I
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
    sipush 10000
    invokestatic Main.table (I)I
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
    sipush 20000
    invokestatic Main.table (I)I
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
    sipush -5
    invokestatic Main.lookup (I)I
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
    sipush 10000
    invokestatic Main.lookup (I)I
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
    sipush 20000
    invokestatic Main.lookup (I)I
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
