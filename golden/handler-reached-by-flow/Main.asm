class public super Main
  version 52

  method static falls (I)I
    stack 2
    locals 1
  START:
    bipush 10
    iload_0
    idiv
    pop
    aconst_null
  END:
  HANDLER:
    frame same1 java/lang/Throwable
    ifnull NONE
    iconst_1
    ireturn
  NONE:
    frame same
    iconst_0
    ireturn
    catch START END HANDLER java/lang/ArithmeticException
  end

  method static jumps (I)I
    stack 3
    locals 1
    iload_0
    ifgt START
    new java/lang/RuntimeException
    dup
    invokespecial java/lang/RuntimeException.<init> ()V
    goto HANDLER
  START:
    frame same
    bipush 10
    iload_0
    iconst_1
    isub
    idiv
    ireturn
  HANDLER:
    frame full int | java/lang/RuntimeException
    instanceof java/lang/ArithmeticException
    ireturn
    catch START HANDLER HANDLER java/lang/RuntimeException
  end

  method public static main ([Ljava/lang/String;)V
    stack 8
    locals 1
  A0:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 5
    invokestatic Main.falls (I)I
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
    bipush 0
    invokestatic Main.falls (I)I
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
    bipush 0
    invokestatic Main.jumps (I)I
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
    bipush 1
    invokestatic Main.jumps (I)I
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
    bipush 3
    invokestatic Main.jumps (I)I
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
    return
  end
