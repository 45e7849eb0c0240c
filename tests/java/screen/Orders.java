package com.acme.orders;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Twelve lists of orders; each asks for the item of each of its 20 orders. The database answers at once. */
public class Orders {
    static class OrderService {
        final Connection connection;

        OrderService(Connection connection) {
            this.connection = connection;
        }

        int list() throws SQLException {
            int sum = 0;
            try (PreparedStatement orders = connection.prepareStatement("select id, item from orders where day = ?")) {
                orders.executeQuery();
            }
            for (int order = 0; order < 20; order++) {
                sum += item(order).length();
            }
            return sum;
        }

        String item(int order) throws SQLException {
            try (PreparedStatement item = connection.prepareStatement("select name from item where id = ?")) {
                item.executeQuery();
            }
            return "item " + order;
        }
    }

    /** An object of an interface of java.sql that answers with others, and with nothing. */
    static Object answer(Class<?> type) {
        return Proxy.newProxyInstance(Orders.class.getClassLoader(), new Class<?>[] {type}, (proxy, method, words) -> {
            Class<?> of = method.getReturnType();
            boolean isPart = of == PreparedStatement.class || of == ResultSet.class;
            return isPart ? answer(of) : of == boolean.class ? (Object) false : of == int.class ? 0 : null;
        });
    }

    public static void main(String[] words) throws SQLException {
        OrderService service = new OrderService((Connection) answer(Connection.class));
        int sum = 0;
        for (int i = 0; i < 12; i++) {
            sum += service.list();
        }
        System.out.println(sum);
    }
}
