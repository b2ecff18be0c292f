/** Events read at once for a follower; one event has at most a million characters. */
export const eventsPage = 50;

/** Bytes of one terminal that are sent to a follower but not acknowledged yet. */
export const terminalWindow = 256 * 1024;
/** A follower further behind a terminal than this skips to the last window; REST serves the skipped bytes. */
export const terminalBehind = 1024 * 1024;
/** Bytes of a terminal that are read at once. */
export const terminalPiece = 64 * 1024;
