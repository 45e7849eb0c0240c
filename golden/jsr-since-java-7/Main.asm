class public super Main
  version 51

  method static work ()V
    stack 1
    locals 1
    jsr SUB
    return
  SUB:
    astore_0
    ret 0
  end

  method static other ()V
    stack 0
    locals 0
    return
  end
