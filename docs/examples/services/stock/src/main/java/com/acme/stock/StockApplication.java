package com.acme.stock;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

@SpringBootApplication
public class StockApplication {
    public static void main(String[] arguments) {
        SpringApplication.run(StockApplication.class, arguments);
    }
}
