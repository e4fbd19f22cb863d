import { ask } from "../../parts/dialogs.js";
import { h } from "../../parts/dom.js";
import { type DevicesApi, readDevices } from "./devices-http.js";
import { devicesWords } from "./words.js";

export interface DeviceListeners {
  /** This device is signed out. */
  onSignedOut(): void;
  /** Something was written here that the gateway does not have: it goes with the device. */
  hasUnsent(): boolean;
  onFailure(error: unknown): void;
}

/** Below the chats: opens the list of devices, and signs this one out. Without a token there is neither. */
export class DeviceButtons {
  readonly #api: DevicesApi;
  readonly #listeners: DeviceListeners;
  readonly #open: HTMLButtonElement;
  readonly #signOut: HTMLButtonElement;
  readonly element: HTMLElement;

  constructor(api: DevicesApi, listeners: DeviceListeners) {
    this.#api = api;
    this.#listeners = listeners;
    const button = (text: string, press: () => Promise<void>): HTMLButtonElement =>
      h("button", { type: "button", class: "link", onclick: () => press().catch(listeners.onFailure) }, text);
    this.#open = button(devicesWords.t("devices"), () => this.#show());
    this.#signOut = button(devicesWords.t("signOut"), () => this.#leave());
    this.element = h("div", { class: "device-buttons", hidden: true }, this.#open, this.#signOut);
  }

  /** Looks whether there is anything to sign out of. */
  refresh(): void {
    readDevices(this.#api).then(
      ({ needsToken, devices }) => {
        this.element.hidden = !needsToken;
        this.#signOut.hidden = !devices.some(({ isCurrent }) => isCurrent);
      },
      // The next connection looks again.
      () => undefined,
    );
  }

  /** Each undefined where there is none. */
  get actions(): { readonly show: (() => void) | undefined; readonly signOut: (() => void) | undefined } {
    const { element } = this;
    const run = (press: () => Promise<void>) => (): void => void press().catch(this.#listeners.onFailure);
    return {
      show: element.hidden ? undefined : run(() => this.#show()),
      signOut: element.hidden || this.#signOut.hidden ? undefined : run(() => this.#leave()),
    };
  }

  async #show(): Promise<void> {
    const { openDevices } = await import("./devices.js");
    await openDevices(this.#api, this.#listeners);
  }

  async #leave(): Promise<void> {
    const [title, text, action] = [devicesWords.t("signOutHere"), devicesWords.t("unsent"), devicesWords.t("signOut")];
    if (this.#listeners.hasUnsent() && (await ask({ title, text, action, isDangerous: true })) === undefined) return;
    await this.#api.post("api/logout", {});
    this.#listeners.onSignedOut();
  }
}
