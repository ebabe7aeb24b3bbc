package blackbox.report;

import blackbox.evidence.time.TimeVerdict;
import blackbox.evidence.verify.VerificationReport;
import blackbox.query.answer.TouchedPart;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Calendar;
import java.util.EnumSet;
import java.util.GregorianCalendar;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.pdfbox.Loader;
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

    private static final COSName PADES = COSName.getPDFName("ETSI.CAdES.detached");

    /// Writes it.
    ///
    /// @throws ReportException when it cannot be signed, or no authority stamps the signature; nothing is
    ///     written then
    public static RunReport write(ReportFacts facts, ReportSigner signer, OutputStream to)
            throws IOException, ReportException {
        var unsigned = new ByteArrayOutputStream();
        int pages;
        try (var document = new PDDocument()) {
            try (var drawn = new Pages(document)) {
                new ReportText(drawn, facts).write(promises(signer));
                pages = drawn.count();
            }
            describe(document, facts);
            attach(document, facts);
            document.save(unsigned);
        }
        var signed = new ByteArrayOutputStream();
        TimeVerdict.Stamped stamp;
        try (PDDocument document = Loader.loadPDF(unsigned.toByteArray());
                var options = new SignatureOptions()) {
            options.setPreferredSignatureSize(SIGNATURE_BYTES_MAX);
            document.addSignature(said(facts, signer), options);
            ExternalSigningSupport support = document.saveIncrementalForExternalSigning(signed);
            ReportSigner.Signature signature = signer.sign(support.getContent());
            if (signature.cms().length > SIGNATURE_BYTES_MAX) {
                throw new ReportException(
                        "the signature has " + signature.cms().length + " octets, and a report has room" + " for "
                                + SIGNATURE_BYTES_MAX + "; give fewer certificates, or another time authority");
            }
            support.setSignature(signature.cms());
            stamp = signature.stamp();
        }
        signed.writeTo(to);
        return new RunReport(pages, stamp);
    }

    /// The level of PAdES that the signature has.
    public String level() {
        return stamp == null ? "PAdES-B-B" : "PAdES-B-T";
    }

    private static List<String> promises(ReportSigner signer) {
        String certificate = "This report is signed for "
                + signer.key().chain().getFirst().getSubjectX500Principal()
                + ". The SHA-256 fingerprint of that certificate is "
                + signer.key().fingerprint()
                + ", which its author must confirm through a channel that you trust: a certificate that is signed by itself"
                + " proves nothing of who made it.";
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
        signature.setName(
                signer.key().chain().getFirst().getSubjectX500Principal().getName());
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

    private static void attach(PDDocument document, ReportFacts facts) throws IOException {
        Map<String, PDComplexFileSpecification> files = new TreeMap<>();
        put(document, files, "verify.json", json(out -> VerificationReport.write(out, facts.verification())), facts);
        put(
                document,
                files,
                "touched.json",
                json(out -> facts.touched().write(out, EnumSet.allOf(TouchedPart.class))),
                facts);
        put(document, files, "controls.json", facts.controls().json(), facts);
        var tree = new PDEmbeddedFilesNameTreeNode();
        tree.setNames(files);
        var names = new PDDocumentNameDictionary(document.getDocumentCatalog());
        names.setEmbeddedFiles(tree);
        document.getDocumentCatalog().setNames(names);
    }

    private static void put(
            PDDocument document,
            Map<String, PDComplexFileSpecification> files,
            String name,
            byte[] octets,
            ReportFacts facts)
            throws IOException {
        var file = new PDEmbeddedFile(document, new ByteArrayInputStream(octets), COSName.FLATE_DECODE);
        file.setSubtype("application/json");
        file.setSize(octets.length);
        file.setCreationDate(calendar(facts.madeAt()));
        var specification = new PDComplexFileSpecification();
        specification.setFile(name);
        specification.setFileUnicode(name);
        specification.setEmbeddedFile(file);
        specification.setEmbeddedFileUnicode(file);
        files.put(name, specification);
    }

    private interface Body {
        void write(JsonGenerator out) throws IOException;
    }

    private static byte[] json(Body body) throws IOException {
        var octets = new ByteArrayOutputStream();
        try (JsonGenerator out = new JsonFactory().createGenerator(octets).useDefaultPrettyPrinter()) {
            body.write(out);
        }
        return octets.toByteArray();
    }

    private static Calendar calendar(Instant at) {
        return GregorianCalendar.from(ZonedDateTime.ofInstant(at, ZoneOffset.UTC));
    }
}
