package com.acme.customers;

/** Someone who orders; {@code discount} is in percent. */
public record Customer(String name, String city, int discount) {}
