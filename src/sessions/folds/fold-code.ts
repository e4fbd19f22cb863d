import { createHash } from "node:crypto";
import { addUsage, textOf } from "../../events/content.js";
import { tokensOf, tokensOfResult } from "../../events/content-tokens.js";
import { planAfter } from "../../events/folds/plan.js";
import { isClosed, stateAfter } from "../../events/folds/session-state.js";
import { modelUseOf, modelUsesOf } from "../../events/model-use.js";
import { messageIn } from "../../events/queued-message.js";
import { RetryTrail } from "../../events/retries/trail.js";
import { beginningOf } from "../document/beginning-of.js";
import { DocumentFold } from "../document/document.js";
import { roleOf } from "../document/document-line.js";
import { DocumentLines } from "../document/document-lines.js";
import { sizeOf } from "../document/document-pace.js";
import { DocumentUsage } from "../document/document-usage.js";
import { restedEntries } from "../history/compact-entries.js";
import { History } from "../history/history.js";
import { acceptableName, forUser, summaryText, toAssistantEntry, toUserEntry } from "../history/history-entries.js";
import { MessageTrail } from "../history/message-trail.js";
import { PlanTrail } from "../history/plan-trail.js";
import { TurnTrail } from "../history/turn-trail.js";
import { KnownAddresses } from "../known-addresses.js";
import { OpenTurn } from "../open-turn.js";
import { apply } from "../resident-session.js";
import { Spending } from "../spending.js";
import { PackedList } from "./packed-list.js";
import { foldsOf, restoreFolds } from "./session-folds.js";

/** What makes the folds of a session out of its events, and what keeps them. */
export const foldCode: readonly unknown[] = [
  ...[
    DocumentFold,
    DocumentLines,
    DocumentUsage,
    History,
    KnownAddresses,
    MessageTrail,
    OpenTurn,
    PlanTrail,
    RetryTrail,
    Spending,
    TurnTrail,
    PackedList,
  ],
  ...[apply, foldsOf, restoreFolds, isClosed, messageIn, stateAfter, planAfter, roleOf, sizeOf],
  ...[beginningOf, acceptableName, forUser, restedEntries, summaryText, toAssistantEntry, toUserEntry],
  ...[addUsage, textOf, tokensOf, tokensOfResult, modelUseOf, modelUsesOf],
];

/**
 * Tells this code from other code of the same version: folds that another one has made may have another form, or mean something else. It
 * is the text of the code itself, so that nobody needs to think of raising a number.
 */
export function foldCodeMark(code: readonly unknown[] = foldCode): string {
  const hash = createHash("sha256");
  for (const one of code) hash.update(String(one));
  return hash.digest("hex").slice(0, 16);
}
