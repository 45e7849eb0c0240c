package com.acme.orders;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;
import org.springframework.web.client.RestClient;

/** The service that knows who orders. */
@Component
public class Customers {
    private final RestClient rest;

    public Customers(RestClient.Builder builder, @Value("${customers.url}") String url) {
        rest = builder.baseUrl(url).build();
    }

    public Customer find(String name) {
        return rest.get().uri("/customers/{name}", name).retrieve().body(Customer.class);
    }

    public record Customer(String name, String city, int discount) {}
}
