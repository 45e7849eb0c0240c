class public super Main
  version 52

  method static opcode ()V
    stack 0
    locals 0
    nop
    bytes cb
    return
  end

  method static target ()V
    stack 1
    locals 0
    bytes a7 0004
    sipush 5
    pop
    return
  end

  method static cut ()V
    stack 1
    locals 0
    nop
    bytes b8 00
  end

  method static keys ()V
    stack 1
    locals 0
    iconst_0
    bytes aa 0000 00000010 80000000 7fffffff
    return
  end

  method static table ()V
    stack 1
    locals 0
    iconst_0
    bytes ab 0000 00000010 7fffffff
    return
  end

  method static empty ()V
    stack 0
    locals 0

  end

  method static other ()V
    stack 0
    locals 0
    return
  end
