module modular {
    exports modular;
}
