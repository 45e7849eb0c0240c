package com.acme.shop;

/** What the shop sells. */
public record Item(long id, String name, long cents) {}
