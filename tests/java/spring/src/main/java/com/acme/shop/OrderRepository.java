package com.acme.shop;

import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Repository;

@Repository
public class OrderRepository {
    private final JdbcTemplate jdbc;

    public OrderRepository(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    public void save(Order order) {
        jdbc.update(
                "insert into purchase (customer, item, pieces) values (?, ?, ?)",
                order.customer(),
                order.item(),
                order.pieces());
    }

    public List<Order> findByCustomer(String customer) {
        return jdbc.query(
                "select customer, item, pieces from purchase where customer = ? order by id",
                (row, number) -> new Order(row.getString(1), row.getLong(2), row.getInt(3)),
                customer);
    }
}
