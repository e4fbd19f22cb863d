import { stateWord } from "../../client/notices.js";
import { fileView } from "../files/file-view.js";
import type { OutgoingMessage } from "../outbox/outbox-store.js";
import { h, icon, setText } from "../parts/dom.js";
import { durationOf } from "../parts/format.js";
import type { DividerItem, Item, NoticeItem, PlanItem, ToolItem } from "../session/view-state.js";
import { noticeWords } from "../session/words.js";
import { actionWords } from "./actions/words.js";
import type { ItemView } from "./item-view.js";
import { assistantView, type MessageWorld, show, showFiles, UserView } from "./message-views.js";
import { RetryLine, type RetryTurn } from "./retry-line.js";
import { chatWords } from "./words.js";

export function createItemView(item: Item, world: MessageWorld): ItemView<Item> {
  const view = createView(item, world);
  view.element.dataset.key = item.key;
  return view;
}

function createView(item: Item, world: MessageWorld): ItemView<Item> {
  // The view of an item only ever gets items of the same kind: the key names the kind.
  switch (item.kind) {
    case "user":
      return new UserView(world) as ItemView<Item>;
    case "assistant":
      return assistantView(world) as ItemView<Item>;
    case "tool":
      return toolView() as ItemView<Item>;
    case "notice":
      return noticeView(world.retryTurn) as ItemView<Item>;
    case "divider":
      return dividerView(world) as ItemView<Item>;
    case "plan":
      return planView() as ItemView<Item>;
    case "file":
      return fileView(world.loadFile) as ItemView<Item>;
    default: {
      const never: never = item;
      return never;
    }
  }
}

export function pendingView(actions: {
  retry(messageId: string): void;
  drop(messageId: string): void;
  isOnline(): boolean;
}): ItemView<OutgoingMessage> {
  const text = h("div", { class: "bubble" });
  const files = h("ul", { class: "files", "aria-label": chatWords.t("files") });
  const state = h("div", { class: "message-state", role: "status" });
  const element = h(
    "article",
    { class: "message user pending", "aria-label": chatWords.t("notSentYet") },
    text,
    files,
    state,
  );
  return {
    element,
    update(message) {
      show(text, message.text);
      showFiles(
        files,
        message.files.map(({ name }) => name),
      );
      element.classList.toggle("failed", message.error !== undefined);
      const { messageId, error } = message;
      if (error === undefined) return setText(state, chatWords.t(actions.isOnline() ? "sending" : "waitsForGateway"));
      const again = (): void => actions.retry(messageId);
      state.replaceChildren(
        `${chatWords.t("notSent", { reason: error })} `,
        h("button", { type: "button", class: "link", onclick: again }, chatWords.t("again")),
        " ",
        h("button", { type: "button", class: "link", onclick: () => actions.drop(messageId) }, chatWords.t("discard")),
      );
    },
  };
}

const statusWords = {
  preparing: "preparing",
  running: "running",
  done: "done",
  failed: "failed",
  unknown: "noResult",
} as const;

function toolView(): ItemView<ToolItem> {
  const name = h("span", { class: "tool-name" });
  const summary = h("span", { class: "tool-summary" });
  const status = h("span", { class: "tool-status" });
  const duration = h("span", { class: "tool-time" });
  const input = h("pre", { tabindex: "0" });
  const output = h("pre", { tabindex: "0" });
  const result = h("div", {}, h("div", { class: "label" }, chatWords.t("output")), output);
  const body = h("div", { class: "fold-body" }, h("div", { class: "label" }, chatWords.t("input")), input, result);
  const line = h("summary", {}, icon("tool"), name, summary, status, duration);
  const element = h("details", { class: "fold tool" }, line, body);
  let item: ToolItem | undefined;
  const fill = (): void => {
    if (item === undefined || !element.open) return;
    setText(input, item.input || "{}");
    setText(output, item.output);
    result.hidden = item.output === "";
  };
  // Long outputs are put into the page only when somebody wants to see them.
  element.addEventListener("toggle", fill);
  return {
    element,
    update(next) {
      item = next;
      element.dataset.status = next.status;
      setText(name, next.name);
      setText(summary, next.summary);
      setText(status, chatWords.t(statusWords[next.status]));
      setText(duration, next.durationMs === undefined ? "" : durationOf(next.durationMs));
      fill();
    },
  };
}

function noticeView(retryTurn: RetryTurn): ItemView<NoticeItem> {
  const text = h("div", { class: "notice-text" });
  const detail = h("pre", { tabindex: "0" });
  const fold = h("details", { class: "notice-detail" }, h("summary", {}, chatWords.t("details")), detail);
  const retry = new RetryLine(retryTurn);
  const element = h("div", { class: "notice", role: "note" }, text, retry.element, fold);
  return {
    element,
    update(item) {
      element.dataset.tone = item.tone;
      setText(text, item.text);
      fold.hidden = item.detail === undefined || item.detail === "";
      setText(detail, item.detail ?? "");
      retry.update(item);
    },
  };
}

function dividerView({ showEarlier }: Pick<MessageWorld, "showEarlier">): ItemView<DividerItem> {
  const text = h("span");
  const element = h("div", { class: "divider", role: "separator" }, text);
  return {
    element,
    update({ text: words, earlierSeq }) {
      setText(text, words);
      if (earlierSeq === undefined || element.childElementCount > 1) return;
      const show = h(
        "button",
        { type: "button", class: "link", onclick: () => showEarlier(earlierSeq) },
        actionWords.t("earlier"),
      );
      // What is in a separator is not read out.
      element.removeAttribute("role");
      element.append(show);
    },
  };
}

function planView(): ItemView<PlanItem> {
  const title = h("span", { class: "tool-name" });
  const status = h("span", { class: "tool-status" });
  const steps = h("ol", { class: "steps" });
  const body = h("div", { class: "fold-body" }, steps);
  return {
    element: h("details", { class: "fold plan", open: true }, h("summary", {}, title, status), body),
    update(item) {
      setText(title, noticeWords.t("plan", { goal: item.goal }));
      setText(status, stateWord(item.status, noticeWords.t));
      const lines = item.steps.map((step) =>
        h(
          "li",
          { "data-status": step.status },
          step.text,
          h("span", { class: "tool-status" }, stateWord(step.status, noticeWords.t)),
        ),
      );
      steps.replaceChildren(...lines);
    },
  };
}
