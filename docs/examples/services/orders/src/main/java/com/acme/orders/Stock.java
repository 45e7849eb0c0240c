package com.acme.orders;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;
import org.springframework.web.client.RestClient;

/** The service that knows what there is. */
@Component
public class Stock {
    private final RestClient rest;

    public Stock(RestClient.Builder builder, @Value("${stock.url}") String url) {
        rest = builder.baseUrl(url).build();
    }

    public Item find(long id) {
        return rest.get().uri("/items/{id}", id).retrieve().body(Item.class);
    }

    public Item reserve(long id, int pieces) {
        return rest.post().uri("/items/{id}/reservations?pieces={pieces}", id, pieces).retrieve().body(Item.class);
    }

    public record Item(long id, String name, long cents) {}
}
