// Written with nops up to the limit: 65,530 bytes of code, but where a size is the point.
class public super Main
  version 61
  attribute NestMembers u2:1 class:Inner
  method public <init> ()V
    stack 1
    locals 1
    aload_0
    invokespecial java/lang/Object.<init> ()V
    return
  end
  method private secret (I)I
    stack 2
    locals 2
    repeat 65525
    nop
    end-repeat
    iload_1
    bipush 7
    iadd
    ireturn
  end
  method private static mine (I)I
    stack 2
    locals 1
    repeat 65525
    nop
    end-repeat
    iload_0
    bipush 9
    iadd
    ireturn
  end
  method public static main ([Ljava/lang/String;)V
    stack 4
    locals 1
    getstatic java/lang/System.out Ljava/io/PrintStream;
    new Inner
    dup
    invokespecial Inner.<init> ()V
    new Main
    dup
    invokespecial Main.<init> ()V
    invokevirtual Inner.ask (LMain;)I
    invokevirtual java/io/PrintStream.println (I)V
    getstatic java/lang/System.out Ljava/io/PrintStream;
    new Inner
    dup
    invokespecial Inner.<init> ()V
    iconst_2
    invokeinterface Face.ready (I)I
    invokevirtual java/io/PrintStream.println (I)V
    return
  end

class super Inner
  version 61
  implements Face
  attribute NestHost class:Main
  method public <init> ()V
    stack 1
    locals 1
    aload_0
    invokespecial java/lang/Object.<init> ()V
    return
  end
  method ask (LMain;)I
    stack 3
    locals 2
    repeat 65519
    nop
    end-repeat
    aload_1
    iconst_1
    invokevirtual Main.secret (I)I
    iconst_2
    invokestatic Main.mine (I)I
    iadd
    ireturn
  end

class interface abstract Face
  version 61
  method public ready (I)I
    stack 2
    locals 2
    repeat 65522
    nop
    end-repeat
    aload_0
    iload_1
    invokeinterface Face.hidden (I)I
    ireturn
  end
  method private hidden (I)I
    stack 2
    locals 2
    repeat 65525
    nop
    end-repeat
    iload_1
    bipush 30
    iadd
    ireturn
  end
