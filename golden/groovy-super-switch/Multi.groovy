class Base {
    Base() {}
    Base(int n) {}
    Base(String s) {}
    Base(Object a, Object b) {}
}

class Multi extends Base {
    Multi(Object[] args) {
        super(*args)
    }
}
