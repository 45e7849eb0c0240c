class public super Source40
  version 52
  fill-pool 40
  attribute SourceFile u2:40

  method static work ()V
    stack 0
    locals 1
    return
  end

class public super Signature40
  version 52
  fill-pool 40
  attribute Signature u2:40

  method static work ()V
    stack 0
    locals 1
    return
  end

class public super Variable40
  version 52
  fill-pool 40

  method static work ()V
    stack 0
    locals 1
    return
    attribute LocalVariableTable u2:1 u2:0 u2:1 u2:40 utf8:I u2:0
  end

class public super Load40
  version 52
  fill-pool 40

  method static work ()V
    stack 1
    locals 1
    bytes 12 28
    pop
    return
  end

class public super Field40
  version 52
  fill-pool 40
  attribute InnerClasses u2:1 u2:40 u2:0 u2:0 u2:0

  method static work ()V
    stack 0
    locals 1
    return
  end

class public super Source41
  version 52
  fill-pool 40
  attribute SourceFile u2:41

  method static work ()V
    stack 0
    locals 1
    return
  end

class public super Signature41
  version 52
  fill-pool 40
  attribute Signature u2:41

  method static work ()V
    stack 0
    locals 1
    return
  end

class public super Variable41
  version 52
  fill-pool 40

  method static work ()V
    stack 0
    locals 1
    return
    attribute LocalVariableTable u2:1 u2:0 u2:1 u2:41 utf8:I u2:0
  end

class public super Load41
  version 52
  fill-pool 40

  method static work ()V
    stack 1
    locals 1
    bytes 12 29
    pop
    return
  end

class public super Field41
  version 52
  fill-pool 40
  attribute InnerClasses u2:1 u2:41 u2:0 u2:0 u2:0

  method static work ()V
    stack 0
    locals 1
    return
  end

class public super Source42
  version 52
  fill-pool 40
  attribute SourceFile u2:42

  method static work ()V
    stack 0
    locals 1
    return
  end

class public super Signature42
  version 52
  fill-pool 40
  attribute Signature u2:42

  method static work ()V
    stack 0
    locals 1
    return
  end

class public super Variable42
  version 52
  fill-pool 40

  method static work ()V
    stack 0
    locals 1
    return
    attribute LocalVariableTable u2:1 u2:0 u2:1 u2:42 utf8:I u2:0
  end

class public super Load42
  version 52
  fill-pool 40

  method static work ()V
    stack 1
    locals 1
    bytes 12 2a
    pop
    return
  end

class public super Field42
  version 52
  fill-pool 40
  attribute InnerClasses u2:1 u2:42 u2:0 u2:0 u2:0

  method static work ()V
    stack 0
    locals 1
    return
  end

class public super Source43
  version 52
  fill-pool 40
  attribute SourceFile u2:43

  method static work ()V
    stack 0
    locals 1
    return
  end

class public super Signature43
  version 52
  fill-pool 40
  attribute Signature u2:43

  method static work ()V
    stack 0
    locals 1
    return
  end

class public super Variable43
  version 52
  fill-pool 40

  method static work ()V
    stack 0
    locals 1
    return
    attribute LocalVariableTable u2:1 u2:0 u2:1 u2:43 utf8:I u2:0
  end

class public super Load43
  version 52
  fill-pool 40

  method static work ()V
    stack 1
    locals 1
    bytes 12 2b
    pop
    return
  end

class public super Field43
  version 52
  fill-pool 40
  attribute InnerClasses u2:1 u2:43 u2:0 u2:0 u2:0

  method static work ()V
    stack 0
    locals 1
    return
  end

class public super Source44
  version 52
  fill-pool 40
  attribute SourceFile u2:44

  method static work ()V
    stack 0
    locals 1
    return
  end

class public super Signature44
  version 52
  fill-pool 40
  attribute Signature u2:44

  method static work ()V
    stack 0
    locals 1
    return
  end

class public super Variable44
  version 52
  fill-pool 40

  method static work ()V
    stack 0
    locals 1
    return
    attribute LocalVariableTable u2:1 u2:0 u2:1 u2:44 utf8:I u2:0
  end

class public super Load44
  version 52
  fill-pool 40

  method static work ()V
    stack 1
    locals 1
    bytes 12 2c
    pop
    return
  end

class public super Field44
  version 52
  fill-pool 40
  attribute InnerClasses u2:1 u2:44 u2:0 u2:0 u2:0

  method static work ()V
    stack 0
    locals 1
    return
  end

class public super Source45
  version 52
  fill-pool 40
  attribute SourceFile u2:45

  method static work ()V
    stack 0
    locals 1
    return
  end

class public super Signature45
  version 52
  fill-pool 40
  attribute Signature u2:45

  method static work ()V
    stack 0
    locals 1
    return
  end

class public super Variable45
  version 52
  fill-pool 40

  method static work ()V
    stack 0
    locals 1
    return
    attribute LocalVariableTable u2:1 u2:0 u2:1 u2:45 utf8:I u2:0
  end

class public super Load45
  version 52
  fill-pool 40

  method static work ()V
    stack 1
    locals 1
    bytes 12 2d
    pop
    return
  end

class public super Field45
  version 52
  fill-pool 40
  attribute InnerClasses u2:1 u2:45 u2:0 u2:0 u2:0

  method static work ()V
    stack 0
    locals 1
    return
  end

