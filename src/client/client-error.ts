/**
 * Why a command has no answer: `refused` says that it was not carried out; `lost` and `timeout` that nobody knows;
 * `garbled` that the answer made no sense; `closed` and `busy` (1,000 are waiting) that it was not sent.
 */
export class ClientError extends Error {
  readonly kind: "refused" | "lost" | "timeout" | "garbled" | "closed" | "busy";
  /** The gateway's code for a refused command, e.g. `not_found`. */
  readonly code: string;

  constructor(kind: ClientError["kind"], message: string, code = "") {
    super(message);
    this.name = "ClientError";
    this.kind = kind;
    this.code = code;
  }
}
