import { useEffect, useRef, useState } from "preact/hooks";
import { isRecord } from "../../../client/frames.js";
import { type JsonObject, textIn } from "../../gateway/api.js";
import { momentOf } from "../../parts/format.js";
import { Choice } from "../parts/choice.js";
import { Section } from "../parts/controls.js";
import { Problem } from "../parts/loading.js";
import type { PaneWorld } from "../world.js";
import { followLog } from "./follow-log.js";
import { systemWords } from "./words.js";

const { t } = systemWords;
const keptLines = 500;
const levels = ["debug", "info", "warn", "error"] as const;
type Level = (typeof levels)[number];

/** The last lines of the log, and what is written from now on. */
export function LiveLog({ world }: { readonly world: PaneWorld }) {
  const [level, setLevel] = useState<Level>("info");
  const [lines, setLines] = useState<readonly JsonObject[]>([]);
  const [error, setError] = useState<unknown>();
  const [round, setRound] = useState(0);
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    setLines([]);
    setError(undefined);
    isAtEnd.current = true;
    return followLog(world.api, level, {
      onLines: (more) => setLines((before) => [...before, ...more].slice(-keptLines)),
      onLost: (why) => setError(why ?? new Error(t("logLost"))),
    });
  }, [level, round]);
  useEffect(() => {
    // Who reads further up is not moved.
    if (box.current !== null && isAtEnd.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines]);
  const names = { debug: t("all"), info: t("info"), warn: t("warnings"), error: t("errors") };
  return (
    <Section title={t("log")} about={t("logAbout")}>
      <div>
        <Choice
          label={t("level")}
          options={levels.map((value) => ({ value, label: names[value] }))}
          chosen={level}
          choose={setLevel}
        />
      </div>
      {error === undefined ? undefined : <Problem error={error} retry={() => setRound((n) => n + 1)} />}
      {/* Scrolled by keyboard too. */}
      <div
        class="system-log"
        ref={box}
        role="log"
        aria-live="off"
        aria-label={t("lines")}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          isAtEnd.current = scrollHeight - scrollTop - clientHeight < 24;
        }}
      >
        {lines.length === 0 ? (
          <p class="muted">{t("noLines")}</p>
        ) : (
          lines.map((line, at) => <Line key={at} line={line} />)
        )}
      </div>
    </Section>
  );
}

function Line({ line }: { readonly line: JsonObject }) {
  const { level, time, message, fields, text } = line;
  if (level === undefined) return <p class="system-line">{textIn(text)}</p>;
  const at = new Date(textIn(time));
  return (
    <p class={`system-line ${textIn(level)}`}>
      <span class="muted">{Number.isNaN(at.getTime()) ? "" : momentOf(at)}</span> {levelText(level)} {textIn(message)}{" "}
      <span class="muted">{isRecord(fields) ? factsOf(fields) : ""}</span>
    </p>
  );
}

/** As the file has it, in the language of the page. */
function levelText(level: unknown): string {
  const known = levels.find((name) => name === level);
  return known === undefined ? textIn(level) : t(`of_${known}`);
}

/** Of an error its sentence; its trace is in the file. */
function factsOf(fields: JsonObject): string {
  return Object.entries(fields)
    .map(([name, value]) => {
      const shown = isRecord(value) && "stack" in value ? value.message : value;
      return `${name}=${typeof shown === "string" ? shown : JSON.stringify(shown)}`;
    })
    .join(" ");
}
