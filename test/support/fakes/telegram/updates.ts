import type { Socket } from "node:net";
import { type Json, type Reply, refusal, success } from "./wire.js";

interface Poll {
  readonly answer: (reply: Reply) => void;
  readonly limit: number;
}

/** What has happened and is not confirmed, and the ways to get it: by a long poll, or by a webhook. */
export class Updates {
  /** Of all polls, in order. */
  readonly offsets: number[] = [];
  readonly #notify: () => void;
  #waiting: Json[] = [];
  #nextId: number;
  #confirmedOffset = 0;
  #allowed: readonly string[] = [];
  #webhook = { url: "", secret: "" };
  #poll: Poll | undefined;

  constructor(firstId: number, notify: () => void) {
    this.#nextId = firstId;
    this.#notify = notify;
  }

  get pending(): number {
    return this.#waiting.length;
  }

  get confirmedOffset(): number {
    return this.#confirmedOffset;
  }

  /** The id of the next update that has none of its own. */
  get nextId(): number {
    return this.#nextId;
  }

  get webhook(): { readonly url: string; readonly secret: string } {
    return this.#webhook;
  }

  set webhook(webhook) {
    this.#webhook = webhook;
  }

  /** Hands the update to who polls, or keeps it. Returns its id. */
  push(update: Json): number {
    const updateId = typeof update.update_id === "number" ? update.update_id : this.#nextId;
    this.#nextId = Math.max(this.#nextId, updateId + 1);
    this.#waiting.push({ update_id: updateId, ...update });
    if (this.#poll !== undefined) {
      const now = this.#ready(this.#poll.limit);
      if (now.length > 0) this.#poll.answer(success(now));
    }
    return updateId;
  }

  get(params: Json, socket: Socket): Reply | Promise<Reply> {
    if (this.#webhook.url !== "") {
      return refusal(409, "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook first");
    }
    this.#poll?.answer(
      refusal(409, "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"),
    );
    this.#confirm(Number(params.offset ?? 0));
    if (Array.isArray(params.allowed_updates)) this.#allowed = params.allowed_updates.map(String);
    this.#notify();
    const limit = Math.min(Number(params.limit ?? 100), 100);
    const now = this.#ready(limit);
    const timeoutMs = Number(params.timeout ?? 0) * 1000;
    return now.length > 0 || timeoutMs === 0 ? success(now) : this.#wait(limit, timeoutMs, socket);
  }

  /** Forgets everything that is not confirmed. */
  drop(): void {
    this.#waiting = [];
  }

  endPoll(): void {
    this.#poll?.answer(success([]));
  }

  #confirm(offset: number): void {
    this.offsets.push(offset);
    if (offset > 0) {
      this.#confirmedOffset = Math.max(this.#confirmedOffset, offset);
      this.#waiting = this.#waiting.filter((update) => Number(update.update_id) >= offset);
    } else if (offset < 0) {
      this.#waiting = this.#waiting.slice(offset);
    }
  }

  #ready(limit: number): readonly Json[] {
    if (this.#allowed.length > 0)
      this.#waiting = this.#waiting.filter((update) => this.#allowed.some((kind) => kind in update));
    return this.#waiting.slice(0, limit);
  }

  #wait(limit: number, timeoutMs: number, socket: Socket): Promise<Reply> {
    return new Promise((resolve) => {
      const mine: Poll = {
        limit,
        answer: (reply) => {
          clearTimeout(timer);
          socket.removeListener("close", onClose);
          if (this.#poll === mine) this.#poll = undefined;
          resolve(reply);
        },
      };
      const onClose = (): void => mine.answer(success([]));
      const timer = setTimeout(onClose, timeoutMs);
      this.#poll = mine;
      socket.once("close", onClose);
    });
  }
}
