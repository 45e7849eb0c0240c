package com.acme.orders;

import java.util.List;

/** What a customer wants. */
public record Order(String customer, List<Line> lines) {
    /** So many pieces of an item. */
    public record Line(long item, int pieces) {}
}
