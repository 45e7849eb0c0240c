package sun.rmi.transport;

/** What a channel gives. */
public interface Connection {}
