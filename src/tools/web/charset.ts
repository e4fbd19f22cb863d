import { decodeWindows } from "../../util/text/windows-charset.js";

/** The text of a page: by its byte order mark, what the server says, what the page says, or what fits. */
export function decodePage(body: Uint8Array, contentType: string): string {
  const labels = [markOf(body), charsetOf(contentType), metaCharset(body)];
  for (const label of labels) {
    const decoder = label === undefined ? undefined : decoderFor(label);
    if (decoder !== undefined) return decoder.decode(body);
  }
  try {
    // The end may have been cut in the middle of a character.
    return new TextDecoder("utf-8", { fatal: true }).decode(body, { stream: true });
  } catch {
    return decodeWindows(body, "windows-1252");
  }
}

function markOf([a, b, c]: Uint8Array): string | undefined {
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  if (a === 0xff && b === 0xfe) return "utf-16le";
  return a === 0xfe && b === 0xff ? "utf-16be" : undefined;
}

function charsetOf(contentType: string): string | undefined {
  return /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(contentType)?.[1];
}

function metaCharset(body: Uint8Array): string | undefined {
  const head = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, 4096)).toString("latin1");
  return (
    /<meta[^>]{0,300}?charset\s*=\s*["']?\s*([\w-]+)/i.exec(head)?.[1] ??
    /<\?xml[^>]{0,100}?encoding=["']([\w-]+)/i.exec(head)?.[1]
  );
}

function decoderFor(label: string): { decode(bytes: Uint8Array): string } | undefined {
  try {
    const decoder = new TextDecoder(label);
    const { encoding } = decoder;
    // Pages that say Latin 1 mean the first, and those that say GB 2312 the second.
    const isOfWindows = encoding === "windows-1252" || encoding === "gbk";
    return isOfWindows ? { decode: (bytes) => decodeWindows(bytes, encoding) } : decoder;
  } catch {
    return undefined;
  }
}
