package com.acme.orders;

import com.acme.orders.Order.Line;
import java.util.List;
import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.GeneratedKeyHolder;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.annotation.Transactional;

@Repository
public class OrderRepository {
    private final JdbcClient jdbc;

    public OrderRepository(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    @Transactional
    public long save(Order order) {
        GeneratedKeyHolder key = new GeneratedKeyHolder();
        jdbc.sql("insert into purchase (customer) values (?)").param(order.customer()).update(key);
        long id = key.getKeyAs(Long.class);
        for (Line line : order.lines()) {
            jdbc.sql("insert into line (purchase, item, pieces) values (?, ?, ?)").params(id, line.item(), line.pieces()).update();
        }
        return id;
    }

    public Optional<Order> find(long id) {
        Optional<String> customer = jdbc.sql("select customer from purchase where id = ?").param(id).query(String.class).optional();
        return customer.map(name -> new Order(name, lines(id)));
    }

    private List<Line> lines(long id) {
        return jdbc.sql("select item, pieces from line where purchase = ?").param(id).query(Line.class).list();
    }
}
