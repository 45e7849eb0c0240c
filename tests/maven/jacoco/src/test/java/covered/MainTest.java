package covered;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class MainTest {
    @Test
    public void twice() {
        assertEquals(42, Main.twice(21));
    }
}
