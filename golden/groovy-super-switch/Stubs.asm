class public interface abstract groovy/lang/GroovyObject

class public interface abstract groovy/lang/MetaClass

class public super org/codehaus/groovy/reflection/ClassInfo
