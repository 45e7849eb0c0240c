import java.io.File;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import org.xml.sax.ErrorHandler;
import org.xml.sax.InputSource;
import org.xml.sax.SAXParseException;

/** Fails unless a document is valid by the DTD of JaCoCo's jar: JAR, FILE. */
public final class Validate {
    public static void main(String[] args) throws Exception {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setValidating(true);
        DocumentBuilder builder = factory.newDocumentBuilder();
        String dtd = "jar:" + new File(args[0]).toURI() + "!/org/jacoco/report/xml/report.dtd";
        builder.setEntityResolver((publicId, systemId) -> {
            if (!"-//JACOCO//DTD Report 1.1//EN".equals(publicId)) {
                throw new IllegalStateException("another DTD: " + publicId);
            }
            return new InputSource(new java.net.URL(dtd).openStream());
        });
        builder.setErrorHandler(new ErrorHandler() {
            @Override
            public void warning(SAXParseException e) throws SAXParseException {
                throw e;
            }

            @Override
            public void error(SAXParseException e) throws SAXParseException {
                throw e;
            }

            @Override
            public void fatalError(SAXParseException e) throws SAXParseException {
                throw e;
            }
        });
        System.out.println(builder.parse(new File(args[1])).getElementsByTagName("line").getLength() + " lines are valid");
    }
}
