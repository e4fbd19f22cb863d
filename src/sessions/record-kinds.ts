/** Under which kinds the engine's records hold what is kept of sessions beside their events. */

/** What the owner has pinned, archived and read. */
export const marksKind = "session_marks";

/** Deletions that have begun and have not ended. */
export const deletionKind = "deletion";
