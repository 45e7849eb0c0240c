/** A module with one directive of each kind that needs no other file. */
@Deprecated
open module seeds {
    requires transitive java.logging;
    requires static java.xml;
    uses java.lang.Runnable;
}
