import { fileView, type LoadFile, sentFileView } from "../files/file-view.js";
import type { OutgoingMessage } from "../outbox/outbox-store.js";
import { h, icon, setText } from "../parts/dom.js";
import { durationOf } from "../parts/format.js";
import type {
  AssistantItem,
  DividerItem,
  Item,
  NoticeItem,
  PlanItem,
  ToolItem,
  UserItem,
} from "../session/view-state.js";
import type { ItemView } from "./item-view.js";
import { MarkdownView } from "./markdown/view.js";
import { RetryLine, type RetryTurn } from "./retry-line.js";
import { chatWords } from "./words.js";

export function createItemView(item: Item, load: LoadFile, retryTurn: RetryTurn): ItemView<Item> {
  const view = createView(item, load, retryTurn);
  view.element.dataset.key = item.key;
  return view;
}

function createView(item: Item, load: LoadFile, retryTurn: RetryTurn): ItemView<Item> {
  // The view of an item only ever gets items of the same kind: the key names the kind.
  switch (item.kind) {
    case "user":
      return userView(load) as ItemView<Item>;
    case "assistant":
      return assistantView() as ItemView<Item>;
    case "tool":
      return toolView() as ItemView<Item>;
    case "notice":
      return noticeView(retryTurn) as ItemView<Item>;
    case "divider":
      return dividerView() as ItemView<Item>;
    case "plan":
      return planView() as ItemView<Item>;
    case "file":
      return fileView(load) as ItemView<Item>;
    default: {
      const never: never = item;
      return never;
    }
  }
}

function userView(load: LoadFile): ItemView<UserItem> {
  const sender = h("div", { class: "sender" });
  const text = h("div", { class: "bubble" });
  const files = h("ul", { class: "files", "aria-label": chatWords.t("files") });
  const state = h("div", { class: "message-state" });
  const element = h("article", { class: "message user", "aria-label": chatWords.t("you") }, sender, text, files, state);
  return {
    element,
    update(item) {
      if (item.sender !== undefined) element.setAttribute("aria-label", item.sender);
      show(sender, item.sender ?? "");
      show(text, item.text);
      files.hidden = item.files.length === 0;
      if (item.files.length !== files.childElementCount)
        files.replaceChildren(...item.files.map((file) => sentFileView(file, load)));
      show(state, item.status === "queued" ? chatWords.t("queued") : "");
      element.title = clockOf(item.at);
    },
  };
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

function assistantView(): ItemView<AssistantItem> {
  const thought = h("div", { class: "thought" });
  const thinking = h("details", { class: "fold thinking" }, h("summary", {}, chatWords.t("thinking")), thought);
  const body = h("div", { class: "markdown" });
  const files = h("ul", { class: "files", "aria-label": chatWords.t("files") });
  const state = h("div", { class: "message-state" });
  const element = h(
    "article",
    { class: "message assistant", "aria-label": chatWords.t("assistant") },
    thinking,
    body,
    files,
    state,
  );
  const answer = new MarkdownView(body);
  return {
    element,
    update(item) {
      thinking.hidden = item.thinking === "";
      setText(thought, item.thinking);
      answer.show(item.text, item.isStreaming);
      showFiles(files, item.files);
      show(state, item.isPartial && item.text !== "" ? chatWords.t("cutOff") : "");
      element.classList.toggle("streaming", item.isStreaming && item.text !== "");
      element.hidden = item.text === "" && item.thinking === "" && item.files.length === 0;
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

function dividerView(): ItemView<DividerItem> {
  const text = h("span");
  return {
    element: h("div", { class: "divider", role: "separator" }, text),
    update: (item) => setText(text, item.text),
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
      setText(title, `Plan: ${item.goal}`);
      setText(status, item.status);
      const lines = item.steps.map((step) =>
        h("li", { "data-status": step.status }, step.text, h("span", { class: "tool-status" }, step.status)),
      );
      steps.replaceChildren(...lines);
    },
  };
}

function show(element: HTMLElement, text: string): void {
  element.hidden = text === "";
  setText(element, text);
}

function showFiles(list: HTMLElement, files: readonly string[]): void {
  list.hidden = files.length === 0;
  if (files.length !== list.childElementCount) list.replaceChildren(...files.map((file) => h("li", {}, file)));
}

function clockOf(at: string): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? "" : date.toLocaleString();
}
