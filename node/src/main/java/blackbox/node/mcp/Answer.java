package blackbox.node.mcp;

import blackbox.query.QueryException;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.SerializableString;
import com.fasterxml.jackson.core.io.CharacterEscapes;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// A tool's answer as JSON, in ASCII alone: what would be invisible on a screen, or turn the direction of
/// writing, is an escape that a model sees and a parser undoes.
final class Answer {
    /// A page of a list, unless one element alone is longer.
    static final int PAGE_BYTES_MAX = 128 << 10;
    /// A document that has no pages.
    static final int DOCUMENT_BYTES_MAX = 1 << 20;

    private static final JsonFactory JSON = new JsonFactoryBuilder()
            .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
            .characterEscapes(new Escapes())
            .build();

    private Answer() {}

    /// Writes JSON.
    @FunctionalInterface
    interface Body {
        void write(JsonGenerator out) throws IOException;
    }

    /// There is more of it than may be answered.
    static final class TooLongException extends IOException {
        private static final long serialVersionUID = 1;

        TooLongException(int bytesMax) {
            super("the answer has more than " + (bytesMax >> 10)
                    + " KiB; ask for less: one part alone, or the pages of 'events' with 'kinds'");
        }
    }

    /// @throws TooLongException when it is longer than a document may be
    static String document(Body body) throws IOException {
        var octets = new Bounded(DOCUMENT_BYTES_MAX);
        try (JsonGenerator out = JSON.createGenerator(octets)) {
            body.write(out);
        }
        return octets.text();
    }

    /// A document that is one object with these fields.
    ///
    /// @throws TooLongException when it is longer than a document may be
    static String object(Body fields) throws IOException {
        return document(out -> {
            out.writeStartObject();
            fields.write(out);
            out.writeEndObject();
        });
    }

    /// The elements of a list, up to a number and a length.
    static final class Page {
        private final StringBuilder elements = new StringBuilder();
        private final long elementsMax;
        private long size;

        /// @param elementsMax how many
        Page(long elementsMax) {
            this.elementsMax = elementsMax;
        }

        /// Whether it has as many as it may have.
        boolean isFull() {
            return size == elementsMax;
        }

        /// Adds an element, unless the page is full.
        ///
        /// @return whether it was added
        /// @throws TooLongException when it is longer than a document may be
        boolean add(Body element) throws IOException {
            if (isFull()) {
                return false;
            }
            String text = document(element);
            if (size > 0 && elements.length() + text.length() > PAGE_BYTES_MAX) {
                return false;
            }
            elements.append(size == 0 ? "" : ",\n").append(text);
            size++;
            return true;
        }

        /// Ends whatever makes elements that nobody takes.
        private static final class FullException extends IOException {
            private static final long serialVersionUID = 1;
        }

        /// Makes elements.
        @FunctionalInterface
        interface Source {
            void make() throws QueryException, IOException;
        }

        /// Adds what a source has [taken][#take], until the page is full.
        ///
        /// @return whether that was all
        boolean fill(Source source) throws QueryException, IOException {
            try {
                source.make();
                return true;
            } catch (FullException _) {
                return false;
            }
        }

        /// Adds an element of the source that [fills][#fill] the page.
        void take(Body element) throws IOException {
            if (!add(element)) {
                throw new FullException();
            }
        }

        /// Writes the list as a field.
        void writeField(JsonGenerator out, String name) throws IOException {
            out.writeFieldName(name);
            out.writeRawValue("[" + elements + "]");
        }
    }

    /// Memory up to a length.
    private static final class Bounded extends OutputStream {
        private final ByteArrayOutputStream octets = new ByteArrayOutputStream();
        private final int bytesMax;
        private @Nullable TooLongException full;

        Bounded(int bytesMax) {
            this.bytesMax = bytesMax;
        }

        @Override
        public void write(int octet) throws IOException {
            write(new byte[] {(byte) octet}, 0, 1);
        }

        @Override
        public void write(byte[] from, int at, int length) throws IOException {
            if (full != null) {
                return; // the generator flushes when it is closed
            }
            if (octets.size() + length > bytesMax) {
                full = new TooLongException(bytesMax);
                throw full;
            }
            octets.write(from, at, length);
        }

        String text() {
            return octets.toString(StandardCharsets.UTF_8);
        }
    }

    /// What JSON escapes in any case, and the one character of ASCII beyond that has no picture.
    private static final class Escapes extends CharacterEscapes {
        private static final long serialVersionUID = 1;
        private static final int DELETE = 0x7f;

        @Override
        public int[] getEscapeCodesForAscii() {
            int[] codes = standardAsciiEscapesForJSON();
            codes[DELETE] = ESCAPE_STANDARD;
            return codes;
        }

        @Override
        public @Nullable SerializableString getEscapeSequence(int character) {
            return null;
        }
    }
}
