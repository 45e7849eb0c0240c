class public super Two
  version 52

  method static work ()V
    stack 1
    locals 1
    iconst_0
    iconst_0
    pop2
    return
  end

class public super Wide
  version 52

  method static work ()V
    stack 1
    locals 1
    lconst_0
    pop2
    return
  end

class public super Result
  version 52

  method static other ()J
    stack 2
    locals 0
    lconst_0
    lreturn
  end

  method static work ()V
    stack 1
    locals 1
    invokestatic Result.other ()J
    pop2
    return
  end

class public super Frame
  version 52

  method static work ()V
    stack 1
    locals 1
    iconst_0
    iconst_0
    goto NEXT
  NEXT:
    frame full | int int
    pop2
    return
  end

class public super Behind
  version 52

  method static work ()V
    stack 1
    locals 1
    iconst_0
    ifeq NEXT
    return
  NEXT:
    frame same
    iconst_0
    dup
    pop2
    return
  end

class public super Old
  version 49

  method static work ()V
    stack 1
    locals 1
    iconst_0
    iconst_0
    pop2
    return
  end

class public super OldLoop
  version 49

  method static work ()V
    stack 1
    locals 1
    iconst_0
    istore_0
    goto TEST
  BODY:
    iconst_0
    iconst_0
    pop2
    iinc 0 1
  TEST:
    iload_0
    ifeq BODY
    return
  end

class public super Subroutine
  version 48

  method static work ()V
    stack 0
    locals 1
    jsr SUB
    return
  SUB:
    astore_0
    ret 0
  end

