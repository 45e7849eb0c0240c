package com.acme.orders;

import com.acme.orders.Order.Line;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.springframework.stereotype.Service;

@Service
public class OrderService {
    private final OrderRepository orders;
    private final Customers customers;
    private final Stock stock;

    public OrderService(OrderRepository orders, Customers customers, Stock stock) {
        this.orders = orders;
        this.customers = customers;
        this.stock = stock;
    }

    public Receipt place(Order order) {
        Customers.Customer customer = customers.find(order.customer());
        for (Line line : order.lines()) {
            stock.reserve(line.item(), line.pieces());
        }
        long id = orders.save(order);
        return receipt(id, order, customer);
    }

    public Optional<Receipt> receipt(long id) {
        return orders.find(id).map(order -> receipt(id, order, customers.find(order.customer())));
    }

    /** Asks for one item after the other. */
    private Receipt receipt(long id, Order order, Customers.Customer customer) {
        List<String> names = new ArrayList<>();
        long cents = 0;
        for (Line line : order.lines()) {
            Stock.Item item = stock.find(line.item());
            names.add(line.pieces() + " " + item.name());
            cents += line.pieces() * item.cents();
        }
        return new Receipt(id, customer.city(), names, cents * (100 - customer.discount()) / 100);
    }
}
