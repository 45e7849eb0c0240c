module seed {
    requires java.sql;
    requires static java.xml;
    exports a.b to java.sql, java.xml;
    exports a.c;
    opens a.b;
    uses java.sql.Driver;
}
