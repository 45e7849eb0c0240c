class public super Main
  version 52

  method static work ()V
    stack 2
    locals 0
    iconst_5
    invokestatic instrument/runtime/ProfilerRuntime.methodEntry (I)V
  START:
    nop
  END:
    iconst_5
    invokestatic instrument/runtime/ProfilerRuntime.methodExit (I)V
    return
  HANDLER:
    frame full | java/lang/Throwable
    iconst_5
    invokestatic instrument/runtime/ProfilerRuntime.methodUnwind (I)V
    athrow
    catch START END HANDLER any
  end

class public super Heap
  version 52

  method static work ()Ljava/lang/Object;
    stack 2
    locals 0
    iconst_1
    newarray int
    dup
    invokestatic instrument/runtime/HeapProxy.ArrayAlloc (Ljava/lang/Object;)V
    areturn
  end
