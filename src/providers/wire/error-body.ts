/** What an error body says, whatever its shape. */
export interface ErrorReport {
  /** `type`, `code` and `status` of the body, in lower case. */
  readonly codes: string;
  /** Status codes in the body itself: OpenRouter and others tell a failure in mid-stream in this way. */
  readonly status: number | undefined;
  /** In the server's words; empty when it gave none. */
  readonly message: string;
}

/** A body as it came, as JSON where it is that. */
export function parseBody(text: string): unknown {
  const trimmed = text.trim();
  if (!/^[{["]/.test(trimmed)) return trimmed;
  try {
    return JSON.parse(trimmed);
  } catch {
    return trimmed;
  }
}

/** Where servers put their words, the more telling ones first. */
const keys = [
  "error",
  "errors",
  "detail",
  "message",
  "msg",
  "error_msg",
  "error_message",
  "error_description",
  "status_msg",
  "base_resp",
  "metadata",
  "raw",
];

/** Reads `{error}`, `[{error}]`, `{object: "error"}`, `{detail}`, `{message}`, JSON within text, web pages, and so on. */
export function readErrorBody(body: unknown): ErrorReport {
  const found: Found = { texts: [], codes: [], status: undefined };
  collect(body, found, 0);
  const [first = "", ...others] = found.texts.filter((text, at) => found.texts.indexOf(text) === at);
  // "Provider returned error" needs what is behind it.
  const more = others.filter((text) => !first.includes(text)).slice(0, 2);
  return {
    codes: found.codes.join(" ").toLowerCase(),
    status: found.status,
    message: [first, ...more].join(" | ") || unknownShape(body),
  };
}

interface Found {
  readonly texts: string[];
  readonly codes: string[];
  status: number | undefined;
}

function collect(value: unknown, found: Found, depth: number): void {
  if (depth > 8) return;
  if (typeof value === "string") {
    collectText(value, found, depth);
    return;
  }
  if (Array.isArray(value)) {
    for (const item of value.slice(0, 3)) collect(item, found, depth + 1);
    return;
  }
  if (!isRecord(value)) return;
  for (const key of ["type", "code", "status", "error_code", "status_code"]) {
    const code = value[key];
    if (typeof code === "string") found.codes.push(code);
    if (typeof code === "number" && code >= 400 && code < 600) found.status ??= code;
  }
  for (const key of keys) collect(value[key], found, depth + 1);
}

function collectText(text: string, found: Found, depth: number): void {
  const trimmed = text.trim();
  if (trimmed === "") return;
  const parsed = parseBody(trimmed);
  if (typeof parsed !== "string") {
    const before = found.texts.length;
    collect(parsed, found, depth + 1);
    if (found.texts.length > before) return;
  }
  found.texts.push(/^<(!doctype|html|head|body|\?xml)/i.test(trimmed) ? pageText(trimmed) : trimmed);
}

/** Proxies in between answer with pages for people. */
function pageText(page: string): string {
  const title = /<(title|h1)\b[^>]*>([^<]*)/i.exec(page)?.[2]?.trim() ?? "";
  return title === "" ? "a web page" : `a web page: ${title}`;
}

function unknownShape(body: unknown): string {
  return isRecord(body) && Object.keys(body).length > 0 ? JSON.stringify(body) : "";
}

/** True for a body, or an event of a stream, that tells a failure and not a piece of an answer. */
export function isErrorBody(value: unknown, eventName?: string): boolean {
  if (eventName === "error") return true;
  if (Array.isArray(value)) return value.length > 0 && value.every((item) => isErrorBody(item));
  if (!isRecord(value)) return false;
  if (value.error || value.object === "error" || value.type === "error") return true;
  const base = value.base_resp;
  if (isRecord(base) && typeof base.status_code === "number" && base.status_code !== 0) return true;
  if ("choices" in value || "content" in value || "type" in value || "usage" in value) return false;
  return ["detail", "message", "msg", "errors", "error_msg"].some(
    (key) => (typeof value[key] === "string" && value[key] !== "") || Array.isArray(value[key]),
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
