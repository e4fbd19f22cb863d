import type { JobView } from "../gateway/gateway-views.js";
import { h, setChildren } from "../parts/dom.js";

/** The scheduled jobs, folded away below the chats; read when somebody opens the list. */
export function createJobsPane(
  read: () => Promise<readonly JobView[]>,
  open: (sessionKey: string) => void,
): HTMLElement {
  const list = h("ul", { class: "job-list" });
  const element = h("details", { class: "jobs" }, h("summary", {}, "Scheduled"), list);

  const show = async (): Promise<void> => {
    if (!element.open) return;
    const jobs = await read().catch(() => undefined);
    const said = jobs === undefined ? "The list cannot be read." : "Nothing is scheduled. Just ask for it.";
    setChildren(list, jobs === undefined || jobs.length === 0 ? [h("li", { class: "none" }, said)] : jobs.map(row));
  };
  const row = ({ title, sessionKey, next }: JobView): HTMLElement => {
    const when = next === undefined ? "off" : next.toLocaleString([], { dateStyle: "short", timeStyle: "short" });
    const button = h("button", { type: "button", class: "link", onclick: () => open(sessionKey) }, title);
    return h("li", {}, button, h("span", { class: "session-meta" }, when));
  };
  element.addEventListener("toggle", () => void show());
  return element;
}
