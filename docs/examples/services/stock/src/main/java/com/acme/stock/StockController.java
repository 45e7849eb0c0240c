package com.acme.stock;

import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

@RestController
@RequestMapping("/items/{id}")
public class StockController {
    private final Stock stock;

    public StockController(Stock stock) {
        this.stock = stock;
    }

    @GetMapping
    public Item item(@PathVariable long id) {
        return stock.find(id).orElseThrow(() -> new ResponseStatusException(HttpStatus.NOT_FOUND));
    }

    @PostMapping("/reservations")
    public Item reserve(@PathVariable long id, @RequestParam int pieces) {
        if (!stock.take(id, pieces)) {
            throw new ResponseStatusException(HttpStatus.CONFLICT, "sold out");
        }
        return item(id);
    }
}
