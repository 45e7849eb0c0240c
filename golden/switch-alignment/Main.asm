class public super Main
  version 52

  method static at0 (I)I
    stack 1
    locals 1
    iload_0
    tableswitch -1 A B A default D
  A:
    frame same
    iload_0
    lookupswitch -2147483648:B -1:A2 7:B 2147483647:A2 default D
  A2:
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

  method static at1 (I)I
    stack 1
    locals 1
    nop
    iload_0
    tableswitch -1 A B A default D
  A:
    frame same
    iload_0
    lookupswitch -2147483648:B -1:A2 7:B 2147483647:A2 default D
  A2:
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

  method static at2 (I)I
    stack 1
    locals 1
    nop
    nop
    iload_0
    tableswitch -1 A B A default D
  A:
    frame same
    iload_0
    lookupswitch -2147483648:B -1:A2 7:B 2147483647:A2 default D
  A2:
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

  method static at3 (I)I
    stack 1
    locals 1
    nop
    nop
    nop
    iload_0
    tableswitch -1 A B A default D
  A:
    frame same
    iload_0
    lookupswitch -2147483648:B -1:A2 7:B 2147483647:A2 default D
  A2:
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

  method static extremes (I)I
    stack 1
    locals 1
    iload_0
    tableswitch 2147483646 A B default C
  A:
    frame same
    iconst_1
    ireturn
  B:
    frame same
    iload_0
    lookupswitch default C
  C:
    frame same
    iload_0
    tableswitch -2147483648 A default D
  D:
    frame same
    iconst_4
    ireturn
  end

  method public static main ([Ljava/lang/String;)V
    stack 8
    locals 1
  A0:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush -1
    invokestatic Main.at0 (I)I
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
    invokestatic Main.at0 (I)I
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
    bipush 1
    invokestatic Main.at0 (I)I
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
    bipush 9
    invokestatic Main.at0 (I)I
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
    bipush -1
    invokestatic Main.at1 (I)I
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
    bipush 0
    invokestatic Main.at1 (I)I
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
  A6:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 1
    invokestatic Main.at1 (I)I
    invokevirtual java/io/PrintStream.println (I)V
  E6:
    goto N6
  H6:
    frame same1 java/lang/Throwable
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N6:
    frame same
    nop
    catch A6 E6 H6 java/lang/Throwable
  A7:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 9
    invokestatic Main.at1 (I)I
    invokevirtual java/io/PrintStream.println (I)V
  E7:
    goto N7
  H7:
    frame same1 java/lang/Throwable
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N7:
    frame same
    nop
    catch A7 E7 H7 java/lang/Throwable
  A8:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush -1
    invokestatic Main.at2 (I)I
    invokevirtual java/io/PrintStream.println (I)V
  E8:
    goto N8
  H8:
    frame same1 java/lang/Throwable
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N8:
    frame same
    nop
    catch A8 E8 H8 java/lang/Throwable
  A9:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 0
    invokestatic Main.at2 (I)I
    invokevirtual java/io/PrintStream.println (I)V
  E9:
    goto N9
  H9:
    frame same1 java/lang/Throwable
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N9:
    frame same
    nop
    catch A9 E9 H9 java/lang/Throwable
  A10:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 1
    invokestatic Main.at2 (I)I
    invokevirtual java/io/PrintStream.println (I)V
  E10:
    goto N10
  H10:
    frame same1 java/lang/Throwable
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N10:
    frame same
    nop
    catch A10 E10 H10 java/lang/Throwable
  A11:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 9
    invokestatic Main.at2 (I)I
    invokevirtual java/io/PrintStream.println (I)V
  E11:
    goto N11
  H11:
    frame same1 java/lang/Throwable
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N11:
    frame same
    nop
    catch A11 E11 H11 java/lang/Throwable
  A12:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush -1
    invokestatic Main.at3 (I)I
    invokevirtual java/io/PrintStream.println (I)V
  E12:
    goto N12
  H12:
    frame same1 java/lang/Throwable
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N12:
    frame same
    nop
    catch A12 E12 H12 java/lang/Throwable
  A13:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 0
    invokestatic Main.at3 (I)I
    invokevirtual java/io/PrintStream.println (I)V
  E13:
    goto N13
  H13:
    frame same1 java/lang/Throwable
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N13:
    frame same
    nop
    catch A13 E13 H13 java/lang/Throwable
  A14:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 1
    invokestatic Main.at3 (I)I
    invokevirtual java/io/PrintStream.println (I)V
  E14:
    goto N14
  H14:
    frame same1 java/lang/Throwable
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N14:
    frame same
    nop
    catch A14 E14 H14 java/lang/Throwable
  A15:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    bipush 9
    invokestatic Main.at3 (I)I
    invokevirtual java/io/PrintStream.println (I)V
  E15:
    goto N15
  H15:
    frame same1 java/lang/Throwable
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N15:
    frame same
    nop
    catch A15 E15 H15 java/lang/Throwable
  A16:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    ldc 2147483646
    invokestatic Main.extremes (I)I
    invokevirtual java/io/PrintStream.println (I)V
  E16:
    goto N16
  H16:
    frame same1 java/lang/Throwable
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N16:
    frame same
    nop
    catch A16 E16 H16 java/lang/Throwable
  A17:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    ldc 2147483647
    invokestatic Main.extremes (I)I
    invokevirtual java/io/PrintStream.println (I)V
  E17:
    goto N17
  H17:
    frame same1 java/lang/Throwable
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N17:
    frame same
    nop
    catch A17 E17 H17 java/lang/Throwable
  A18:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    ldc -2147483648
    invokestatic Main.extremes (I)I
    invokevirtual java/io/PrintStream.println (I)V
  E18:
    goto N18
  H18:
    frame same1 java/lang/Throwable
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N18:
    frame same
    nop
    catch A18 E18 H18 java/lang/Throwable
  A19:
    getstatic java/lang/System.out Ljava/io/PrintStream;
    ldc 0
    invokestatic Main.extremes (I)I
    invokevirtual java/io/PrintStream.println (I)V
  E19:
    goto N19
  H19:
    frame same1 java/lang/Throwable
    getstatic java/lang/System.out Ljava/io/PrintStream;
    swap
    invokevirtual java/io/PrintStream.println (Ljava/lang/Object;)V
  N19:
    frame same
    nop
    catch A19 E19 H19 java/lang/Throwable
    return
  end
