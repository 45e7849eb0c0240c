package forked;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class FirstTest {
    @Test
    public void twice() {
        assertEquals(42, Main.twice(21));
    }
}
