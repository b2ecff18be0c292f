/** Events that are read at once for a follower; one has a million characters at most. */
export const eventsPage = 50;

/** Bytes of one terminal that are sent to a follower and not taken yet. */
export const terminalWindow = 256 * 1024;
/** A follower further behind a terminal than this is skipped forward to its last window; the middle is there by REST. */
export const terminalBehind = 1024 * 1024;
/** Bytes of a terminal that are read at once. */
export const terminalPiece = 64 * 1024;
