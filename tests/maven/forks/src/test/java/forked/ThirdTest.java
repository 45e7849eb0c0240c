package forked;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class ThirdTest {
    @Test
    public void twice() {
        assertEquals(42, Main.twice(21));
    }
}
