module golden.module {
    requires java.logging;
}
