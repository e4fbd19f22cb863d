import { EngineError, messageOf } from "../../../errors.js";

const unknownAuthority =
  "the certificate of the database is not signed by an authority that this machine knows. Add sslrootcert=FILE with the authority's certificate to engine.url";

/** By SQLSTATE, or the first two characters of it, or what the system says about a connection. */
const sentences: Readonly<Record<string, string>> = {
  "53100": "the disk of the database is full. Make room there",
  "53200": "the database has no memory left",
  "53300":
    "the database takes no more connections. Raise its max_connections, or the limit of the user: each gateway needs 11",
  "42501": "the user of engine.url has no right to do this. Grant it: CREATE on the database for the first start",
  "28P01": "the password in engine.url is wrong",
  "28000":
    "the database does not let this user in from here. Check the user and sslmode in engine.url, and pg_hba.conf",
  "3D000": "there is no database of this name. Create it, or change engine.url",
  "25006": "the database is read-only. Is engine.url a standby?",
  "57P01": "the database was shut down",
  "57P02": "the database has crashed and comes back",
  "57P03": "the database is starting or stopping",
  ECONNREFUSED: "nothing answers at the address in engine.url. Is the database running?",
  ENOTFOUND: "there is no machine of the name in engine.url",
  ECONNRESET: "the connection to the database was cut",
  ETIMEDOUT: "the database does not answer",
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  CERT_HAS_EXPIRED: "the certificate of the database has expired. Renew it there",
  CERT_NOT_YET_VALID: "the certificate of the database is not valid yet. Compare the clocks of both machines",
  ERR_TLS_CERT_ALTNAME_INVALID:
    "the certificate of the database is for another name. Write the name that is in the certificate as the host in engine.url",
  ENOENT: "engine.url names a file that does not exist, such as sslrootcert or a socket",
};
/** What the client says without a code. */
const withoutCode: readonly (readonly [RegExp, string])[] = [
  [
    /does not support SSL/,
    "the database does not take encrypted connections. Switch ssl on there, or remove sslmode from engine.url",
  ],
  [
    /timeout exceeded when trying to connect|Connection terminated due to connection timeout/,
    "the database does not answer",
  ],
];

/** A statement that may go well when it is run again: two of them met. */
export function isCollision(error: unknown): boolean {
  return ["40001", "40P01"].includes(codeOf(error) ?? "");
}

export function isUniqueViolation(error: unknown): boolean {
  return codeOf(error) === "23505";
}

/** How a statement says that an attempt does not hold its work any more. */
export function isDivisionByZero(error: unknown): boolean {
  return codeOf(error) === "22012";
}

/** The connection was lost. What was asked over it may have been done. */
export function isLost(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== undefined) return /^(08|57P0[12]|ECONNRESET|EPIPE)/.test(code);
  return /connection (terminated|error)/i.test(messageOf(error)) && !/timeout/i.test(messageOf(error));
}

/** The database is not there at this moment, as while it is started again. */
export function isAway(fault: unknown): boolean {
  const error = fault instanceof EngineError ? fault.cause : fault;
  return isLost(error) || ["57P03", "ECONNREFUSED"].includes(codeOf(error) ?? "");
}

/** What was asked was never sent: the connection had ended before. */
export function isNotSent(error: unknown): boolean {
  return /not queryable/i.test(messageOf(error));
}

/** The database has ended the transaction itself, because nothing came from here for too long. The commit came too late: nothing is stored. */
export function isTooLate(error: unknown): boolean {
  return codeOf(error) === "25P03";
}

/** What the database refused because of the values themselves, and will always refuse. */
export function isBadValue(error: unknown): boolean {
  return codeOf(error instanceof EngineError ? error.cause : error)?.startsWith("22") === true;
}

/** Nothing can be written for now, not only this. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof EngineError) || error.kind !== "persistence") return false;
  const code = codeOf(error.cause);
  return code === undefined || code in sentences || /^(08|53|57|58)/.test(code);
}

/** The fault as callers know it. Others, such as a bug of a caller's function, stay what they are. */
export function toFault(error: unknown, what: string): unknown {
  const code = codeOf(error);
  if (error instanceof EngineError || (code === undefined && !isOfConnection(error))) return error;
  const said = messageOf(error);
  const why = (code === undefined ? withoutCode.find(([pattern]) => pattern.test(said))?.[1] : sentences[code]) ?? said;
  return new EngineError(`${what}: ${why}`, { kind: "persistence", cause: error });
}

/** The client says some things without a code. */
function isOfConnection(error: unknown): boolean {
  return /connection|timeout|Client has encountered|not queryable|self.signed|certificate|SSL/i.test(messageOf(error));
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
