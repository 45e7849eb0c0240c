package com.acme.orders;

import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.HttpClientErrorException;

@RestController
public class OrderController {
    private final OrderService orders;

    public OrderController(OrderService orders) {
        this.orders = orders;
    }

    @PostMapping("/orders")
    public Receipt place(@RequestBody Order order) {
        return orders.place(order);
    }

    @GetMapping("/orders/{id}")
    public ResponseEntity<Receipt> order(@PathVariable long id) {
        return ResponseEntity.of(orders.receipt(id));
    }

    /** What another service refuses, this one does. */
    @ExceptionHandler
    public ResponseEntity<String> refused(HttpClientErrorException error) {
        return ResponseEntity.status(error.getStatusCode()).body(error.getResponseBodyAsString());
    }
}
