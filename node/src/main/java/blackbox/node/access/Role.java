package blackbox.node.access;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/// What somebody is to the service.
public enum Role {
    VIEWER,
    AUDITOR,
    OPERATOR,
    APPROVER,
    ADMIN;

    public boolean may(Right right) {
        return switch (this) {
            case VIEWER -> right == Right.LIST;
            case AUDITOR -> right == Right.LIST || right == Right.READ;
            case OPERATOR -> right != Right.APPROVE;
            case APPROVER -> right != Right.OPERATE;
            case ADMIN -> true;
        };
    }

    /// The word in files, on the command line and in the record.
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /// The role with that word.
    ///
    /// @throws IllegalArgumentException if there is none
    public static Role ofWord(String word) {
        return Arrays.stream(values())
                .filter(each -> each.word().equals(word))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no role '" + word + "', only "
                        + Arrays.stream(values()).map(Role::word).collect(Collectors.joining(", "))));
    }
}
