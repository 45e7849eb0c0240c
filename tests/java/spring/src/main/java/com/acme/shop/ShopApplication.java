package com.acme.shop;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.context.WebServerInitializedEvent;
import org.springframework.context.event.EventListener;

/** A shop with a REST interface. When it serves, it prints "listening on PORT" to standard output. */
@SpringBootApplication
public class ShopApplication {
    public static void main(String[] arguments) {
        SpringApplication.run(ShopApplication.class, arguments);
    }

    @EventListener
    public void listening(WebServerInitializedEvent event) {
        System.out.println("listening on " + event.getWebServer().getPort());
    }
}
