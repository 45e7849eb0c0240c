package com.acme.shop;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.NoSuchElementException;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

@Service
public class ShopService {
    private final ItemRepository items;
    private final OrderRepository orders;

    public ShopService(ItemRepository items, OrderRepository orders) {
        this.items = items;
        this.orders = orders;
    }

    @Transactional(readOnly = true)
    public List<Item> catalogue(String text) {
        return items.findAll().stream().filter(item -> item.name().contains(text)).toList();
    }

    @Transactional
    public Receipt order(Order order) {
        orders.save(order);
        return receipt(order.customer());
    }

    @Transactional(readOnly = true)
    public Receipt receipt(String customer) {
        List<Order> all = orders.findByCustomer(customer);
        long cents = 0;
        for (Order order : all) {
            cents += price(order);
        }
        return new Receipt(customer, all.size(), cents, checksum(all));
    }

    private long price(Order order) {
        Item item = items.findById(order.item()).orElseThrow(() -> new NoSuchElementException("item " + order.item()));
        return item.cents() * order.pieces();
    }

    /** A chain of hashes, as of a ledger: the part of a request that is computing. */
    private String checksum(List<Order> orders) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            byte[] chain = new byte[32];
            for (Order order : orders) {
                for (int round = 0; round < 50; round++) {
                    digest.update(chain);
                    chain = digest.digest(order.toString().getBytes(StandardCharsets.UTF_8));
                }
            }
            return HexFormat.of().formatHex(chain);
        } catch (NoSuchAlgorithmException error) {
            throw new IllegalStateException(error);
        }
    }
}
