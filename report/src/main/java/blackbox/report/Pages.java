package blackbox.report;

import java.awt.Color;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.apache.fontbox.ttf.CmapLookup;
import org.apache.fontbox.ttf.TTFParser;
import org.apache.fontbox.ttf.TrueTypeFont;
import org.apache.pdfbox.io.RandomAccessReadBuffer;
import org.apache.pdfbox.pdmodel.PDDocument;
import org.apache.pdfbox.pdmodel.PDPage;
import org.apache.pdfbox.pdmodel.PDPageContentStream;
import org.apache.pdfbox.pdmodel.PDPageContentStream.AppendMode;
import org.apache.pdfbox.pdmodel.common.PDRectangle;
import org.apache.pdfbox.pdmodel.font.PDType0Font;
import org.apache.pdfbox.pdmodel.graphics.state.RenderingMode;
import org.jspecify.annotations.Nullable;

/// Sets text on the pages of a document, from top to bottom: headings, paragraphs, facts and tables.
///
/// The text may be a guest's. It is drawn glyph by glyph, and of a character that the font lacks, that
/// could be taken for another's ornament or that is read from the right, its number in Unicode is written
/// between ‹ and ›, which stand for nothing else. No text can fill lines with spaces, or more than a few
/// lines. Owned by one thread. Lengths are in points.
final class Pages implements AutoCloseable {
    private static final String FONT = "/org/apache/pdfbox/resources/ttf/LiberationSans-Regular.ttf";

    private static final float MARGIN = 48;
    private static final float FOOT = 28;
    private static final float WIDTH = PDRectangle.A4.getWidth() - 2 * MARGIN;
    private static final float LEADING = 1.3f;
    private static final float PADDING = 3;
    private static final float LABEL_WIDTH = 92;

    /// How thick the outline is that makes a letter bold.
    private static final float BOLD = 0.3f;

    /// A text that takes more is cut, and says so.
    private static final int LINES_MAX = 12;

    private static final float INDENT = 12;

    /// The directions of characters that are read from the right.
    private static final Set<Byte> FROM_THE_RIGHT = Set.of(
            Character.DIRECTIONALITY_RIGHT_TO_LEFT,
            Character.DIRECTIONALITY_RIGHT_TO_LEFT_ARABIC,
            Character.DIRECTIONALITY_ARABIC_NUMBER);

    private static final Color INK = new Color(0x1b1b1b);
    private static final Color FAINT = new Color(0x5f6368);
    private static final Color RULE = new Color(0xc8ccd0);
    private static final Color SHADE = new Color(0xf0f2f4);

    /// How text looks.
    enum Style {
        TITLE(17, true, INK),
        HEADING(12, true, INK),
        BODY(9, false, INK),
        STRONG(9, true, INK),
        SMALL(7.5f, false, FAINT),
        CELL(8, false, INK),
        GOOD(11, true, new Color(0x14632f)),
        BAD(11, true, new Color(0xa01414)),
        DOUBTFUL(11, true, new Color(0x7a4a00));

        private final float size;
        private final boolean bold;
        private final Color color;

        Style(float size, boolean bold, Color color) {
            this.size = size;
            this.bold = bold;
            this.color = color;
        }

        private float leading() {
            return size * LEADING;
        }
    }

    /// A column of a table.
    ///
    /// @param share of the width, beside the others'
    record Column(String title, float share) {}

    private final PDDocument document;
    private final PDType0Font font;
    private final CmapLookup glyphs;
    private final Map<Integer, Float> widths = new HashMap<>();
    private final List<PDPage> pages = new ArrayList<>();

    private @Nullable PDPageContentStream out;
    private float y;

    Pages(PDDocument document) throws IOException {
        this.document = document;
        try (InputStream in = Objects.requireNonNull(Pages.class.getResourceAsStream(FONT), FONT)) {
            TrueTypeFont liberation = new TTFParser().parse(new RandomAccessReadBuffer(in));
            this.glyphs = liberation.getUnicodeCmapLookup();
            this.font = PDType0Font.load(document, liberation, true);
        }
    }

    /// How many there are so far.
    int count() {
        return pages.size();
    }

    void title(String text) throws IOException {
        paragraph(Style.TITLE, text);
        skip(4);
    }

    /// Begins a section; never alone at the foot of a page.
    void heading(String text) throws IOException {
        skip(10);
        room(Style.HEADING.leading() + 4 * Style.BODY.leading());
        paragraph(Style.HEADING, text);
        skip(2);
    }

    /// The title of a table or list, never alone at the foot of a page.
    void subheading(String text) throws IOException {
        skip(4);
        room(6 * Style.STRONG.leading());
        paragraph(Style.STRONG, text);
    }

    void paragraph(Style style, String text) throws IOException {
        lines(style, MARGIN, wrapped(style, text, WIDTH));
    }

    /// One of a list, away from the margin.
    void item(String text) throws IOException {
        List<String> lines = cut(wrapped(Style.BODY, text, WIDTH - INDENT));
        room(Style.BODY.leading());
        draw(Style.BODY, MARGIN, y - Style.BODY.size, "•");
        lines(Style.BODY, MARGIN + INDENT, lines);
    }

    private void lines(Style style, float x, List<String> lines) throws IOException {
        for (String line : lines) {
            room(style.leading());
            draw(style, x, y - style.size, line);
            y -= style.leading();
        }
    }

    void skip(float height) {
        y -= height;
    }

    /// A name and what it is.
    void fact(String name, String value) throws IOException {
        fact(name, Style.BODY, value);
    }

    void fact(String name, Style style, String value) throws IOException {
        List<String> lines = cut(wrapped(style, value, WIDTH - LABEL_WIDTH));
        skip(1);
        room(style.leading());
        draw(Style.BODY, MARGIN, y - style.size, name);
        lines(style, MARGIN + LABEL_WIDTH, lines);
    }

    /// A table, whose header is repeated on each page.
    ///
    /// @param rows each as many texts as there are columns
    void table(List<Column> columns, List<List<String>> rows) throws IOException {
        float shares = 0;
        for (Column each : columns) {
            shares += each.share();
        }
        float unit = WIDTH / shares;
        List<List<String>> head = new ArrayList<>();
        for (Column each : columns) {
            head.add(wrapped(Style.STRONG, each.title(), each.share() * unit - 2 * PADDING));
        }
        boolean begun = false;
        for (List<String> row : rows) {
            List<List<String>> cells = new ArrayList<>();
            for (int i = 0; i < columns.size(); i++) {
                cells.add(cut(wrapped(Style.CELL, row.get(i), columns.get(i).share() * unit - 2 * PADDING)));
            }
            float height = height(Style.CELL, cells);
            boolean fits = out != null && y - height - (begun ? 0 : height(Style.STRONG, head)) >= MARGIN + FOOT;
            if (!fits) {
                page();
            }
            if (!begun || !fits) {
                row(Style.STRONG, columns, unit, head, true);
                begun = true;
            }
            row(Style.CELL, columns, unit, cells, false);
        }
        skip(3);
    }

    private static List<String> cut(List<String> lines) {
        if (lines.size() <= LINES_MAX) {
            return lines;
        }
        var kept = new ArrayList<>(lines.subList(0, LINES_MAX - 1));
        int left = lines.stream().skip(LINES_MAX - 1L).mapToInt(String::length).sum();
        kept.add("… and " + left + " more characters");
        return kept;
    }

    private static float height(Style style, List<List<String>> cells) {
        int lines = cells.stream().mapToInt(List::size).max().orElse(1);
        return lines * style.leading() + 2 * PADDING;
    }

    private void row(Style style, List<Column> columns, float unit, List<List<String>> cells, boolean shaded)
            throws IOException {
        float height = height(style, cells);
        y -= height;
        PDPageContentStream to = stream();
        if (shaded) {
            to.setNonStrokingColor(SHADE);
            to.addRect(MARGIN, y, WIDTH, height);
            to.fill();
        }
        to.setStrokingColor(RULE);
        to.setLineWidth(0.5f);
        to.moveTo(MARGIN, y);
        to.lineTo(MARGIN + WIDTH, y);
        to.stroke();
        float x = MARGIN;
        for (int i = 0; i < columns.size(); i++) {
            float line = y + height - PADDING - style.size;
            for (String each : cells.get(i)) {
                draw(style, x + PADDING, line, each);
                line -= style.leading();
            }
            x += columns.get(i).share() * unit;
        }
    }

    /// Writes the foot of each page, and ends.
    ///
    /// @param text before the page's number: our own, and short
    void finish(String text) throws IOException {
        close();
        int number = 0;
        for (PDPage page : pages) {
            number++;
            try (var foot = new PDPageContentStream(document, page, AppendMode.APPEND, true, true)) {
                out = foot;
                draw(Style.SMALL, MARGIN, MARGIN, text);
                String place = "page " + number + " of " + pages.size();
                float width = font.getStringWidth(place) / 1000 * Style.SMALL.size;
                draw(Style.SMALL, MARGIN + WIDTH - width, MARGIN, place);
            }
        }
        out = null;
    }

    @Override
    public void close() throws IOException {
        if (out != null) {
            out.close();
            out = null;
        }
    }

    private void room(float height) throws IOException {
        if (out == null || y - height < MARGIN + FOOT) {
            page();
        }
    }

    private void page() throws IOException {
        close();
        var page = new PDPage(PDRectangle.A4);
        document.addPage(page);
        pages.add(page);
        out = new PDPageContentStream(document, page);
        y = PDRectangle.A4.getHeight() - MARGIN;
    }

    private PDPageContentStream stream() {
        return Objects.requireNonNull(out);
    }

    private void draw(Style style, float x, float baseline, String line) throws IOException {
        if (line.isEmpty()) {
            return;
        }
        PDPageContentStream to = stream();
        to.beginText();
        to.setFont(font, style.size);
        to.setNonStrokingColor(style.color);
        to.setStrokingColor(style.color);
        to.setRenderingMode(style.bold ? RenderingMode.FILL_STROKE : RenderingMode.FILL);
        to.setLineWidth(BOLD);
        to.newLineAtOffset(x, baseline);
        to.showText(line);
        to.endText();
    }

    /// The lines that a text takes. Breaks at spaces, and anywhere in a word that is longer than a line.
    private List<String> wrapped(Style style, String recorded, float width) throws IOException {
        String text = drawable(recorded);
        var lines = new ArrayList<String>();
        int from = 0;
        while (from < text.length()) {
            int end = from;
            int space = -1;
            float used = 0;
            while (end < text.length()) {
                used += width(text.codePointAt(end)) * style.size;
                if (used > width && end > from) {
                    break;
                }
                if (text.charAt(end) == ' ') {
                    space = end;
                }
                end += Character.charCount(text.codePointAt(end));
            }
            int to = end < text.length() && space > from ? space : end;
            lines.add(text.substring(from, to));
            from = to < text.length() && text.charAt(to) == ' ' ? to + 1 : to;
        }
        return text.isEmpty() ? List.of("") : lines;
    }

    private String drawable(String text) {
        var drawn = new StringBuilder(text.length());
        int before = ' ';
        for (int each : text.codePoints().toArray()) {
            if (isPlain(each) && !(each == ' ' && before == ' ')) {
                drawn.appendCodePoint(each);
            } else {
                drawn.append('‹').append(Integer.toHexString(each)).append('›');
            }
            before = each;
        }
        return drawn.toString();
    }

    private boolean isPlain(int character) {
        return switch (Character.getType(character)) {
            case Character.NON_SPACING_MARK,
                    Character.ENCLOSING_MARK,
                    Character.COMBINING_SPACING_MARK,
                    Character.FORMAT,
                    Character.CONTROL,
                    Character.SURROGATE -> false;
            case Character.SPACE_SEPARATOR -> character == ' ';
            default ->
                character != '‹'
                        && character != '›'
                        && glyphs.getGlyphId(character) != 0
                        && !FROM_THE_RIGHT.contains(Character.getDirectionality(character));
        };
    }

    /// Of one character, of a font of one point.
    private float width(int character) throws IOException {
        Float known = widths.get(character);
        if (known == null) {
            known = font.getStringWidth(Character.toString(character)) / 1000;
            widths.put(character, known);
        }
        return known;
    }
}
