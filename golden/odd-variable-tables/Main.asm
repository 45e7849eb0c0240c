class public super Main
  version 52

  method static work (I)I
    stack 2
    locals 3
  START:
    line 3
    iload_0
    istore_1
  MIDDLE:
    iload_1
    i2l
    lstore_1
  LAST:
    lload_1
    l2i
    ireturn
  END:
    var START END n I 0
    var START START nothing I 1
    var MIDDLE LAST a I 1
    var LAST END b J 1
    var START LAST overlap Ljava/lang/Object; 1
    var LAST LAST c J 1
    vartype START END n TT; 0
    vartype LAST END b TU; 1
  end

  method public static main ([Ljava/lang/String;)V
    stack 8
    locals 1
  A0:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 5
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
    return
  end
