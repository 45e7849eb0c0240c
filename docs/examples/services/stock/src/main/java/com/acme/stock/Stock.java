package com.acme.stock;

import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

@Repository
public class Stock {
    private final JdbcClient jdbc;

    public Stock(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    public Optional<Item> find(long id) {
        return jdbc.sql("select id, name, cents, pieces from item where id = ?").param(id).query(Item.class).optional();
    }

    /** Whether there were as many. */
    public boolean take(long id, int pieces) {
        return jdbc.sql("update item set pieces = pieces - ? where id = ? and pieces >= ?").param(pieces).param(id).param(pieces).update() > 0;
    }
}
