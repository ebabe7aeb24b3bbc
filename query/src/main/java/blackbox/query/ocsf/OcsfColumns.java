package blackbox.query.ocsf;

import static blackbox.query.ocsf.OcsfType.Scalar.BOOLEAN;
import static blackbox.query.ocsf.OcsfType.Scalar.INT;
import static blackbox.query.ocsf.OcsfType.Scalar.LONG;
import static blackbox.query.ocsf.OcsfType.Scalar.TEXT;

import blackbox.query.ocsf.OcsfType.Array;
import blackbox.query.ocsf.OcsfType.Struct;

/// The columns of OCSF events in Parquet: all attributes that Blackbox writes, of all its classes, under the
/// names and with the nesting that they have in OCSF. `unmapped`, which may have any attributes, is text: JSON.
final class OcsfColumns {

    static final String UNMAPPED = "unmapped";

    private static final Struct NAMED = Struct.of().with(TEXT, "name");
    private static final Struct FILE = Struct.of().with(TEXT, "name", "path").with(INT, "type_id");
    private static final Struct PROCESS = Struct.of()
            .with(INT, "pid", "tid")
            .with(TEXT, "uid", "name", "path", "cmd_line", "working_directory")
            .with(FILE, "file")
            .with(Struct.of().with(TEXT, "uid"), "user", "container")
            .with(Struct.of().with(INT, "pid").with(TEXT, "uid"), "parent_process");
    private static final Struct ENDPOINT =
            Struct.of().with(TEXT, "ip").with(INT, "port").with(TEXT, "hostname", "name", "svc_name", "uid");
    private static final Struct REQUEST = Struct.of()
            .with(TEXT, "http_method", "version")
            .with(INT, "body_length")
            .with(Struct.of().with(TEXT, "scheme", "hostname", "path", "query_string"), "url");

    static final Struct ALL = Struct.of()
            .with(LONG, "time")
            .with(INT, "class_uid")
            .with(TEXT, "class_name")
            .with(INT, "category_uid", "activity_id")
            .with(TEXT, "activity_name")
            .with(LONG, "type_uid")
            .with(INT, "severity_id")
            .with(
                    Struct.of()
                            .with(TEXT, "version", "uid", "event_code", "log_name", "log_provider", "original_time")
                            .with(BOOLEAN, "is_truncated")
                            .with(new Array(TEXT), "profiles")
                            .with(Struct.of().with(TEXT, "name", "vendor_name", "version"), "product"),
                    "metadata")
            .with(Struct.of().with(INT, "type_id").with(TEXT, "uid"), "device")
            .with(INT, "status_id", "count")
            .with(TEXT, "status_code", "message")
            .with(
                    Struct.of()
                            .with(TEXT, "app_name", "app_uid")
                            .with(Struct.of().with(TEXT, "name", "credential_uid"), "user")
                            .with(PROCESS, "process"),
                    "actor")
            .with(PROCESS, "process")
            .with(INT, "launch_type_id", "exit_code")
            .with(FILE, "file", "file_result")
            .with(ENDPOINT, "src_endpoint", "dst_endpoint")
            .with(BOOLEAN, "is_src_dst_assignment_known")
            .with(Struct.of().with(INT, "direction_id").with(TEXT, "protocol_name"), "connection_info")
            .with(Struct.of().with(LONG, "bytes_out", "bytes_in", "packets_out", "packets_in"), "traffic")
            .with(Struct.of().with(TEXT, "hostname", "type"), "query")
            .with(new Array(Struct.of().with(TEXT, "rdata")), "answers")
            .with(INT, "action_id", "disposition_id")
            .with(Struct.of().with(TEXT, "uid", "category"), "firewall_rule")
            .with(REQUEST, "http_request")
            .with(INT, "http_status")
            .with(Struct.of().with(INT, "code", "body_length", "latency"), "http_response")
            .with(LONG, "duration")
            .with(
                    Struct.of()
                            .with(TEXT, "operation")
                            .with(NAMED, "service")
                            .with(Struct.of().with(TEXT, "uid"), "request")
                            .with(Struct.of().with(INT, "code"), "response"),
                    "api")
            .with(new Array(Struct.of().with(TEXT, "type", "uid")), "resources")
            .with(Struct.of().with(TEXT, "name", "ai_provider"), "ai_model")
            .with(
                    Struct.of()
                            .with(INT, "ai_role_id", "prompt_tokens", "completion_tokens")
                            .with(NAMED, "service"),
                    "message_context")
            .with(
                    Struct.of()
                            .with(TEXT, "uid", "title", "desc")
                            .with(Struct.of().with(TEXT, "name").with(INT, "type_id"), "analytic"),
                    "finding_info")
            .with(TEXT, "command_uid")
            .with(Struct.of().with(TEXT, "name", "uid"), "app")
            .with(TEXT, UNMAPPED);

    private OcsfColumns() {}
}
