package com.acme.customers;

import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

@RestController
public class CustomerController {
    private final JdbcClient jdbc;

    public CustomerController(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    @GetMapping("/customers/{name}")
    public ResponseEntity<Customer> customer(@PathVariable String name) {
        return ResponseEntity.of(
                jdbc.sql("select name, city, discount from customer where name = ?").param(name).query(Customer.class).optional());
    }
}
