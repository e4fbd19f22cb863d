import type { StatusView } from "../gateway/gateway-views.js";
import { h, setText } from "../parts/dom.js";
import { chatWords } from "./words.js";

/**
 * Says where the answer goes when the chat that is open runs on another channel, and lets the reader choose. Each chat
 * keeps its choice in this browser; at first the answer is seen here alone.
 */
export class Destination {
  readonly element: HTMLElement;
  readonly #kept: Pick<Storage, "getItem" | "setItem" | "removeItem">;
  readonly #name = h("span");
  readonly #select = h(
    "select",
    { id: "destination" },
    h("option", { value: "here" }, chatWords.t("onlyHere")),
    h("option", { value: "there" }),
  );
  #key: string | undefined;

  constructor(kept: Pick<Storage, "getItem" | "setItem" | "removeItem">) {
    this.#kept = kept;
    this.#select.addEventListener("change", () => this.#keep());
    const label = h("label", { class: "column", for: "destination" }, this.#name, this.#select);
    this.element = h("div", { class: "destination", hidden: true }, label);
  }

  /** `channels`: those that messages can be sent on. */
  show(key: string | undefined, channels: StatusView["platforms"]): void {
    const channel = key?.slice(0, key.indexOf(":")) ?? "";
    const found = channels.find(({ name }) => name === channel);
    const isElsewhere = key !== undefined && found !== undefined && !key.includes(":spawn:");
    this.#key = isElsewhere ? key : undefined;
    this.element.hidden = !isElsewhere;
    if (!isElsewhere) return;
    const name = found.title;
    setText(this.#name, chatWords.t("runsOn", { channel: name }));
    const there = this.#select.options.item(1);
    if (there !== null) setText(there, chatWords.t("alsoThere", { channel: name }));
    this.#select.value = this.#kept.getItem(this.#entry(key)) === "there" ? "there" : "here";
  }

  /** What is said to the gateway itself is not for the people there. */
  isAlsoThere(text: string): boolean {
    return this.#key !== undefined && this.#select.value === "there" && !text.startsWith("/");
  }

  #keep(): void {
    if (this.#key === undefined) return;
    if (this.#select.value === "there") this.#kept.setItem(this.#entry(this.#key), "there");
    else this.#kept.removeItem(this.#entry(this.#key));
  }

  #entry(key: string): string {
    return `maxclaw answers ${key}`;
  }
}
