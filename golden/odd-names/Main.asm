class public super Main
  version 52

  method static run ()V
    stack 2
    locals 0
    invokestatic "-.-" ()V
    invokestatic "-.a b" ()I
    pop
    invokestatic "-.a b" ()J
    pop2
    invokestatic "<script>alert(1)</script>.line\nbreak" ()V
    new "\u202etxt"
    dup
    invokespecial "\u202etxt.<init>" ()V
    pop
    return
  end

  method public static main ([Ljava/lang/String;)V
    stack 8
    locals 1
  A0:
    invokestatic Main.run ()V
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

class super "-"
  field static int I
  field static int J

  method static "-" ()V
    stack 0
    locals 0
    return
  end

  method static "a b" ()I
    stack 1
    locals 0
    getstatic -.int I
    ireturn
  end

  method static "a b" ()J
    stack 2
    locals 0
    getstatic -.int J
    lreturn
  end

class public super "<script>alert(1)</script>"

  method public static "line\nbreak" ()V
    stack 0
    locals 0
    return
  end

class super "\u202etxt"

  method <init> ()V
    stack 1
    locals 1
    aload_0
    invokespecial java/lang/Object.<init> ()V
    return
  end
