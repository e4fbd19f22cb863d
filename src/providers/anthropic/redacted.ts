const prefix = "redacted:";

/** Encrypted thinking has no text, only data to be sent back: it travels as a signature that says so. */
export function toRedacted(data: string): string {
  return `${prefix}${data}`;
}

/** The data, when this signature is one of those. */
export function fromRedacted(signature: string): string | undefined {
  return signature.startsWith(prefix) ? signature.slice(prefix.length) : undefined;
}
