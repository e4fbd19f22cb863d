const prefix = "google:";

/** Gemini signs its calls, not its thinking: the proof travels as a signature that says so. */
export function toGoogleSignature(signature: string): string {
  return `${prefix}${signature}`;
}

/** The proof, when this signature is one of those. */
export function fromGoogleSignature(signature: string): string | undefined {
  return signature.startsWith(prefix) ? signature.slice(prefix.length) : undefined;
}
