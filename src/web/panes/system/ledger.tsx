import { useState } from "preact/hooks";
import { recordsIn, textIn } from "../../gateway/api.js";
import { numberOf } from "../../parts/format.js";
import { Action } from "../parts/controls.js";
import type { PaneWorld } from "../world.js";
import { systemWords } from "./words.js";

const { t } = systemWords;
const limitMs = 180_000;
const ends = ["answered", "pending", "refused", "cancelled", "failed", "undelivered", "lost", "settled"] as const;

/** How every message that was ever accepted has ended, counted when somebody asks. */
export function Ledger({ world }: { readonly world: PaneWorld }) {
  const [counts, setCounts] = useState<ReadonlyMap<string, number>>();
  const [missing, setMissing] = useState<readonly string[]>([]);
  const count = async (): Promise<void> => {
    const { entries, uncounted } = await world.api.get("api/ledger", { timeoutMs: limitMs });
    const counted = new Map<string, number>();
    for (const { end } of recordsIn(entries)) counted.set(textIn(end), (counted.get(textIn(end)) ?? 0) + 1);
    setCounts(counted);
    setMissing(recordsIn(uncounted).map(({ sessionKey, file }) => textIn(sessionKey) || textIn(file)));
  };
  return (
    <>
      <p>
        <Action run={count}>{t("countAll")}</Action>
      </p>
      {counts === undefined ? undefined : (
        <div role="status">
          <dl class="system-facts">
            {ends
              .filter((end) => end === "answered" || end === "lost" || counts.has(end))
              .map((end) => (
                <div key={end}>
                  <dt class="muted">{t(end)}</dt>
                  <dd>{numberOf(counts.get(end) ?? 0)}</dd>
                </div>
              ))}
          </dl>
          {missing.length === 0 ? undefined : (
            <p class="problem-text">{t("uncounted", { chats: missing.join(", ") })}</p>
          )}
        </div>
      )}
    </>
  );
}
