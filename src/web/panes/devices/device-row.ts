import { h, icon } from "../../parts/dom.js";
import type { DeviceView } from "./devices-http.js";

interface RowActions {
  rename(device: DeviceView): void;
  remove(device: DeviceView): void;
}

export function deviceRow(device: DeviceView, actions: RowActions): HTMLElement {
  const { name, browser, address, firstSeen, lastSeen, isCurrent } = device;
  const seen = isCurrent ? "in use now" : `last used ${timeOf(lastSeen)}`;
  const where = name === browser ? address : `${browser} · ${address}`;
  const about = [where, seen, `signed in ${firstSeen.toLocaleDateString([], { dateStyle: "medium" })}`];
  const rename = h(
    "button",
    { type: "button", class: "icon-button", "aria-label": `Rename ${name}`, onclick: () => actions.rename(device) },
    icon("pencil"),
  );
  const remove = h(
    "button",
    { type: "button", class: "quiet", "aria-label": `Sign out ${name}`, onclick: () => actions.remove(device) },
    "Sign out",
  );
  return h(
    "li",
    { class: "device" },
    h(
      "div",
      { class: "device-about" },
      h("span", { class: "device-name" }, name, isCurrent ? h("span", { class: "chip" }, "this device") : undefined),
      ...about.map((fact) => h("span", { class: "device-fact" }, fact)),
    ),
    rename,
    remove,
  );
}

function timeOf(date: Date): string {
  return date.toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
}
