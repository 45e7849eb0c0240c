package com.acme.shop;

import java.util.List;
import java.util.NoSuchElementException;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

@RestController
public class ShopController {
    private final ShopService shop;

    public ShopController(ShopService shop) {
        this.shop = shop;
    }

    @GetMapping("/items")
    public List<Item> items(@RequestParam(defaultValue = "") String text) {
        return shop.catalogue(text);
    }

    @PostMapping("/orders")
    public Receipt order(@RequestBody Order order) {
        return shop.order(order);
    }

    @GetMapping("/customers/{customer}/receipt")
    public Receipt receipt(@PathVariable String customer) {
        return shop.receipt(customer);
    }

    @ExceptionHandler(NoSuchElementException.class)
    @ResponseStatus(HttpStatus.NOT_FOUND)
    public String missing(NoSuchElementException error) {
        return error.getMessage();
    }
}
