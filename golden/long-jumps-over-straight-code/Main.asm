// A branch over 29,000 bytes that become 39,000, with no place that is reached by branches alone.
class public super Main
  version 52
  method static far (I)I
    stack 2
    locals 1
    iload_0
    ifne FAR
    iload_0
    ifgt NEAR
    nop
  NEAR:
    frame same
    repeat 19000
    nop
    end-repeat
    repeat 2500
    iconst_0
    newarray int
    pop
    end-repeat
  FAR:
    frame same
    iload_0
    ireturn
  end
  method public static main ([Ljava/lang/String;)V
    stack 2
    locals 1
    getstatic java/lang/System.out Ljava/io/PrintStream;
    iconst_0
    invokestatic Main.far (I)I
    invokevirtual java/io/PrintStream.println (I)V
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 9
    invokestatic Main.far (I)I
    invokevirtual java/io/PrintStream.println (I)V
    return
  end
