/**
 * How much is taken from a model, so that no server can fill the memory or hold up the others. An answer of 128,000
 * tokens, the most that today's models write, has about half a million characters.
 */
export const sizes = {
  /** One line of a stream, in bytes. Some servers put whole images into one. */
  lineBytes: 8 * 1024 * 1024,
  /** An answer that comes as one document. */
  documentBytes: 16 * 1024 * 1024,
  /** A whole stream, with all that is around the text. */
  streamBytes: 256 * 1024 * 1024,
  /** What an answer says, thinks and calls, in characters. */
  answerCharacters: 2 * 1024 * 1024,
  /** Calls of one answer. */
  toolCalls: 256,
  /** The body of a refusal; what comes behind is not read. */
  refusalBytes: 64 * 1024,
} as const;
