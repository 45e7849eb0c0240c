package instrument.runtime;

/** Writes one property again and again, after regions of the same length were given back. Its argument is the file. */
public final class PropertyOrder {
    private static final int TIMES = 5;
    private static final int LENGTH = 512;

    public static void main(String[] args) throws Exception {
        System.setProperty("instrument.out", args[0]);
        ProfileFile file = new ProfileFile(new Settings(), Host.pid());
        Region[] regions = new Region[TIMES];
        for (int i = 0; i < TIMES; i++) {
            regions[i] = file.allocate(LENGTH);
            regions[i].publish(Format.TREE, 0);
        }
        for (int i = 0; i < TIMES; i++) {
            StringBuilder text = new StringBuilder();
            ProfileFile.line(text, "order", Integer.toString(i));
            while (text.length() + Format.HEADER < LENGTH) {
                text.append('\n');
            }
            file.write(Format.PROPERTIES, text.toString());
            file.release(regions[i]);
        }
        System.out.print(TIMES - 1);
    }
}
