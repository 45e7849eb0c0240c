package io.github.instrument.jmh;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** The methods of {@code instrument xprof --csv}. */
final class Table {
    private final List<Row> rows = new ArrayList<>();

    /** One method. */
    static final class Row {
        /** {@code Shop.price}, as far as that is the name of one method only; else the whole name. */
        String label;
        final String name;
        final double calls;
        final double allocations;
        final double bytes;

        Row(String name, double calls, double allocations, double bytes) {
            this.name = name;
            this.calls = calls;
            this.allocations = allocations;
            this.bytes = bytes;
        }

        private String shorter() {
            String head = name.split("\\(", 2)[0];
            int method = head.lastIndexOf('.');
            return head.substring(head.lastIndexOf('.', method - 1) + 1);
        }
    }

    static Table of(List<String> lines) throws IOException {
        Table table = new Table();
        List<String> columns = lines.isEmpty() ? new ArrayList<>() : fields(lines.get(0));
        int function = columns.indexOf("function");
        int kind = columns.indexOf("kind");
        int calls = columns.indexOf("calls");
        if (function < 0 || kind < 0 || calls < 0) {
            throw new IOException("`instrument xprof --csv` printed no calls; take the binary of this version");
        }
        int allocations = columns.indexOf("allocations_base");
        int bytes = columns.indexOf("bytes_base");
        for (String line : lines.subList(1, lines.size())) {
            List<String> fields = fields(line);
            if (fields.get(kind).equals("method")) {
                table.rows.add(new Row(fields.get(function), number(fields, calls), number(fields, allocations), number(fields, bytes)));
            }
        }
        table.rows.sort((a, b) -> a.calls != b.calls ? Double.compare(b.calls, a.calls) : a.name.compareTo(b.name));
        for (Row row : table.rows) {
            boolean isOne = table.rows.stream().filter(other -> other.shorter().equals(row.shorter())).count() == 1;
            row.label = isOne ? row.shorter() : row.name;
        }
        return table;
    }

    /** Those with the most calls. */
    List<Row> rows(int most) {
        return rows.subList(0, Math.min(most, rows.size()));
    }

    double calls() {
        return rows.stream().mapToDouble(row -> row.calls).sum();
    }

    double allocations() {
        return rows.stream().mapToDouble(row -> row.allocations).sum();
    }

    double bytes() {
        return rows.stream().mapToDouble(row -> row.bytes).sum();
    }

    private static double number(List<String> fields, int column) {
        return column < 0 || fields.get(column).isEmpty() ? 0 : Double.parseDouble(fields.get(column));
    }

    /** RFC 4180, a record on one line. */
    private static List<String> fields(String line) {
        List<String> fields = new ArrayList<>();
        StringBuilder field = new StringBuilder();
        boolean quoted = false;
        for (int i = 0; i < line.length(); i++) {
            char c = line.charAt(i);
            if (c == '"' && quoted && i + 1 < line.length() && line.charAt(i + 1) == '"') {
                field.append(line.charAt(++i));
            } else if (c == '"') {
                quoted = !quoted;
            } else if (c == ',' && !quoted) {
                fields.add(field.toString());
                field.setLength(0);
            } else {
                field.append(c);
            }
        }
        fields.add(field.toString());
        return fields;
    }
}
