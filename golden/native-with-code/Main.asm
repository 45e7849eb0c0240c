class public super Main
  version 52

  method static native fake ()V
    stack 0
    locals 0
    return
  end

  method static other ()V
    stack 0
    locals 0
    return
  end
