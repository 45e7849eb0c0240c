import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.PhraseQuery;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.ByteBuffersDirectory;

/** Indexes texts and searches them, in memory. */
public final class Lucene implements Real.Program {
    private static final int WORDS = 2000;

    @Override
    public long round() throws Exception {
        long sum = 0;
        try (ByteBuffersDirectory directory = new ByteBuffersDirectory()) {
            IndexWriterConfig settings = new IndexWriterConfig(new StandardAnalyzer());
            settings.setMergeScheduler(new SerialMergeScheduler());
            try (IndexWriter writer = new IndexWriter(directory, settings)) {
                long random = 42;
                for (int i = 0; i < 1500; i++) {
                    StringBuilder text = new StringBuilder();
                    for (int j = 0; j < 60; j++) {
                        random = random * 6364136223846793005L + 1442695040888963407L;
                        // Small numbers are frequent, as words are.
                        int word = (int) ((random >>> 33) % WORDS * ((random >>> 20) % WORDS) / WORDS);
                        text.append("word").append(word).append(' ');
                    }
                    Document document = new Document();
                    document.add(new StringField("id", "d" + i, Field.Store.YES));
                    document.add(new TextField("text", text.toString(), Field.Store.NO));
                    writer.addDocument(document);
                }
            }
            try (DirectoryReader reader = DirectoryReader.open(directory)) {
                IndexSearcher searcher = new IndexSearcher(reader);
                for (int i = 0; i < 1000; i++) {
                    Term first = new Term("text", "word" + i % 300);
                    Term second = new Term("text", "word" + i * 7 % 500);
                    sum += searcher.search(new TermQuery(first), 10).totalHits.value;
                    BooleanQuery.Builder both = new BooleanQuery.Builder();
                    both.add(new TermQuery(first), BooleanClause.Occur.MUST);
                    both.add(new TermQuery(second), BooleanClause.Occur.SHOULD);
                    sum += searcher.search(both.build(), 10).scoreDocs.length;
                    sum += searcher.search(new PhraseQuery("text", "word1", "word" + i % 50), 10).scoreDocs.length;
                }
            }
        }
        return sum;
    }
}
