/** Longer than any address that people or pages use. */
const maxLength = 2000;
/** What cannot be in an address, in plain text, HTML or Markdown. */
const ends = /[\s<>"'`{}|\\^\p{Cc}]/u;
/** Comes after an address and is not a part of it, in the writing systems of the world. */
const closing = /[.,;:!?)\]*_~…。，、；：！？）】」』》”’»]$/u;
/** Where an address of a message ends in any case: after it comes text without a blank. */
const unspaced = /[。，、；：！？）】」』》”’»]/u;
const schemes = /https?:\/\//giu;
/** `example.org/page`: only from where no letter, dot or sign of an address goes before. */
const bareHost = /(?<![\p{L}\p{N}@:/._%-])(?:[\p{L}\p{N}-]{1,63}\.){1,10}\p{L}{2,63}(?![\p{L}\p{N}@-])(?::\d{1,5})?/gu;

/** An http or https address in the one way in which it is compared: without its fragment. Undefined for all else. */
export function normalAddress(text: string): string | undefined {
  if (text.length > maxLength || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") return undefined;
  url.hash = "";
  return url.href;
}

/**
 * The web addresses in a text, normalised, at most `limit`. Where it is not clear how far one goes (a full stop or a
 * bracket behind it), each way to read it counts. Takes time in proportion to the text.
 */
export function addressesIn(text: string, limit: number): readonly string[] {
  const found = new Set<string>();
  const add = (address: string): void => {
    const normal = normalAddress(address);
    if (normal !== undefined && found.size < limit) found.add(normal);
  };
  for (const { index } of firstOf(text.matchAll(schemes), 2 * limit)) readings(textFrom(text, index)).forEach(add);
  for (const { index } of firstOf(text.matchAll(bareHost), 2 * limit)) {
    for (const reading of readings(textFrom(text, index))) {
      add(`https://${reading}`);
      add(`http://${reading}`);
    }
  }
  return [...found];
}

/** So many of a text are kept. */
const mostKept = 100;

/** Those of a text that a model wrote which it did not make up. */
export function knownAddressesIn(text: string, knows: (url: string) => boolean): readonly string[] {
  return addressesIn(text, mostKept).filter(knows);
}

function* firstOf<T>(all: Iterable<T>, count: number): Generator<T> {
  let left = count;
  for (const one of all) {
    if (left-- <= 0) return;
    yield one;
  }
}

/** From here to where no address goes on. */
function textFrom(text: string, start: number): string {
  // Markdown escapes what would end its link.
  const piece = text.slice(start, start + maxLength + 1).replace(/\\(?=[()[\]_*])/g, "");
  const end = piece.search(ends);
  return end === -1 ? piece : piece.slice(0, end);
}

/** How far an address may go: to its end, without what closes a sentence, to where a bracket closes around it. */
function readings(whole: string): readonly string[] {
  const all = [whole];
  for (const piece of [whole, upToBracket(whole), whole.slice(0, indexOr(whole.search(unspaced), whole.length))]) {
    let bare = piece;
    for (let left = 8; left > 0 && closing.test(bare); left--) bare = bare.slice(0, -1);
    all.push(piece, bare);
  }
  for (const piece of [...all]) if (piece.includes("&amp;")) all.push(piece.replaceAll("&amp;", "&"));
  return [...new Set(all)].filter((reading) => reading.length <= maxLength);
}

/** `(https://example.org)`, `[one](https://example.org/a_(b))`: up to the first bracket that nothing in it has opened. */
function upToBracket(text: string): string {
  let open = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (character === "(" || character === "[") open += 1;
    if (character === ")" || character === "]") open -= 1;
    if (open < 0) return text.slice(0, index);
  }
  return text;
}

function indexOr(index: number, otherwise: number): number {
  return index === -1 ? otherwise : index;
}

/**
 * A text for the question whether an address is in it, however it is written: decoded, in lower case, without blanks.
 * Of an address it is what follows the scheme.
 */
export function looseText(text: string): string {
  let loose = text;
  for (let round = 0; round < 3 && loose.includes("%"); round++) {
    loose = loose.replace(/(?:%[0-9a-f]{2})+/gi, (bytes) =>
      Buffer.from(bytes.replaceAll("%", ""), "hex").toString("utf8"),
    );
  }
  return loose
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[\s+\p{Cc}\p{Cf}]/gu, "");
}
