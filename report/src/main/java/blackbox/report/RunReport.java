package blackbox.report;

import blackbox.evidence.time.TimeVerdict;
import blackbox.evidence.verify.VerificationReport;
import blackbox.query.answer.TouchedPart;
import com.fasterxml.jackson.core.JsonEncoding;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Calendar;
import java.util.EnumSet;
import java.util.GregorianCalendar;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.pdfbox.Loader;
import org.apache.pdfbox.cos.COSArray;
import org.apache.pdfbox.cos.COSDictionary;
import org.apache.pdfbox.cos.COSName;
import org.apache.pdfbox.pdmodel.PDDocument;
import org.apache.pdfbox.pdmodel.PDDocumentInformation;
import org.apache.pdfbox.pdmodel.PDDocumentNameDictionary;
import org.apache.pdfbox.pdmodel.PDEmbeddedFilesNameTreeNode;
import org.apache.pdfbox.pdmodel.common.filespecification.PDComplexFileSpecification;
import org.apache.pdfbox.pdmodel.common.filespecification.PDEmbeddedFile;
import org.apache.pdfbox.pdmodel.interactive.digitalsignature.ExternalSigningSupport;
import org.apache.pdfbox.pdmodel.interactive.digitalsignature.PDSignature;
import org.apache.pdfbox.pdmodel.interactive.digitalsignature.SignatureOptions;
import org.jspecify.annotations.Nullable;

/// A report of a run as PDF: what of it is verified, what the agent did and what may not have been seen,
/// for which controls it is evidence; with the same for programs inside it, and signed.
///
/// Its form is described in `schemas/exports.md`.
///
/// @param pages how many it has
/// @param stamp what an authority says of its time; null if none was asked
public record RunReport(int pages, TimeVerdict.@Nullable Stamped stamp) {

    /// Octets that a signature may have: a chain of certificates and a time stamp with another.
    private static final int SIGNATURE_BYTES_MAX = 64 << 10;

    private static final JsonFactory JSON = new ObjectMapper().getFactory();

    private static final COSName DOC_MDP = COSName.getPDFName("DocMDP");
    private static final COSName PADES = COSName.getPDFName("ETSI.CAdES.detached");

    /// Writes it.
    ///
    /// @throws ReportException when it cannot be signed, or no authority stamps the signature; nothing is
    ///     written then
    public static RunReport write(ReportFacts facts, ReportSigner signer, OutputStream to)
            throws IOException, ReportException {
        try (var work = new WorkFolder()) {
            Path unsigned = work.file("unsigned.pdf");
            int pages = draw(facts, signer, work, unsigned);
            Path signed = work.file("signed.pdf");
            TimeVerdict.Stamped stamp;
            try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(signed))) {
                stamp = sign(unsigned, facts, signer, out);
            }
            Files.copy(signed, to);
            return new RunReport(pages, stamp);
        }
    }

    private static int draw(ReportFacts facts, ReportSigner signer, WorkFolder work, Path to) throws IOException {
        try (var document = new PDDocument()) {
            int pages;
            try (var drawn = new Pages(document)) {
                new ReportText(drawn, facts).write(promises(signer));
                pages = drawn.count();
            }
            describe(document, facts);
            attach(document, facts, work);
            document.save(to.toFile());
            return pages;
        }
    }

    private static TimeVerdict.@Nullable Stamped sign(
            Path unsigned, ReportFacts facts, ReportSigner signer, OutputStream to)
            throws IOException, ReportException {
        try (PDDocument document = Loader.loadPDF(unsigned.toFile());
                var options = new SignatureOptions()) {
            options.setPreferredSignatureSize(SIGNATURE_BYTES_MAX);
            PDSignature said = said(facts, signer);
            document.addSignature(said, options);
            certify(document, said);
            ExternalSigningSupport support = document.saveIncrementalForExternalSigning(to);
            ReportSigner.Signature signature = signer.sign(support.getContent());
            if (signature.cms().length > SIGNATURE_BYTES_MAX) {
                throw new ReportException(
                        "the signature has " + signature.cms().length + " octets, and a report has room" + " for "
                                + SIGNATURE_BYTES_MAX + "; give fewer certificates, or another time authority");
            }
            support.setSignature(signature.cms());
            return signature.stamp();
        }
    }

    /// The signature is its author's, and allows no change (ISO 32000-2, section 12.8.2.2): readers that
    /// know of it say so of one that is added.
    private static void certify(PDDocument document, PDSignature signature) {
        var parameters = new COSDictionary();
        parameters.setItem(COSName.TYPE, COSName.getPDFName("TransformParams"));
        parameters.setInt(COSName.P, 1);
        parameters.setName(COSName.V, "1.2");
        parameters.setDirect(true);
        var reference = new COSDictionary();
        reference.setItem(COSName.TYPE, COSName.getPDFName("SigRef"));
        reference.setItem(COSName.getPDFName("TransformMethod"), DOC_MDP);
        reference.setItem(COSName.getPDFName("TransformParams"), parameters);
        reference.setDirect(true);
        var references = new COSArray();
        references.add(reference);
        references.setDirect(true);
        signature.getCOSObject().setItem(COSName.getPDFName("Reference"), references);
        var permissions = new COSDictionary();
        permissions.setItem(DOC_MDP, signature);
        permissions.setDirect(true);
        COSDictionary catalog = document.getDocumentCatalog().getCOSObject();
        catalog.setItem(COSName.PERMS, permissions);
        catalog.setNeedToBeUpdated(true);
    }

    /// The level of PAdES that the signature has.
    public String level() {
        return stamp == null ? "PAdES-B-B" : "PAdES-B-T";
    }

    private static List<String> promises(ReportSigner signer) {
        String certificate = "This report is signed for "
                + signer.key().subject()
                + ". The SHA-256 fingerprint of that certificate is "
                + signer.key().fingerprint()
                + (signer.key().isSelfSigned()
                        ? ", which its author must confirm through a channel that you trust: a certificate that is signed by"
                                + " itself proves nothing of who made it."
                        : ", which counts for as much as its issuer does.");
        return List.of(
                certificate,
                signer.authorities().isEmpty()
                        ? "The time of the signature is that of the host's clock; no authority stamped it."
                        : "A time authority stamped the signature; the time in the stamp counts, and the host's clock does not.");
    }

    private static PDSignature said(ReportFacts facts, ReportSigner signer) {
        var signature = new PDSignature();
        signature.setFilter(PDSignature.FILTER_ADOBE_PPKLITE);
        signature.setSubFilter(PADES);
        signature.setName(signer.key().subject().getName());
        signature.setReason("Blackbox report of run " + facts.run());
        signature.setSignDate(calendar(facts.madeAt()));
        return signature;
    }

    private static void describe(PDDocument document, ReportFacts facts) {
        var about = new PDDocumentInformation();
        about.setTitle("Blackbox report of run " + facts.run());
        about.setCreator(facts.program());
        about.setProducer(facts.program());
        about.setCreationDate(calendar(facts.madeAt()));
        document.setDocumentInformation(about);
        document.getDocumentCatalog().setLanguage("en");
    }

    private static void attach(PDDocument document, ReportFacts facts, WorkFolder work) throws IOException {
        Map<String, Body> contents = Map.of(
                "verify.json", out -> VerificationReport.write(out, facts.verification()),
                "touched.json", out -> facts.touched().write(out, EnumSet.allOf(TouchedPart.class)),
                "run.json",
                        out -> {
                            out.writeStartObject();
                            facts.summary().writeFields(out);
                            out.writeEndObject();
                        },
                "controls.json", out -> out.writeTree(facts.controls().document()));
        Map<String, PDComplexFileSpecification> files = new TreeMap<>();
        for (Map.Entry<String, Body> each : contents.entrySet()) {
            Path file = work.file(each.getKey());
            try (JsonGenerator out =
                    JSON.createGenerator(file.toFile(), JsonEncoding.UTF8).useDefaultPrettyPrinter()) {
                each.getValue().write(out);
            }
            files.put(each.getKey(), attached(document, file, facts.madeAt()));
        }
        var tree = new PDEmbeddedFilesNameTreeNode();
        tree.setNames(files);
        var names = new PDDocumentNameDictionary(document.getDocumentCatalog());
        names.setEmbeddedFiles(tree);
        document.getDocumentCatalog().setNames(names);
    }

    private static PDComplexFileSpecification attached(PDDocument document, Path content, Instant madeAt)
            throws IOException {
        PDEmbeddedFile file;
        try (InputStream octets = new BufferedInputStream(Files.newInputStream(content))) {
            file = new PDEmbeddedFile(document, octets, COSName.FLATE_DECODE);
        }
        file.setSubtype("application/json");
        file.setSize((int) Math.min(Integer.MAX_VALUE, Files.size(content)));
        file.setCreationDate(calendar(madeAt));
        String name = String.valueOf(content.getFileName());
        var specification = new PDComplexFileSpecification();
        specification.setFile(name);
        specification.setFileUnicode(name);
        specification.setEmbeddedFile(file);
        specification.setEmbeddedFileUnicode(file);
        return specification;
    }

    private interface Body {
        void write(JsonGenerator out) throws IOException;
    }

    /// For files that are too long for memory; its owner's alone, and removed at the end, also of a process
    /// that is interrupted.
    private static final class WorkFolder implements AutoCloseable {
        private final Path folder = Files.createTempDirectory("blackbox-report-");
        private final Set<Path> files = new LinkedHashSet<>();

        WorkFolder() throws IOException {
            folder.toFile().deleteOnExit();
        }

        Path file(String name) {
            Path file = folder.resolve(name);
            if (files.add(file)) {
                file.toFile().deleteOnExit(); // before the folder: the last comes first
            }
            return file;
        }

        @Override
        public void close() throws IOException {
            for (Path each : files) {
                Files.deleteIfExists(each);
            }
            Files.delete(folder);
        }
    }

    private static Calendar calendar(Instant at) {
        return GregorianCalendar.from(ZonedDateTime.ofInstant(at, ZoneOffset.UTC));
    }
}
