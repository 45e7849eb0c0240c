import javax.jms.Connection;
import javax.jms.DeliveryMode;
import javax.jms.MessageProducer;
import javax.jms.Session;
import javax.jms.TextMessage;
import org.apache.activemq.ActiveMQConnectionFactory;

/** JmsSender PORT MESSAGES: sends one after the other, of ten seven to work, two to pull and one to news. */
public class JmsSender {
    public static void main(String[] args) throws Exception {
        Connection connection = new ActiveMQConnectionFactory("tcp://127.0.0.1:" + args[0]).createConnection();
        Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        MessageProducer any = session.createProducer(null);
        MessageProducer work = session.createProducer(session.createQueue("work"));
        for (int i = 0; i < Integer.parseInt(args[1]); i++) {
            TextMessage message = session.createTextMessage("text");
            message.setStringProperty("nonce", "n" + i);
            switch (i % 10) {
                case 0: any.send(session.createTopic("news"), message); break;
                case 1: any.send(session.createQueue("pull"), message); break;
                case 2: any.send(session.createQueue("pull"), message, DeliveryMode.NON_PERSISTENT, 5, 60_000); break;
                default: work.send(message);
            }
            JmsHop.said("sent", message);
        }
        connection.close();
        JmsHop.tell();
        System.out.println("done");
    }
}
