package com.acme.shop;

/** How many pieces of an item a customer wants. */
public record Order(String customer, long item, int pieces) {}
