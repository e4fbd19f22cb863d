import { h, icon } from "../../parts/dom.js";
import { localeOfPage } from "../../words/language.js";
import type { DeviceView } from "./devices-http.js";
import { devicesWords } from "./words.js";

interface RowActions {
  rename(device: DeviceView): void;
  remove(device: DeviceView): void;
}

export function deviceRow(device: DeviceView, actions: RowActions): HTMLElement {
  const { name, browser, address, firstSeen, lastSeen, isCurrent } = device;
  const seen = isCurrent ? devicesWords.t("inUse") : devicesWords.t("lastUsed", { time: timeOf(lastSeen) });
  const where = name === browser ? address : `${browser} · ${address}`;
  const about = [
    where,
    seen,
    devicesWords.t("signedIn", { date: firstSeen.toLocaleDateString(localeOfPage(), { dateStyle: "medium" }) }),
  ];
  const rename = h(
    "button",
    {
      type: "button",
      class: "icon-button",
      "aria-label": devicesWords.t("renameNamed", { name }),
      onclick: () => actions.rename(device),
    },
    icon("pencil"),
  );
  const remove = h(
    "button",
    {
      type: "button",
      class: "quiet",
      "aria-label": devicesWords.t("signOutNamed", { name }),
      onclick: () => actions.remove(device),
    },
    devicesWords.t("signOut"),
  );
  return h(
    "li",
    { class: "device" },
    h(
      "div",
      { class: "device-about" },
      h(
        "span",
        { class: "device-name" },
        name,
        isCurrent ? h("span", { class: "chip" }, devicesWords.t("thisDevice")) : undefined,
      ),
      ...about.map((fact) => h("span", { class: "device-fact" }, fact)),
    ),
    rename,
    remove,
  );
}

function timeOf(date: Date): string {
  return date.toLocaleString(localeOfPage(), { dateStyle: "medium", timeStyle: "short" });
}
