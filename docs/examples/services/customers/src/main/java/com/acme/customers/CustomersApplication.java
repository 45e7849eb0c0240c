package com.acme.customers;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

@SpringBootApplication
public class CustomersApplication {
    public static void main(String[] arguments) {
        SpringApplication.run(CustomersApplication.class, arguments);
    }
}
