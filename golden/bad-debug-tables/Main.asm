class public super Line
  version 52

  method static work ()V
    stack 1
    locals 1
    iconst_0
    pop
    return
    attribute LineNumberTable u2:2 u2:0 u2:1 u2:3 u2:2
  end

class public super LineFar
  version 52

  method static work ()V
    stack 1
    locals 1
    iconst_0
    pop
    return
    attribute LineNumberTable u2:2 u2:0 u2:1 u2:9 u2:2
  end

class public super Length
  version 52

  method static work ()V
    stack 1
    locals 1
    iconst_0
    pop
    return
    attribute LocalVariableTable u2:1 u2:0 u2:4 utf8:x utf8:I u2:0
  end

class public super Start
  version 52

  method static work ()V
    stack 1
    locals 1
    iconst_0
    pop
    return
    attribute LocalVariableTable u2:1 u2:3 u2:0 utf8:x utf8:I u2:0
  end

class public super Around
  version 52

  method static work ()V
    stack 1
    locals 1
    iconst_0
    pop
    return
    attribute LocalVariableTable u2:1 u2:0 u2:65535 utf8:x utf8:I u2:0
  end

class public super TypeLength
  version 52

  method static work ()V
    stack 1
    locals 1
    iconst_0
    pop
    return
    attribute LocalVariableTable u2:1 u2:0 u2:4 utf8:x utf8:I u2:0
    attribute LocalVariableTypeTable u2:1 u2:0 u2:4 utf8:x utf8:TT; u2:0
  end

