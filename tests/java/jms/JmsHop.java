import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.jms.Connection;
import javax.jms.JMSException;
import javax.jms.Message;
import javax.jms.MessageConsumer;
import javax.jms.MessageListener;
import javax.jms.MessageProducer;
import javax.jms.Session;
import javax.jms.TextMessage;
import org.apache.activemq.ActiveMQConnectionFactory;
import org.apache.activemq.RedeliveryPolicy;
import org.apache.activemq.broker.BrokerService;

/**
 * A broker, and who receives its messages: a listener of the queue "work", which sends some on with all their properties; two subscribers of the topic
 * "news"; and a thread that asks for those of the queue "pull" and for what nobody could take, and has another one handle them. Says which nonce each message has that it sends and receives.
 */
public class JmsHop {
    private static final StringBuilder SAID = new StringBuilder();

    public static void main(String[] args) throws Exception {
        BrokerService broker = new BrokerService();
        broker.setPersistent(false);
        broker.setUseJmx(false);
        broker.setUseShutdownHook(false);
        String address = broker.addConnector("tcp://127.0.0.1:0").getPublishableConnectString();
        broker.start();
        ActiveMQConnectionFactory factory = new ActiveMQConnectionFactory(broker.getTransportConnectors().get(0).getPublishableConnectString());
        RedeliveryPolicy again = new RedeliveryPolicy();
        again.setMaximumRedeliveries(1);
        again.setInitialRedeliveryDelay(1);
        again.setRedeliveryDelay(1);
        factory.setRedeliveryPolicy(again);
        Connection connection = factory.createConnection();
        Session forward = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        MessageProducer on = forward.createProducer(forward.createQueue("pull"));
        Session work = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        work.createConsumer(work.createQueue("work")).setMessageListener(message -> work(message, forward, on));
        for (int i = 0; i < 2; i++) {
            Session news = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            news.createConsumer(news.createTopic("news")).setMessageListener(JmsHop::news);
        }
        Session pull = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        MessageConsumer wanted = pull.createConsumer(pull.createQueue("pull,ActiveMQ.DLQ"));
        connection.start();
        Thread puller = new Thread(() -> pull(wanted), "puller");
        puller.start();
        System.out.println("ready");
        System.out.println(broker.getTransportConnectors().get(0).getConnectUri().getPort());
        while (System.in.read() >= 0) {
            // Until it is closed.
        }
        Thread.sleep(300);
        puller.join(10_000);
        connection.close();
        broker.stop();
        tell();
    }

    static void work(Message message, Session session, MessageProducer on) {
        String nonce = said("received", message);
        try {
            if (nonce.endsWith("7")) {
                throw new IllegalStateException("nobody can take it");
            }
            if (nonce.endsWith("5")) {
                new JmsHop().send(message);
            }
            if (nonce.endsWith("3")) {
                TextMessage next = session.createTextMessage("on");
                java.util.Enumeration<?> names = message.getPropertyNames();
                while (names.hasMoreElements()) {
                    String name = (String) names.nextElement();
                    next.setStringProperty(name, message.getStringProperty(name));
                }
                next.setStringProperty("nonce", "on" + nonce);
                on.send(next);
                said("sent", next);
            }
        } catch (JMSException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Sends nothing, but is called so. */
    void send(Message message) {
        said("kept", message);
    }

    static void news(Message message) {
        said("received", message);
    }

    static void pull(MessageConsumer wanted) {
        MessageListener listener = JmsHop::pulled;
        ExecutorService other = Executors.newSingleThreadExecutor();
        try {
            for (Message message; (message = wanted.receive(3000)) != null;) {
                Message mine = message;
                other.submit(() -> listener.onMessage(mine)).get();
            }
        } catch (JMSException | InterruptedException | ExecutionException e) {
            throw new IllegalStateException(e);
        } finally {
            other.shutdown();
        }
    }

    static void pulled(Message message) {
        said("received", message);
    }

    static String said(String side, Message message) {
        try {
            String nonce = message.getStringProperty("nonce");
            synchronized (SAID) {
                SAID.append(side + ' ' + message.getJMSMessageID() + ' ' + nonce + ' ' + message.getStringProperty("traceparent") + '\n');
            }
            return nonce;
        } catch (JMSException e) {
            throw new IllegalStateException(e);
        }
    }

    static void tell() {
        synchronized (SAID) {
            System.out.print(SAID);
        }
    }
}
