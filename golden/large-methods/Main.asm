// Written with nops up to the limit: 65,530 bytes of code, but where a size is the point.
class public super Main
  version 52
  implements Face
  method public <init> ()V
    stack 1
    locals 1
    aload_0
    invokespecial java/lang/Object.<init> ()V
    return
  end
  method public synchronized strict mixed (IJFDLjava/lang/String;[I)J
    stack 4
    locals 9
    repeat 65505
    nop
    end-repeat
    iload_1
    i2l
    lload_2
    ladd
    fload 4
    f2l
    ladd
    dload 5
    d2l
    ladd
    aload 7
    invokevirtual java/lang/String.length ()I
    i2l
    ladd
    aload 8
    arraylength
    i2l
    ladd
    lreturn
  end
  method private static ints (I)I
    stack 2
    locals 1
    repeat 65526
    nop
    end-repeat
    iload_0
    iconst_1
    iadd
    ireturn
  end
  method static "ints$instrument$body" (I)I
    stack 2
    locals 1
    iload_0
    iconst_2
    iadd
    ireturn
  end
  method static synchronized floats (F)F
    stack 2
    locals 1
    repeat 65526
    nop
    end-repeat
    fload_0
    fload_0
    fadd
    freturn
  end
  method static final doubles (DD)D
    stack 4
    locals 4
    repeat 65526
    nop
    end-repeat
    dload_0
    dload_2
    dadd
    dreturn
  end
  method static varargs strings ([Ljava/lang/String;)Ljava/lang/Object;
    stack 2
    locals 1
    repeat 65524
    nop
    end-repeat
    aload_0
    iconst_0
    aaload
    areturn
  end
  method static fill ([I)V
    stack 3
    locals 1
    repeat 65524
    nop
    end-repeat
    line 7
    aload_0
    iconst_0
    bipush 9
    iastore
    return
  end
  method static fails (I)I
    stack 1
    locals 1
    repeat 65528
    nop
    end-repeat
    line 41
    aconst_null
    athrow
  end
  method static again (I)I
    stack 3
    locals 1
    repeat 65521
    nop
    end-repeat
    iload_0
    iconst_1
    isub
    invokestatic Main.count (I)I
    iconst_1
    iadd
    ireturn
  end
  method static count (I)I
    stack 1
    locals 1
    iload_0
    ifne MORE
    iconst_0
    ireturn
  MORE:
    frame same
    iload_0
    invokestatic Main.again (I)I
    ireturn
  end
  method static makes ()Ljava/lang/Object;
    stack 2
    locals 0
    repeat 65517
    nop
    end-repeat
    new java/lang/Object
    dup
    invokespecial java/lang/Object.<init> ()V
    areturn
  end
  method static bare ()Ljava/lang/Object;
    stack 2
    locals 0
    repeat 65525
    nop
    end-repeat
    new java/lang/Object
    dup
    invokespecial java/lang/Object.<init> ()V
    areturn
  end
  method static caught (Ljava/lang/Object;)I
    stack 1
    locals 1
    repeat 65521
    nop
    end-repeat
  A:
    aload_0
    invokevirtual java/lang/Object.hashCode ()I
  B:
    ireturn
  H:
    frame same1 java/lang/NullPointerException
    pop
    bipush 77
    ireturn
    catch A B H java/lang/NullPointerException
  end
  method public static main ([Ljava/lang/String;)V
    stack 12
    locals 4
    new Main
    dup
    invokespecial Main.<init> ()V
    astore 1
    getstatic java/lang/System.out Ljava/io/PrintStream;
    aload 1
    bipush 100
    ldc2_w 2000L
    ldc 3.5f
    ldc2_w 4.5d
    ldc "words"
    bipush 6
    newarray int
    invokevirtual Main.mixed (IJFDLjava/lang/String;[I)J
    invokevirtual java/io/PrintStream.println (J)V
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 20
    invokestatic Main.ints (I)I
    invokevirtual java/io/PrintStream.println (I)V
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 20
    invokestatic "Main.ints$instrument$body" (I)I
    invokevirtual java/io/PrintStream.println (I)V
    getstatic java/lang/System.out Ljava/io/PrintStream;
    ldc 1.25f
    invokestatic Main.floats (F)F
    invokevirtual java/io/PrintStream.println (F)V
    getstatic java/lang/System.out Ljava/io/PrintStream;
    ldc2_w 0.5d
    ldc2_w 0.25d
    invokestatic Main.doubles (DD)D
    invokevirtual java/io/PrintStream.println (D)V
    getstatic java/lang/System.out Ljava/io/PrintStream;
    iconst_1
    anewarray java/lang/String
    dup
    iconst_0
    ldc "one"
    aastore
    invokestatic Main.strings ([Ljava/lang/String;)Ljava/lang/Object;
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
    iconst_1
    newarray int
    astore 2
    aload 2
    invokestatic Main.fill ([I)V
    getstatic java/lang/System.out Ljava/io/PrintStream;
    aload 2
    iconst_0
    iaload
    invokevirtual java/io/PrintStream.println (I)V
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 3
    invokestatic Main.count (I)I
    invokevirtual java/io/PrintStream.println (I)V
    getstatic java/lang/System.out Ljava/io/PrintStream;
    invokestatic Main.makes ()Ljava/lang/Object;
    invokevirtual java/lang/Object.getClass ()Ljava/lang/Class;
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
    getstatic java/lang/System.out Ljava/io/PrintStream;
    invokestatic Main.bare ()Ljava/lang/Object;
    invokevirtual java/lang/Object.getClass ()Ljava/lang/Class;
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
    getstatic java/lang/System.out Ljava/io/PrintStream;
    aconst_null
    invokestatic Main.caught (Ljava/lang/Object;)I
    invokevirtual java/io/PrintStream.println (I)V
    getstatic java/lang/System.out Ljava/io/PrintStream;
    aload 1
    iconst_1
    invokevirtual Main.ready (I)I
    invokevirtual java/io/PrintStream.println (I)V
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 5
    invokestatic interface Face.make (I)I
    invokevirtual java/io/PrintStream.println (I)V
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 6
    invokestatic Old.old (I)I
    invokevirtual java/io/PrintStream.println (I)V
    getstatic java/lang/System.out Ljava/io/PrintStream;
    new Big
    dup
    invokespecial Big.<init> ()V
    invokevirtual java/lang/Object.getClass ()Ljava/lang/Class;
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  A:
    iconst_1
    invokestatic Main.fails (I)I
    pop
  B:
    goto E
  H:
    frame full top Main "[I" | java/lang/NullPointerException
    astore 3
    getstatic java/lang/System.out Ljava/io/PrintStream;
    aload 3
    invokevirtual java/lang/Object.getClass ()Ljava/lang/Class;
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  E:
    frame full top Main "[I" |
    return
    catch A B H java/lang/NullPointerException
  end

class public interface abstract Face
  version 52
  method public ready (I)I
    stack 2
    locals 2
    repeat 65524
    nop
    end-repeat
    aload_0
    iload_1
    invokespecial interface Face.hidden (I)I
    ireturn
  end
  method private hidden (I)I
    stack 2
    locals 2
    repeat 65525
    nop
    end-repeat
    iload_1
    bipush 10
    iadd
    ireturn
  end
  method public static make (I)I
    stack 2
    locals 1
    repeat 65526
    nop
    end-repeat
    iload_0
    iload_0
    imul
    ireturn
  end

class public super Old
  version 48
  method static old (I)I
    stack 2
    locals 1
    repeat 65519
    nop
    end-repeat
  A:
    iload_0
    invokestatic java/lang/Integer.valueOf (I)Ljava/lang/Integer;
    invokevirtual java/lang/Integer.intValue ()I
  B:
    ireturn
  H:
    pop
    iconst_0
    ireturn
    catch A B H any
  end

class public super Big
  version 52
  method public <init> ()V
    stack 1
    locals 1
    aload_0
    invokespecial java/lang/Object.<init> ()V
    repeat 65525
    nop
    end-repeat
    return
  end
  method static <clinit> ()V
    stack 0
    locals 0
    repeat 65529
    nop
    end-repeat
    return
  end
