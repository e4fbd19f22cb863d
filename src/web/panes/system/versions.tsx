import { useState } from "preact/hooks";
import { textIn } from "../../gateway/api.js";
import { Action, Section } from "../parts/controls.js";
import type { PaneWorld } from "../world.js";
import { systemWords } from "./words.js";

const { t } = systemWords;

/** Whether a newer version is there, asked only on the reader's wish. */
export function Versions({ world }: { readonly world: PaneWorld }) {
  const [said, setSaid] = useState<string>();
  const look = async (): Promise<void> => {
    setSaid(undefined);
    const [{ version }, { newest, isNewer }] = await Promise.all([
      world.api.get("api/status"),
      world.api.get("api/update", { timeoutMs: 90_000 }),
    ]);
    const values = { version: textIn(version), newest: textIn(newest) };
    setSaid(t(isNewer === true ? "update" : "upToDate", values));
  };
  return (
    <Section title={t("versions")} about={t("versionsAbout")}>
      <p>
        <Action run={look}>{t("lookForUpdate")}</Action>
      </p>
      {said === undefined ? undefined : (
        <p class="note" role="status">
          {said}
        </p>
      )}
    </Section>
  );
}
