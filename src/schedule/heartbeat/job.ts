/** The name under which the heartbeat is counted, besides the ids of jobs. */
export const heartbeatJob = "heartbeat";

/** Ids of the messages of heartbeats begin so. */
export const heartbeatPrefix = "heartbeat:";
