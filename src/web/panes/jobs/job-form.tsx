import { useState } from "preact/hooks";
import { titleOf } from "../chats/session-list.js";
import { Action, Field } from "../parts/controls.js";
import { useUnsaved } from "../unsaved.js";
import type { PaneWorld } from "../world.js";
import type { Job } from "./job.js";
import { type Times, timesOf, wishOf } from "./times.js";
import { TimesField } from "./times-field.js";
import { jobsWords } from "./words.js";

const { t } = jobsWords;

interface JobFormProps {
  readonly world: PaneWorld;
  /** Undefined: a new one. */
  readonly job: Job | undefined;
  readonly onSaved: () => void;
  readonly onCancel: () => void;
}

/** A job as its owner wants it. */
export function JobForm({ world, job, onSaved, onCancel }: JobFormProps) {
  const [title, setTitle] = useState(job?.title ?? "");
  const [prompt, setPrompt] = useState(job?.prompt ?? "");
  const [times, setTimes] = useState<Times>(
    job === undefined ? { kind: "days", time: "09:00", days: [] } : timesOf(job),
  );
  const [chat, setChat] = useState("");
  const [isAlone, setAlone] = useState(job?.session === "alone");
  const [isLate, setLate] = useState(job?.missed !== "skip");
  const typed = JSON.stringify([title, prompt, times, chat, isAlone, isLate]);
  const [atFirst] = useState(typed);
  useUnsaved(world, typed !== atFirst);
  const save = async (): Promise<void> => {
    if (prompt.trim() === "") throw new Error(t("needsPrompt"));
    if (times.kind === "once" && times.at === "") throw new Error(t("needsMoment"));
    const wish = {
      title: title.trim(),
      prompt: prompt.trim(),
      ...wishOf(times),
      session: isAlone ? "alone" : "chat",
      missed: isLate ? "once" : "skip",
    };
    // Times in words are those of who chooses them.
    const timeZone = job?.timeZone || Intl.DateTimeFormat().resolvedOptions().timeZone;
    const zoned = "cron" in wish ? { ...wish, timeZone } : wish;
    if (job !== undefined) await world.api.put(`api/cron/${encodeURIComponent(job.id)}`, zoned);
    else await world.api.post("api/cron", chat === "" ? zoned : { ...zoned, sessionKey: chat });
    onSaved();
  };
  return (
    <section class="card" aria-label={t(job === undefined ? "newJob" : "editJob")}>
      <h3>{t(job === undefined ? "newJob" : "editJob")}</h3>
      <Field label={t("prompt")} hint={t("promptHint")}>
        {(ids) => (
          <textarea
            {...ids}
            rows={3}
            maxLength={4000}
            value={prompt}
            onInput={({ currentTarget }) => setPrompt(currentTarget.value)}
          />
        )}
      </Field>
      <Field label={t("name")}>
        {(ids) => (
          <input
            {...ids}
            type="text"
            maxLength={80}
            value={title}
            onInput={({ currentTarget }) => setTitle(currentTarget.value)}
          />
        )}
      </Field>
      <TimesField times={times} set={setTimes} />
      {job === undefined ? <ChatField world={world} chat={chat} set={setChat} /> : undefined}
      <Check label={t("ownChat")} isOn={isAlone} set={setAlone} />
      <Check label={t("missed")} isOn={isLate} set={setLate} />
      <p class="card-line">
        <Action kind="primary" run={save}>
          {t("save")}
        </Action>
        <button type="button" class="button quiet" onClick={() => world.unsaved.letGo(onCancel)}>
          {t("cancel")}
        </button>
      </p>
    </section>
  );
}

interface ChatFieldProps {
  readonly world: PaneWorld;
  readonly chat: string;
  readonly set: (chat: string) => void;
}

/** A job stays in the chat in which it was made. */
function ChatField({ world, chat, set }: ChatFieldProps) {
  const elsewhere = world.store.known.chats.entries.filter(
    ({ key, channel }) => !["webui", "cli", "cron"].includes(channel) && !key.includes(":spawn:"),
  );
  return (
    <Field label={t("chat")}>
      {(ids) => (
        <select {...ids} value={chat} onChange={({ currentTarget }) => set(currentTarget.value)}>
          <option value="">{t("thisPage")}</option>
          {elsewhere.map((entry) => (
            <option key={entry.key} value={entry.key}>
              {entry.channel}: {titleOf(entry)}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface CheckProps {
  readonly label: string;
  readonly isOn: boolean;
  readonly set: (isOn: boolean) => void;
}

function Check({ label, isOn, set }: CheckProps) {
  return (
    <label class="switch">
      <input
        type="checkbox"
        role="switch"
        checked={isOn}
        aria-checked={isOn}
        onChange={({ currentTarget }) => set(currentTarget.checked)}
      />
      <span>{label}</span>
    </label>
  );
}
