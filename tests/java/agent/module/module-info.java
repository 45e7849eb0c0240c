module agent.module {
    exports agent.module.api;
}
