package com.acme.shop;

import java.util.List;
import java.util.Optional;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Repository;

@Repository
public class ItemRepository {
    private final JdbcTemplate jdbc;

    public ItemRepository(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    public List<Item> findAll() {
        return jdbc.query("select id, name, cents from item order by name", (row, number) -> item(row.getLong(1), row.getString(2), row.getLong(3)));
    }

    public Optional<Item> findById(long id) {
        return jdbc.query(
                        "select id, name, cents from item where id = ?",
                        (row, number) -> item(row.getLong(1), row.getString(2), row.getLong(3)),
                        id)
                .stream()
                .findFirst();
    }

    private static Item item(long id, String name, long cents) {
        return new Item(id, name, cents);
    }
}
