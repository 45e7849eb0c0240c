package com.acme.stock;

/** What is sold, and how many pieces there are. */
public record Item(long id, String name, long cents, int pieces) {}
