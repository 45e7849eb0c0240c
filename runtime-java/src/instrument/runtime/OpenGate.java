package instrument.runtime;

/** The gate that is never closed: everything is recorded, and there was no pause. */
final class OpenGate extends Gate {
    @Override
    boolean lets() {
        return true;
    }

    @Override
    boolean lets(int id) {
        return true;
    }

    @Override
    int mode() {
        return ThreadState.FIRST_RECORDING;
    }
}
