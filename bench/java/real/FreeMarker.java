import freemarker.cache.StringTemplateLoader;
import freemarker.template.Configuration;
import freemarker.template.Template;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Pages from templates: parsed once, and filled with loops, macros, conditions and numbers. */
public final class FreeMarker implements Real.Program {
    private static final String PAGE = "<#macro row item><tr><td>${item.name?upper_case}</td><td>${item.price?string('0.00')}</td>"
            + "<td><#if item.price gt 50>dear<#elseif item.price gt 20>fair<#else>cheap</#if></td></tr></#macro>"
            + "<h1>${title?html}</h1><table><#list items as item><@row item/><#if item?index % 10 == 9><tr><td>${item?counter}</td></tr></#if></#list></table>"
            + "<#assign total = 0><#list items as item><#assign total += item.price></#list>${total} ${items?map(item -> item.name?length)?join(',')}";
    private final Configuration configuration = new Configuration(Configuration.VERSION_2_3_33);
    private final List<Map<String, Object>> items = new ArrayList<>();

    public FreeMarker() {
        StringTemplateLoader loader = new StringTemplateLoader();
        loader.putTemplate("page", PAGE);
        configuration.setTemplateLoader(loader);
        configuration.setNumberFormat("0.######");
        configuration.setLocale(java.util.Locale.ROOT);
        // Else a template is looked at again after five seconds.
        configuration.setTemplateUpdateDelayMilliseconds(Long.MAX_VALUE);
        for (int i = 0; i < 200; i++) {
            Map<String, Object> item = new LinkedHashMap<>();
            item.put("name", "item " + i * 7919 % 200);
            item.put("price", i % 89);
            items.add(item);
        }
    }

    @Override
    public long round() throws Exception {
        long sum = 0;
        for (int i = 0; i < 40; i++) {
            // One page of a template that is kept, one of a template that is parsed anew.
            Template template = i % 4 == 0 ? new Template("page " + i, PAGE, configuration) : configuration.getTemplate("page");
            Map<String, Object> model = new LinkedHashMap<>();
            model.put("title", "Page <" + i + ">");
            model.put("items", items);
            StringWriter out = new StringWriter();
            template.process(model, out);
            sum = 31 * sum + out.toString().hashCode();
        }
        return sum;
    }
}
