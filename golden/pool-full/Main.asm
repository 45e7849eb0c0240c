class public super Main
  version 52
  fill-pool 65535

  method public static main ([Ljava/lang/String;)V
    stack 8
    locals 1
    return
  end
