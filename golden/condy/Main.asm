class public super Main
  version 55
  bootstrap handle invokestatic Main.make (Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/Class;)Ljava/lang/Object;
  bootstrap handle invokestatic Main.big (Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/Class;J)J ; 41L
  bootstrap handle invokestatic Main.self (Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/Class;)Ljava/lang/Object;

  method static make (Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/Class;)Ljava/lang/Object;
    stack 1
    locals 3
    aload_1
    areturn
  end

  method static big (Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/Class;J)J
    stack 4
    locals 5
    lload_3
    lconst_1
    ladd
    lreturn
  end

  method static self (Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/Class;)Ljava/lang/Object;
    stack 2
    locals 3
    new java/lang/UnsupportedOperationException
    dup
    invokespecial java/lang/UnsupportedOperationException.<init> ()V
    athrow
  end

  method static text ()Ljava/lang/Object;
    stack 1
    locals 0
    ldc dynamic 0 hello Ljava/lang/Object;
    areturn
  end

  method static number ()J
    stack 2
    locals 0
    ldc2_w dynamic 1 answer J
    lreturn
  end

  method static loop ()Ljava/lang/Object;
    stack 1
    locals 0
    ldc dynamic 2 again Ljava/lang/Object;
    areturn
  end

  method public static main ([Ljava/lang/String;)V
    stack 8
    locals 1
  A0:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    invokestatic Main.text ()Ljava/lang/Object;
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
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
    invokestatic Main.number ()J
    invokevirtual java/io/PrintStream.println (J)V
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
    invokestatic Main.loop ()Ljava/lang/Object;
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
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
    return
  end
