import { useState } from "preact/hooks";
import { momentOf, numberOf } from "../../parts/format.js";
import { saveBlob } from "../../parts/save-blob.js";
import { Action } from "../parts/controls.js";
import { Facts } from "./facts.js";
import type { Sent, TurnReader } from "./read.js";
import { timelineWords } from "./words.js";

const { t } = timelineWords;

/** What was sent to the model, fetched when somebody asks. */
export function SentPart({
  reader,
  turnId,
  iteration,
}: {
  readonly reader: TurnReader;
  readonly turnId: string;
  readonly iteration: number;
}) {
  const [sent, setSent] = useState<readonly Sent[]>();
  return (
    <details class="timeline-sent">
      <summary>{t("sent")}</summary>
      {sent === undefined ? (
        <Action run={async () => setSent(await reader.sent(turnId, iteration))}>{t("showSent")}</Action>
      ) : sent.length === 0 ? (
        <p class="muted">{t("sentNotKept")}</p>
      ) : (
        sent.map((request) => <One key={`${request.sentAt} ${request.sha256}`} request={request} />)
      )}
    </details>
  );
}

function One({ request: { model, sentAt, bytes, sha256, body, isExact } }: { readonly request: Sent }) {
  const save = (): void => saveBlob(new Blob([body]), `request-${sha256.slice(0, 8)}.json`);
  return (
    <div class="timeline-part">
      <Facts
        rows={[
          [t("model"), model],
          [t("sentAt"), momentOf(new Date(sentAt))],
          [t("sentBytes"), numberOf(bytes)],
          ["SHA-256", sha256],
        ]}
      />
      <p class="muted">{t(isExact ? "sentExact" : "sentHidden")}</p>
      {/* A field can be scrolled and copied from by keyboard. */}
      <textarea class="timeline-text" aria-label={t("sent")} rows={12} readOnly value={body} />
      <button type="button" class="button quiet" onClick={save}>
        {t("saveSent")}
      </button>
    </div>
  );
}
