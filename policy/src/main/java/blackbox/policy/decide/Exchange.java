package blackbox.policy.decide;

import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/// The head of an HTTP request.
///
/// @param method as it was sent
/// @param authority the value of Host or `:authority`, as it was sent
/// @param target in origin form, or `*`
/// @param mediaTypes what Accept and Content-Type name, without parameters
public record Exchange(String method, String authority, String target, Set<String> mediaTypes) {
    public Exchange {
        mediaTypes =
                mediaTypes.stream().map(type -> type.toLowerCase(Locale.ROOT)).collect(Collectors.toUnmodifiableSet());
    }
}
