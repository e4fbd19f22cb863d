/** The name under which the heartbeat is counted, beside the ids of jobs. */
export const heartbeatJob = "heartbeat";
