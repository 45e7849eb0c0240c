class public super Empty
  version 49

  method static work ()V
    stack 1
    locals 0
    bytes 00
  P1:
    bytes 11
  P2:
    bytes 0001
  P4:
    pop
  P5:
    return
  P6:
    athrow
  P7:
    catch P1 P1 P6 any
  end

  method static other ()V
    stack 0
    locals 0
    return
  end

class public super Inverted
  version 49

  method static work ()V
    stack 1
    locals 0
    bytes 00
  P1:
    bytes 11
  P2:
    bytes 0001
  P4:
    pop
  P5:
    return
  P6:
    athrow
  P7:
    catch P4 P1 P6 any
  end

  method static other ()V
    stack 0
    locals 0
    return
  end

class public super Beyond
  version 49

  method static work ()V
    stack 1
    locals 0
    bytes 00
  P1:
    bytes 11
  P2:
    bytes 0001
  P4:
    pop
  P5:
    return
  P6:
    athrow
  P7:
    catch P1 P4 P7 any
  end

  method static other ()V
    stack 0
    locals 0
    return
  end

class public super Off
  version 49

  method static work ()V
    stack 1
    locals 0
    bytes 00
  P1:
    bytes 11
  P2:
    bytes 0001
  P4:
    pop
  P5:
    return
  P6:
    athrow
  P7:
    catch P1 P4 P2 any
  end

  method static other ()V
    stack 0
    locals 0
    return
  end
