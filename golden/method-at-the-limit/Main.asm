class public super Main
  version 52

  method static full ()V
    stack 0
    locals 0
    repeat 65534
    nop
    end-repeat
    return
  end

  method static nearly ()V
    stack 0
    locals 0
    repeat 65526
    nop
    end-repeat
    return
  end

  method static tight ()V
    stack 0
    locals 0
    repeat 65502
    nop
    end-repeat
    return
  end

  method static roomy ()V
    stack 0
    locals 0
    repeat 65470
    nop
    end-repeat
    return
  end

  method public static main ([Ljava/lang/String;)V
    stack 8
    locals 1
  A0:
    invokestatic Main.full ()V
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
    invokestatic Main.nearly ()V
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
    invokestatic Main.tight ()V
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
    invokestatic Main.roomy ()V
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
    return
  end
