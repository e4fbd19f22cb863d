import { ChannelError } from "../../errors.js";
import type { OwnerToDo } from "../channel.js";

const scanIt = {
  en: "Scan this code with the phone: WhatsApp → Settings → Linked devices → Link a device.",
  zh: "用手机扫描此代码：WhatsApp → 设置 → 已关联的设备 → 关联设备。",
};

/** Whether the bridge is logged in to WhatsApp, as far as it tells. */
export class Link {
  readonly #lostMs: number;
  readonly #onLost: (error: ChannelError) => void;
  #isConnected = false;
  #code: string | undefined;
  /** How it is, in the bridge's own words. */
  #words: string | undefined;
  #isForOwner = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `onLost`: it was without WhatsApp for `lostMs`, and shows no code to scan. */
  constructor(lostMs: number, onLost: (error: ChannelError) => void) {
    this.#lostMs = lostMs;
    this.#onLost = onLost;
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** A connection to the bridge begins: it tells again how it is. */
  begin(): void {
    this.#isConnected = false;
    this.#code = undefined;
    this.#words = undefined;
    this.#isForOwner = false;
    this.#await();
  }

  /** `reason`: why there is no connection, in a word of our own bridge. */
  noteStatus(status: string, words?: string, reason?: string): void {
    this.#isConnected = status === "connected";
    this.#words = words;
    this.#isForOwner = words !== undefined && reason !== "lost";
    this.#code = undefined;
    if (this.#isConnected) this.end();
    else this.#await();
  }

  /** The bridge repeats its last code also when somebody has scanned it long ago. */
  noteCode(code: string): void {
    if (this.#isConnected) return;
    this.#code = code;
    this.end();
  }

  toDo(): OwnerToDo | undefined {
    if (this.#code !== undefined) return { text: scanIt, scan: this.#code };
    if (this.#words === undefined || !this.#isForOwner) return undefined;
    return { text: { en: this.#words, zh: this.#words } };
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #await(): void {
    this.#timer ??= setTimeout(() => {
      const what = "The WhatsApp bridge runs, but it is not connected to WhatsApp";
      const todo =
        "If its device was removed on the phone, delete the bridge's folder whatsapp-auth and start it again";
      const words = this.#words ?? `${todo}.`;
      this.#onLost(new ChannelError(`${what}. ${words}`, { retryable: true }));
    }, this.#lostMs);
  }
}
