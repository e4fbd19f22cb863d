import { h, icon, setText } from "../../parts/dom.js";
import { frameWords } from "../words.js";
import { PutAway } from "./put-away.js";

export interface Banners {
  readonly element: HTMLElement;
  /** When the next attempt to connect starts (Unix ms); `undefined` once there is a connection. */
  showOffline(nextAttemptAt: number | undefined): void;
  /** Sentences about what is wrong with the gateway; each can be put away. */
  showProblems(problems: readonly string[]): void;
  /** Something that the reader asked for did not work. */
  showFailure(text: string): void;
}

/** `lastUpdated` says beside it how old what is shown is. */
export function createBanners(retryNow: () => void, lastUpdated: HTMLElement): Banners {
  const offlineText = h("span");
  const retry = h("button", { type: "button", class: "link", onclick: retryNow }, frameWords.t("tryNow"));
  const offline = h("div", { class: "banner offline", role: "status" }, offlineText, lastUpdated, retry);
  const problems = createProblems();
  const failures = h("div", { role: "alert" });
  let tick: ReturnType<typeof setInterval> | undefined;
  offline.hidden = true;

  return {
    element: h("div", { class: "banners" }, offline, problems.element, failures),
    showOffline(nextAttemptAt) {
      clearInterval(tick);
      offline.hidden = nextAttemptAt === undefined;
      if (nextAttemptAt === undefined) {
        // What failed meanwhile can be done now.
        failures.replaceChildren();
        return setText(offlineText, "");
      }
      const describe = (): void => {
        const seconds = Math.ceil((nextAttemptAt - Date.now()) / 1000);
        retry.hidden = seconds <= 0;
        setText(offlineText, frameWords.t(seconds > 0 ? "offlineIn" : "offlineNow", { seconds }));
      };
      describe();
      tick = setInterval(describe, 1000);
    },
    showProblems: problems.show,
    showFailure(text) {
      failures.replaceChildren(note("failure", text, () => undefined));
    },
  };
}

/** Where the page is narrow they are one line that says how many there are, until the reader opens it. */
function createProblems(): { readonly element: HTMLElement; show(problems: readonly string[]): void } {
  const putAway = new PutAway(localStorage);
  const count = h("button", { type: "button", class: "banner problem-count", "aria-expanded": "false" });
  const element = h("div", { class: "problems" }, count);
  const showCount = (): void => {
    const n = element.childElementCount - 1;
    count.hidden = n === 0;
    setText(count, frameWords.count(n, "problems_one", "problems_many"));
  };
  count.addEventListener("click", () => {
    count.setAttribute("aria-expanded", String(element.classList.toggle("is-open")));
  });
  count.hidden = true;
  return {
    element,
    show(problems) {
      const notes = putAway.openOf(problems).map((problem) =>
        note("problem", problem, () => {
          putAway.add(problem);
          queueMicrotask(showCount);
        }),
      );
      element.replaceChildren(count, ...notes);
      showCount();
    },
  };
}

function note(kind: string, text: string, onDismiss: () => void): HTMLElement {
  const dismiss = h(
    "button",
    { type: "button", class: "icon-button", "aria-label": frameWords.t("dismiss") },
    icon("close"),
  );
  const element = h("div", { class: `banner ${kind}` }, h("span", {}, text), dismiss);
  dismiss.addEventListener("click", () => {
    onDismiss();
    element.remove();
  });
  return element;
}
