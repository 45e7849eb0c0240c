class public super Future
  version 100

  method static work ()V
    stack 0
    locals 0
    return
  end

class public super Preview
  version 61.65535

  method static work ()V
    stack 0
    locals 0
    return
  end

class public super Past
  version 44

  method static work ()V
    stack 0
    locals 0
    return
  end
