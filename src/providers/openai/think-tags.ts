import type { ProviderChunk } from "../provider.js";

const openTag = /^<(think|thinking|thought)>/i;
const closeTag = /<\/(?:think|thinking|thought)>/i;
const longestTag = "</thinking>".length;

/** What is remembered of a model, so that its second answer is read right from its beginning. */
export interface ThinkingHabits {
  /** It thinks without an opening tag, which its template holds already. */
  opensInPrompt: boolean;
}

/**
 * Tells thinking that is in the text, between tags, from the text. Tags count at the beginning only: what comes
 * later, or within code, is text about tags. Where a template holds the opening tag only the closing one comes: then
 * what was told as text is told again as `was_thinking`, and held back from the next answer on.
 */
export class ThinkTags {
  readonly #habits: ThinkingHabits;
  #stage: "beginning" | "thinking" | "held" | "text" | "past" = "beginning";
  /** What cannot be told yet: blanks, a tag that is not whole, all of it while held. */
  #waiting = "";
  /** The thinking, or the text, so far. */
  #said = "";
  /** Blanks at the beginning of the thinking, which may be all there is of it. */
  #heldBack = "";
  #hasOwnField = false;
  #wasThinking = false;

  constructor(habits: ThinkingHabits) {
    this.#habits = habits;
  }

  /** The server tells thinking in a field of its own. */
  ownField(): void {
    this.#hasOwnField = true;
  }

  *read(text: string): Generator<ProviderChunk> {
    if (text === "") return;
    if (this.#stage === "past") return yield { kind: "text", text };
    this.#waiting += text;
    yield* this.#go(false);
  }

  /** A call comes, or the end, and nothing waits any longer. `isWhole`: the answer is over, and nothing cut it. */
  *close(isWhole: boolean): Generator<ProviderChunk> {
    yield* this.#go(true);
    // A tag that was never closed began no thinking. Nobody loses what was said.
    if (this.#stage === "thinking" && isWhole) yield { kind: "text", text: this.#said };
    this.#stage = "past";
  }

  *#go(isClosing: boolean): Generator<ProviderChunk> {
    for (;;) {
      const stage = this.#stage;
      const { length } = this.#waiting;
      yield* this.#step(isClosing);
      if (this.#stage === stage && this.#waiting.length === length) return;
    }
  }

  *#step(isClosing: boolean): Generator<ProviderChunk> {
    switch (this.#stage) {
      case "beginning":
        this.#begin(isClosing);
        return;
      case "thinking":
        return yield* this.#think(isClosing);
      case "held":
        return yield* this.#hold(isClosing);
      case "text":
        return yield* this.#talk(isClosing);
      case "past": {
        const text = this.#take(this.#waiting.length);
        if (text !== "") yield { kind: "text", text };
        return;
      }
      default:
        this.#stage satisfies never;
    }
  }

  #begin(isClosing: boolean): void {
    const shown = this.#waiting.trimStart();
    if (shown === "" && !isClosing) return;
    const tag =
      openTag.exec(shown)?.[0] ?? (this.#hasOwnField ? /^<\/(think|thinking|thought)>/i.exec(shown)?.[0] : undefined);
    if (tag !== undefined) {
      this.#waiting = shown.slice(tag.length);
      if (tag.startsWith("</")) this.#wasThinking = true;
      else [this.#stage, this.#said] = ["thinking", tag];
      return;
    }
    if (!isClosing && mayBecomeTag(shown)) return;
    // Blanks that are between the thinking and the text belong to neither.
    if (this.#wasThinking) this.#waiting = shown;
    this.#said = "";
    if (this.#wasThinking || this.#hasOwnField) this.#stage = "past";
    else this.#stage = this.#habits.opensInPrompt ? "held" : "text";
  }

  *#think(isClosing: boolean): Generator<ProviderChunk> {
    const end = closeTag.exec(this.#waiting);
    const text = this.#take(end?.index ?? this.#waiting.length - (isClosing ? 0 : openEnd(this.#waiting)));
    this.#said += text;
    this.#heldBack += text;
    if (this.#heldBack.trim() !== "") {
      yield { kind: "thinking", text: this.#heldBack };
      this.#heldBack = "";
    }
    if (end === null) return;
    this.#take(end[0].length);
    this.#heldBack = "";
    this.#wasThinking = true;
    this.#stage = "beginning";
  }

  /** Holds the text back until its end says what it was. */
  *#hold(isClosing: boolean): Generator<ProviderChunk> {
    const end = closeTag.exec(this.#waiting);
    if (end !== null && isAboutTags(this.#waiting.slice(0, end.index))) {
      this.#stage = "past";
      return;
    }
    if (end !== null) {
      const text = this.#take(end.index);
      this.#take(end[0].length);
      if (text.trim() !== "") yield { kind: "thinking", text };
      this.#wasThinking = true;
      this.#stage = "beginning";
      return;
    }
    if (!isClosing) return;
    // It does not always think: from now on nothing is held back.
    this.#habits.opensInPrompt = false;
    this.#stage = "past";
  }

  *#talk(isClosing: boolean): Generator<ProviderChunk> {
    const end = closeTag.exec(this.#waiting);
    const text = this.#take(end?.index ?? this.#waiting.length - (isClosing ? 0 : openEnd(this.#waiting)));
    this.#said += text;
    if (text !== "") yield { kind: "text", text };
    if (end === null) return;
    const tag = this.#take(end[0].length);
    if (isAboutTags(this.#said)) {
      this.#said += tag;
      yield { kind: "text", text: tag };
      return;
    }
    this.#habits.opensInPrompt = true;
    this.#wasThinking = true;
    this.#stage = "beginning";
    yield { kind: "was_thinking", text: this.#said };
  }

  #take(length: number): string {
    const text = this.#waiting.slice(0, length);
    this.#waiting = this.#waiting.slice(length);
    return text;
  }
}

/** True where a closing tag behind this text is one that is spoken of: with its opening one, in code, or in a sentence. */
function isAboutTags(before: string): boolean {
  if (/<(think|thinking|thought)>/i.test(before)) return true;
  if ((before.match(/```/g) ?? []).length % 2 === 1) return true;
  const line = before.slice(before.lastIndexOf("\n") + 1);
  if ((line.match(/`/g) ?? []).length % 2 === 1) return true;
  return line.trim() !== "" && /[\s"'“‘«([{<`]$/.test(line);
}

function mayBecomeTag(text: string): boolean {
  const lower = text.toLowerCase();
  return ["<think>", "<thinking>", "<thought>", "</think>", "</thinking>", "</thought>"].some((tag) =>
    tag.startsWith(lower),
  );
}

/** How many characters at the end may be the beginning of a closing tag. */
function openEnd(text: string): number {
  const at = text.lastIndexOf("<");
  if (at < 0 || text.length - at >= longestTag) return 0;
  return mayBecomeTag(text.slice(at)) ? text.length - at : 0;
}
