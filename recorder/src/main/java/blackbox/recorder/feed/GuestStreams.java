package blackbox.recorder.feed;

import java.io.InputStream;

/// The streams that leave a machine while it runs; each ends when the machine does. They may be pipes, so
/// each is read on its own platform thread.
///
/// @param events the tracer's octets
/// @param framesOut what the machine's interface sends, pcap
/// @param framesIn what it receives, pcap
public record GuestStreams(InputStream events, InputStream framesOut, InputStream framesIn) {}
