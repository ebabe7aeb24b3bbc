package blackbox.replay.content;

/// When the octets of two streams that are compared were written, each on the clock of its own guest.
public record Origins(WrittenWhen recorded, WrittenWhen actual) {}
