package shop;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class ShopTest {
    @Test
    public void prices() {
        for (int i = 0; i < 7; i++) {
            assertEquals(2 * i, new Shop().price(i));
        }
    }
}
