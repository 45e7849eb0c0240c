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

