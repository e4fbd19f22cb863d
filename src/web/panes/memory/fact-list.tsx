import { useState } from "preact/hooks";
import { type JsonObject, recordsIn, textIn } from "../../gateway/api.js";
import { momentOf } from "../../parts/format.js";
import { Action, Field, Section } from "../parts/controls.js";
import { useLoad, WhenLoaded } from "../parts/loading.js";
import type { PaneWorld } from "../world.js";
import { memoryWords } from "./words.js";

const { t } = memoryWords;

/** So few are read faster than searched. */
const fewFacts = 8;

/** What the assistant has learned, each with where from, and a way to have it forget. `round`: another one when the file has changed. */
export function FactList({ world, round }: { readonly world: PaneWorld; readonly round: number }) {
  const [words, setWords] = useState("");
  const facts = useLoad(world, async () => recordsIn((await world.api.get("api/memory")).facts), [round]);
  const forget = async (text: string): Promise<void> => {
    const question = { title: t("forgetThis"), text: `${text}\n\n${t("forgetAbout")}`, action: t("forget") };
    if ((await world.ask({ ...question, isDangerous: true })) === undefined) return;
    await world.api.post("api/memory/forget", { text });
    facts.reload();
  };
  return (
    <Section title={t("facts")} about={t("factsAbout")}>
      <WhenLoaded loaded={facts}>
        {(all) => {
          const shown = all.filter(({ text }) => hasWords(textIn(text), words));
          return (
            <>
              {all.length <= fewFacts ? undefined : (
                <Field label={t("find")}>
                  {(ids) => (
                    <input
                      {...ids}
                      type="search"
                      value={words}
                      onInput={({ currentTarget }) => setWords(currentTarget.value)}
                    />
                  )}
                </Field>
              )}
              {shown.length === 0 ? <p class="muted">{t(all.length === 0 ? "noFacts" : "noMatch")}</p> : undefined}
              <ul class="cards">
                {shown.map((fact, index) => (
                  // The same line may be there twice.
                  <li class="card" key={`${index} ${textIn(fact.text)}`}>
                    <p>{textIn(fact.text)}</p>
                    <p class="card-line">
                      <span class="muted">{originOf(fact)}</span>
                      {fact.hasSession === true ? (
                        <button
                          type="button"
                          class="button quiet"
                          onClick={() => world.openChat(textIn(fact.sessionKey))}
                        >
                          {t("openChat")}
                        </button>
                      ) : undefined}
                      <Action run={() => forget(textIn(fact.text))}>{t("forget")}</Action>
                    </p>
                  </li>
                ))}
              </ul>
            </>
          );
        }}
      </WhenLoaded>
    </Section>
  );
}

function originOf({ at, by, outside }: JsonObject): string {
  if (textIn(at) === "") return t("written");
  const [channel = "", ...sender] = textIn(by).split(":");
  const time = momentOf(new Date(textIn(at)));
  const isHere = channel === "webui";
  const learned = isHere ? t("learnedHere", { time }) : t("learnedBy", { time, channel, by: sender.join(":") });
  return textIn(outside) === "" ? learned : `${learned}, ${t("outside", { names: textIn(outside) })}`;
}

function hasWords(text: string, words: string): boolean {
  const lower = text.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word));
}
