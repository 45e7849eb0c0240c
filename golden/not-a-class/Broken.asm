class public super Truncated
  version 52
  truncate 60

  method static work ()V
    stack 0
    locals 0
    return
  end

class public super Trailing
  version 52
  trailing 00

  method static work ()V
    stack 0
    locals 0
    return
  end
