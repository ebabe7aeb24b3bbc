package blackbox.node.egress;

import blackbox.gateway.FrameGuest;
import blackbox.gateway.TestCertificates;
import blackbox.schemas.net.DnsMessage;
import blackbox.schemas.net.IpAddress;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import javax.net.ssl.SNIServerName;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/// Does what a case says, and tells in words what the guest heard.
final class TableGuest {
    private static final String NAME_SERVER = "10.0.2.3";
    private static final Map<String, Integer> TYPES = Map.ofEntries(
            Map.entry("A", 1),
            Map.entry("NS", 2),
            Map.entry("CNAME", 5),
            Map.entry("NULL", 10),
            Map.entry("PTR", 12),
            Map.entry("MX", 15),
            Map.entry("TXT", 16),
            Map.entry("KEY", 25),
            Map.entry("AAAA", 28),
            Map.entry("SRV", 33),
            Map.entry("SVCB", 64),
            Map.entry("HTTPS", 65),
            Map.entry("AXFR", 252),
            Map.entry("ANY", 255),
            Map.entry("PRIVATE", 65_399));
    private static final List<String> CODES =
            List.of("NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED");
    private static final ObjectMapper JSON = new ObjectMapper();

    private final FrameGuest guest;
    private final X509Certificate trusted;

    TableGuest(FrameGuest guest, X509Certificate trusted) {
        this.guest = guest;
        this.trusted = trusted;
    }

    String act(TableCase it) throws Exception {
        List<String> frames = it.texts("frames");
        if (!frames.isEmpty()) {
            return told(guest.answers(frames.stream().map(guest::frame).toArray(byte[][]::new)));
        }
        String udp = it.text("udp");
        if (udp != null) {
            return told(guest.answers(guest.udp(udp, it.port(), payload(it))));
        }
        if (it.keys().containsKey("dns")) {
            var heard = new ArrayList<String>();
            for (String question : it.texts("dns")) {
                heard.add(ask(it, question(question)));
            }
            return String.join(", ", heard);
        }
        return it.host() == null ? ask(it, payload(it)) : connect(it, it.host());
    }

    private static byte[] payload(TableCase it) {
        String hex = it.text("hex");
        return hex == null
                ? Outside.octets(String.valueOf(it.text("send")))
                : HexFormat.of().parseHex(hex.replace(" ", ""));
    }

    private static String told(List<byte[]> frames) {
        if (frames.isEmpty()) {
            return "silence";
        }
        var words = new ArrayList<String>();
        for (byte[] frame : frames) {
            Integer code = FrameGuest.unreachable(frame);
            words.add(
                    code != null ? "unreachable " + code : FrameGuest.payload(frame) != null ? "datagram" : "segment");
        }
        return String.join(", ", words);
    }

    // Names.

    private static byte[] question(String typeAndName) {
        String[] words = typeAndName.split(" ", 2);
        var out = new ByteArrayOutputStream();
        out.writeBytes(new byte[] {0x62, 0x62, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0});
        for (String label : words[1].split("\\.")) {
            out.write(label.length());
            out.writeBytes(Outside.octets(label));
        }
        int type = Objects.requireNonNull(TYPES.get(words[0]), words[0]);
        out.writeBytes(new byte[] {0, (byte) (type >> 8), (byte) type, 0, 1});
        return out.toByteArray();
    }

    private String ask(TableCase it, byte[] question) throws Exception {
        String given = it.text("resolver");
        String resolver = given == null ? NAME_SERVER : given;
        byte[] answer = "tcp".equals(it.text("over")) ? overTcp(resolver, question) : overUdp(resolver, question);
        if (answer == null) {
            return "silence";
        }
        DnsMessage read = DnsMessage.parse(answer);
        String code = CODES.get(answer[3] & 0xf);
        if (read == null || read.answers().isEmpty()) {
            return code.equals("NOERROR") ? "NODATA" : code;
        }
        String first = read.answers().getFirst();
        return first.startsWith("198.18.") || first.startsWith("198.19.") ? "address" : first;
    }

    private byte @Nullable [] overUdp(String resolver, byte[] question) throws Exception {
        for (byte[] frame : guest.answers(guest.udp(resolver, 53, question))) {
            byte[] payload = FrameGuest.payload(frame);
            if (payload != null) {
                return payload;
            }
        }
        return null;
    }

    private byte @Nullable [] overTcp(String resolver, byte[] question) throws Exception {
        try (Socket socket = guest.connect(resolver, 53, 1_460)) {
            if (socket == null) {
                return null;
            }
            var framed = new byte[2 + question.length];
            framed[0] = (byte) (question.length >> 8);
            framed[1] = (byte) question.length;
            System.arraycopy(question, 0, framed, 2, question.length);
            socket.getOutputStream().write(framed);
            socket.shutdownOutput();
            var in = new DataInputStream(socket.getInputStream());
            var answer = new byte[in.readUnsignedShort()];
            in.readFully(answer);
            return answer;
        } catch (EOFException | SocketException _) {
            return null;
        }
    }

    // Connections.

    private String connect(TableCase it, String host) throws Exception {
        String address = IpAddress.canonical(host);
        if (address == null) {
            byte[] answer = overUdp(NAME_SERVER, question("A " + host));
            DnsMessage read = answer == null ? null : DnsMessage.parse(answer);
            if (answer == null || read == null || read.answers().isEmpty()) {
                return answer == null ? "silence" : CODES.get(answer[3] & 0xf);
            }
            address = read.answers().getFirst();
        }
        try (Socket socket = guest.connect(address, it.port(), it.number("pieces", 1_460))) {
            return socket == null ? "refused" : talk(it, it.isTls() ? tls(it, socket, host) : socket);
        } catch (SSLException e) {
            String message = String.valueOf(e.getMessage());
            int at = message.indexOf("alert: ");
            return at >= 0
                    ? "alert " + message.substring(at + 7)
                    : e.getCause() instanceof SocketException ? "reset" : message;
        } catch (SocketException e) {
            return "reset";
        }
    }

    private SSLSocket tls(TableCase it, Socket socket, String host) throws Exception {
        var tls = (SSLSocket)
                TestCertificates.client(trusted).getSocketFactory().createSocket(socket, host, it.port(), true);
        String said = it.text("sni");
        String name = said == null ? IpAddress.canonical(host) == null ? host.replaceAll("\\.$", "") : "none" : said;
        SSLParameters parameters = tls.getSSLParameters();
        parameters.setServerNames(
                name.equals("none") ? List.of() : List.of(new Name(name.getBytes(StandardCharsets.ISO_8859_1))));
        parameters.setApplicationProtocols(it.texts("alpn").toArray(String[]::new));
        tls.setSSLParameters(parameters);
        tls.startHandshake();
        return tls;
    }

    /// A server name that the JDK's own class does not make.
    private static final class Name extends SNIServerName {
        Name(byte[] octets) {
            super(0, octets);
        }
    }

    private static String talk(TableCase it, Socket socket) throws IOException {
        List<String> pieces = it.texts("send");
        for (String piece : pieces) {
            socket.getOutputStream().write(it.octets(piece));
            socket.getOutputStream().flush();
        }
        String hex = it.text("hex");
        if (hex != null) {
            socket.getOutputStream().write(payload(it));
        }
        if (it.keys().containsKey("finish")) {
            socket.shutdownOutput();
        }
        var heard = new ArrayList<String>();
        boolean reset = false;
        try {
            hear(it, socket, heard);
        } catch (SocketException e) {
            reset = true;
        } catch (SSLException e) {
            reset = !(e.getMessage() != null && e.getMessage().contains("close_notify"));
            if (!reset) {
                heard.add("end without close_notify");
            }
        }
        if (reset) {
            heard.add("reset");
        }
        if (socket instanceof SSLSocket tls
                && tls.getApplicationProtocol() != null
                && !tls.getApplicationProtocol().isEmpty()) {
            heard.addFirst(tls.getApplicationProtocol());
        }
        return heard.isEmpty() ? "end" : String.join(", ", heard);
    }

    private static void hear(TableCase it, Socket socket, List<String> heard) throws IOException {
        InputStream in = socket.getInputStream();
        for (; ; ) {
            String head = head(in);
            if (head.isEmpty()) {
                return;
            }
            if (!head.startsWith("HTTP/1.1 ") || !head.endsWith("\r\n\r\n")) {
                heard.add("\"" + OutsideServer.shown(head + TableCase.ascii(in.readAllBytes())) + "\"");
                return;
            }
            String status = head.substring(9, 12);
            if (status.startsWith("1")) {
                heard.add(status);
                String then = it.text("then");
                byte[] octets = Outside.octets(OutsideServer.lines(then == null ? "" : then));
                socket.getOutputStream().write(octets);
                if (status.equals("101")) {
                    heard.add("\"" + OutsideServer.shown(TableCase.ascii(in.readNBytes(octets.length))) + "\"");
                    return;
                }
                continue;
            }
            String body = body(in, head, heard);
            heard.add((status + " " + (head.contains("application/json") ? rule(body) : body)).strip());
            if (head.contains("\r\nConnection: close\r\n")) {
                return;
            }
        }
    }

    /// The rule that a refusal names.
    private static String rule(String json) throws IOException {
        String rule = JSON.readTree(json).path("rule").textValue();
        return rule == null ? "-" : rule;
    }

    private static String head(InputStream in) throws IOException {
        var head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            int octet = in.read();
            if (octet < 0) {
                break;
            }
            head.append((char) octet);
            if (head.length() == 5 && !head.toString().equals("HTTP/")) {
                break;
            }
        }
        return head.toString();
    }

    private static String body(InputStream in, String head, List<String> heard) throws IOException {
        String fields = head.toLowerCase(Locale.ROOT);
        int at = fields.indexOf("\r\ncontent-length: ");
        if (at >= 0) {
            int from = at + 18;
            return TableCase.ascii(in.readNBytes(Integer.parseInt(fields.substring(from, fields.indexOf('\r', from)))));
        }
        if (!fields.contains("\r\ntransfer-encoding: chunked\r\n")) {
            return TableCase.ascii(in.readAllBytes());
        }
        var body = new StringBuilder();
        while (!body.toString().endsWith("0\r\n\r\n")) {
            int octet = in.read();
            if (octet < 0) {
                heard.add("cut off");
                break;
            }
            body.append((char) octet);
        }
        return body.toString().replaceAll("[0-9a-f]+\r\n(.*?)\r\n", "$1").replace("\r\n", "");
    }
}
