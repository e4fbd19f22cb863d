/** A plain JSON object. */
export type JsonObject = { readonly [key: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Reads JSON as people write it by hand: comments, names without quotes, single quotes, a comma at the end.
 *
 * @throws {SyntaxError} naming the line, and nothing of the text, which may hold keys
 */
export async function parseJson5(source: string): Promise<unknown> {
  const { default: JSON5 } = await import("json5");
  try {
    return JSON5.parse(source.replace(/^\uFEFF/, ""));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const line = "lineNumber" in error ? `, line ${String(error.lineNumber)}` : "";
    // The library's own words quote what it stumbled over.
    throw new SyntaxError(`it cannot be read${line}`);
  }
}
