import java.io.File;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.Map;
import javax.xml.XMLConstants;
import javax.xml.parsers.SAXParserFactory;
import javax.xml.transform.stream.StreamSource;
import javax.xml.validation.SchemaFactory;
import org.xml.sax.Attributes;
import org.xml.sax.SAXException;
import org.xml.sax.helpers.DefaultHandler;

/**
 * Validates an XML trace against a schema, and what a schema cannot say: times never go back within a trace, ids are defined
 * before they are used and not used after they were undefined. Prints every name as UTF-16 in hexadecimal digits.
 */
public final class TraceCheck {
    public static void main(String[] args) throws Exception {
        SchemaFactory schemas = SchemaFactory.newInstance(XMLConstants.W3C_XML_SCHEMA_NS_URI);
        File trace = new File(args[1]);
        schemas.newSchema(new File(args[0])).newValidator().validate(new StreamSource(trace));
        SAXParserFactory.newInstance().newSAXParser().parse(trace, new Order());
    }

    private static final class Order extends DefaultHandler {
        /** Kind and id: whether it can still be used. */
        private final Map<String, Boolean> ids = new HashMap<>();
        private BigDecimal last = BigDecimal.ZERO;
        private int elements;

        @Override
        public void startElement(String uri, String local, String element, Attributes attributes) throws SAXException {
            elements++;
            if (element.equals("node")) {
                last = BigDecimal.ZERO;
            }
            String time = attributes.getValue("time");
            if (time != null) {
                BigDecimal now = new BigDecimal(time);
                if (now.compareTo(last) < 0) {
                    throw new SAXException(element + " at " + now + " comes after " + last);
                }
                last = now;
            }
            use(element, "thread", attributes.getValue("threadIdRef"));
            use(element, "thread", attributes.getValue("ownerThreadIdRef"));
            use(element, "class", attributes.getValue("classIdRef"));
            use(element, "object", attributes.getValue("objIdRef"));
            define("thread", attributes.getValue("threadId"));
            define("class", attributes.getValue("classId"));
            define("object", attributes.getValue("objId"));
            if (element.equals("threadEnd")) {
                ids.put("thread " + attributes.getValue("threadIdRef"), false);
            } else if (element.equals("objFree")) {
                ids.put("object " + attributes.getValue("objIdRef"), false);
            }
            for (String name : new String[] {"name", "threadName", "groupName", "parentName"}) {
                if (attributes.getValue(name) != null && !element.equals("processCreate")) {
                    System.out.println(element + " " + name + " " + hex(attributes.getValue(name)));
                }
            }
        }

        @Override
        public void endDocument() {
            System.out.println("elements " + elements);
        }

        private void use(String element, String kind, String id) throws SAXException {
            if (id != null && !ids.getOrDefault(kind + " " + id, false)) {
                throw new SAXException(element + " uses " + kind + " " + id + ", which is not defined here");
            }
        }

        private void define(String kind, String id) throws SAXException {
            if (id != null && ids.putIfAbsent(kind + " " + id, true) != null) {
                throw new SAXException(kind + " " + id + " is defined twice");
            }
        }

        private static String hex(String text) {
            StringBuilder hex = new StringBuilder();
            for (char c : text.toCharArray()) {
                hex.append(String.format("%04x", (int) c));
            }
            return hex.toString();
        }
    }
}
