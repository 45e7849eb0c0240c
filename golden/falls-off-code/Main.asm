class public super Null
  version 52

  method static work ()V
    stack 1
    locals 0
    aconst_null
  end

class public super Branch
  version 52

  method static work ()V
    stack 1
    locals 0
    iconst_0
    ifne NEXT
    return
  NEXT:
    frame same
    aconst_null
  end

class public super Old
  version 49

  method static work ()V
    stack 1
    locals 0
    aconst_null
  end
