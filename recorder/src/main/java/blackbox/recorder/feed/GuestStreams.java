package blackbox.recorder.feed;

import java.io.InputStream;

/// What leaves a machine while it runs; each stream ends when the machine does. They may be pipes: each is
/// read on a platform thread of its own.
///
/// @param events the tracer's octets
/// @param framesOut what the machine's interface sends, pcap
/// @param framesIn what it is sent, pcap
public record GuestStreams(InputStream events, InputStream framesOut, InputStream framesIn) {}
