package com.acme.orders;

import java.util.List;

/** What was ordered, and what it costs. */
public record Receipt(long order, String sendTo, List<String> items, long cents) {}
