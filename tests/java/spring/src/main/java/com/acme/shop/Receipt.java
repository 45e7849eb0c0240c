package com.acme.shop;

/** What a customer has ordered so far, and a checksum of it. */
public record Receipt(String customer, int orders, long cents, String checksum) {}
