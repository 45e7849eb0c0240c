package plugin;

import java.util.function.IntUnaryOperator;

public class Plugin implements IntUnaryOperator {
    @Override
    public int applyAsInt(int n) {
        return 2 * n;
    }
}
