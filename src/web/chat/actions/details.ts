import { h } from "../../parts/dom.js";
import { costOf, durationOf, fullTimeOf, numberOf } from "../../parts/format.js";
import { placeBeside } from "../../parts/menu.js";
import type { AssistantItem } from "../../session/view-state.js";
import { actionWords } from "./words.js";

/** Who wrote an answer, and what it took: its turn's sums where it ended one. Shown beside `button` until Esc or a click elsewhere. */
export function openDetails(button: HTMLElement, item: AssistantItem): void {
  const heading = h("h2", { id: "message-details" }, actionWords.t("details"));
  const rows = rowsOf(item).flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]);
  const close = h(
    "button",
    { type: "button", class: "quiet", onclick: () => card.hidePopover() },
    actionWords.t("close"),
  );
  const card = h(
    "div",
    { class: "details-card", role: "dialog", "aria-labelledby": "message-details", popover: "auto", tabindex: "-1" },
    heading,
    h("dl", {}, ...rows),
    close,
  );
  document.body.append(card);
  card.addEventListener("toggle", (event) => {
    if (!(event instanceof ToggleEvent) || event.newState !== "closed") return;
    const hadFocus = card.contains(document.activeElement) || document.activeElement === document.body;
    card.remove();
    if (hadFocus) button.focus();
  });
  card.showPopover();
  placeBeside(card, button.getBoundingClientRect(), "start");
  close.focus();
}

function rowsOf({ made, turn, at }: AssistantItem): readonly (readonly [string, string])[] {
  const { t } = actionWords;
  const spent = turn ?? made;
  const rows: [string, string][] = [[t("at"), fullTimeOf(new Date(at))]];
  if (made !== undefined) rows.push([t("model"), made.model]);
  if (spent !== undefined) {
    const { input_tokens, cache_read_tokens, cache_write_tokens, output_tokens } = spent.usage;
    rows.push([t("tokensIn"), numberOf(input_tokens + cache_read_tokens + cache_write_tokens)]);
    rows.push([t("tokensOut"), numberOf(output_tokens)]);
    rows.push([t("cost"), spent.costUsd === undefined ? t("costUnknown") : costOf(spent.costUsd)]);
  }
  if (turn !== undefined) {
    rows.push([t("duration"), durationOf(turn.durationMs)]);
    rows.push([t("calls"), numberOf(turn.calls)]);
  }
  return rows;
}
