class public super Beyond
  version 52

  method static work (I)V
    stack 1
    locals 1
    iload_0
    ifle OUT
    sipush 300
    pop
  OUT:
    return
    attribute StackMapTable u2:1 ff u2:500 u2:0 u2:0
  end

  method static other ()V
    stack 0
    locals 0
    return
  end

class public super Off
  version 52

  method static work (I)V
    stack 1
    locals 1
    iload_0
    ifle OUT
    sipush 300
    pop
  OUT:
    return
    attribute StackMapTable u2:2 05 02
  end

  method static other ()V
    stack 0
    locals 0
    return
  end

class public super Cut
  version 52

  method static work (I)V
    stack 1
    locals 1
    iload_0
    ifle OUT
    sipush 300
    pop
  OUT:
    return
    attribute StackMapTable u2:9 08 ff 00
  end

  method static other ()V
    stack 0
    locals 0
    return
  end

class public super Tag
  version 52

  method static work (I)V
    stack 1
    locals 1
    iload_0
    ifle OUT
    sipush 300
    pop
  OUT:
    return
    attribute StackMapTable u2:2 08 80
  end

  method static other ()V
    stack 0
    locals 0
    return
  end
