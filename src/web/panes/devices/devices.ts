import { sentenceOf } from "../../failures/said.js";
import { ask } from "../../parts/dialogs.js";
import { h, setChildren } from "../../parts/dom.js";
import type { DeviceListeners } from "./device-buttons.js";
import { deviceRow } from "./device-row.js";
import { type DevicesApi, type DeviceView, deviceAddress, invite, readDevices } from "./devices-http.js";
import { invitationCard } from "./invitation-card.js";
import { devicesWords } from "./words.js";

const lookMs = 4000;

/** Shows which browsers are signed in, until the reader closes it. */
export async function openDevices(api: DevicesApi, listeners: DeviceListeners): Promise<void> {
  const devices = new DevicesDialog(api, listeners);
  await devices.refresh();
  devices.open();
}

class DevicesDialog {
  readonly #api: DevicesApi;
  readonly #listeners: DeviceListeners;
  readonly #list = h("ul", { class: "device-list" });
  readonly #invitation = h("div", { class: "device-invitation", role: "status" });
  readonly #failure = h("p", { class: "device-failure", role: "alert" });
  readonly #add: HTMLButtonElement;
  readonly #dialog: HTMLDialogElement;
  #known: ReadonlySet<string> = new Set();
  #looking: ReturnType<typeof setInterval> | undefined;

  constructor(api: DevicesApi, listeners: DeviceListeners) {
    this.#api = api;
    this.#listeners = listeners;
    const button = (look: string, text: string, press: () => void): HTMLButtonElement =>
      h("button", { type: "button", class: look, onclick: press }, text);
    this.#add = button("primary", devicesWords.t("addPhone"), () => this.#work(() => this.#invite()));
    this.#dialog = h(
      "dialog",
      { class: "devices", "aria-labelledby": "devices-title" },
      h("h2", { id: "devices-title" }, devicesWords.t("devices")),
      h("p", {}, devicesWords.t("about")),
      this.#list,
      this.#invitation,
      this.#failure,
      h(
        "div",
        { class: "dialog-actions" },
        button("quiet", devicesWords.t("close"), () => this.#dialog.close()),
        this.#add,
      ),
    );
    this.#dialog.addEventListener("close", () => {
      clearInterval(this.#looking);
      this.#dialog.remove();
    });
  }

  open(): void {
    document.body.append(this.#dialog);
    this.#dialog.showModal();
  }

  async refresh(): Promise<void> {
    const { devices } = await readDevices(this.#api);
    const fresh = devices.find(({ id }) => !this.#known.has(id));
    if (this.#looking !== undefined && fresh !== undefined) this.#onJoined(fresh);
    this.#known = new Set(devices.map(({ id }) => id));
    const actions = {
      rename: (device: DeviceView) => this.#work(() => this.#rename(device)),
      remove: (device: DeviceView) => this.#work(() => this.#remove(device)),
    };
    setChildren(
      this.#list,
      devices.map((device) => deviceRow(device, actions)),
    );
  }

  /** What goes wrong is told in the dialog: the page behind it cannot be read. */
  #work(run: () => Promise<void>): void {
    this.#failure.textContent = "";
    run().catch((error: unknown) => {
      this.#failure.textContent = sentenceOf(error);
    });
  }

  async #invite(): Promise<void> {
    this.#add.disabled = true;
    try {
      const invitation = await invite(this.#api);
      const card = await invitationCard(invitation);
      this.#invitation.replaceChildren(card);
      card.scrollIntoView({ block: "nearest" });
    } finally {
      this.#add.disabled = false;
    }
    clearInterval(this.#looking);
    this.#looking = setInterval(() => this.#work(() => this.refresh()), lookMs);
  }

  #onJoined({ name }: DeviceView): void {
    clearInterval(this.#looking);
    this.#looking = undefined;
    this.#invitation.replaceChildren(h("p", {}, devicesWords.t("joined", { name })));
  }

  async #rename(device: DeviceView): Promise<void> {
    const field = { label: devicesWords.t("name"), value: device.name, maxLength: 80 };
    const name = await ask({ title: devicesWords.t("renameDevice"), field, action: devicesWords.t("rename") });
    if (name === undefined) return;
    await this.#api.post(`${deviceAddress(device.id)}/rename`, { name });
    await this.refresh();
  }

  async #remove(device: DeviceView): Promise<void> {
    const loss = device.isCurrent && this.#listeners.hasUnsent() ? `${devicesWords.t("unsent")} ` : "";
    const answer = await ask({
      title: device.isCurrent ? devicesWords.t("signOutHere") : devicesWords.t("signOutOther", { name: device.name }),
      text: loss + devicesWords.t("comeBack"),
      action: devicesWords.t("signOut"),
      isDangerous: true,
    });
    if (answer === undefined) return;
    await this.#api.delete(deviceAddress(device.id));
    if (device.isCurrent) this.#listeners.onSignedOut();
    else await this.refresh();
  }
}
