/** The variable that names the database that all worlds share; each has a schema of its own. */
export const databaseVariable = "MAXCLAW_SWEEP_DATABASE";
