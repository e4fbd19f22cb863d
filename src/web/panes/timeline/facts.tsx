import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Excerpt } from "../../../events/folds/timeline/step.js";
import { Action } from "../parts/controls.js";
import type { TurnReader } from "./read.js";
import { timelineWords } from "./words.js";

/** Names and values; what is undefined or empty is left out. */
export function Facts({ rows }: { readonly rows: readonly (readonly [name: string, value: string | undefined])[] }) {
  return (
    <dl class="timeline-facts">
      {rows.map(([name, value]) =>
        value === undefined || value === "" ? undefined : (
          <div key={name}>
            <dt class="muted">{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

/** A text of the log with its heading. Where it is only the beginning of one, the rest is fetched when somebody asks. */
export function Said({
  title,
  said,
  seq,
  reader,
}: {
  readonly title: string;
  readonly said: Excerpt | undefined;
  readonly seq: number | undefined;
  readonly reader: TurnReader;
}) {
  const [whole, setWhole] = useState<string>();
  if (said === undefined || said.text === "") return undefined;
  return (
    <Part title={title}>
      <pre class="timeline-text">{whole ?? (said.isCut ? `${said.text} …` : said.text)}</pre>
      {!said.isCut || whole !== undefined || seq === undefined ? undefined : (
        <Action run={async () => setWhole(await reader.event(seq))}>{timelineWords.t("whole")}</Action>
      )}
    </Part>
  );
}

export function Part({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <div class="timeline-part">
      <h3>{title}</h3>
      {children}
    </div>
  );
}
