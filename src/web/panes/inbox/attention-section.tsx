import { useState } from "preact/hooks";
import { Action, Section, Switch } from "../parts/controls.js";
import type { PaneWorld } from "../world.js";
import { type AttentionSettings, keepAttention, notificationState, readAttention } from "./attention.js";
import { chime } from "./call-attention.js";
import { canPush, turnPushOff, turnPushOn } from "./push.js";
import { inboxWords } from "./words.js";

const { t } = inboxWords;

/** How this browser tells of what comes while nobody looks. It is asked for its permission by the button alone. */
export function AttentionSection({ world: { api } }: { readonly world: PaneWorld }) {
  const [settings, setSettings] = useState(() => readAttention(localStorage));
  const [state, setState] = useState(notificationState);
  const set = async (change: Partial<AttentionSettings>): Promise<void> => {
    // Who wants no notifications wants none of the closed page either.
    const isOff = change.notify === false && settings.push;
    if (isOff) await turnPushOff(api);
    const next = { ...settings, ...change, ...(isOff ? { push: false } : {}) };
    keepAttention(localStorage, next);
    setSettings(next);
    // To hear what it is, and because a browser lets a page sound only after a press.
    if (change.sound === true) chime();
    if (next.push && change.quietNights !== undefined) await turnPushOn(api, change.quietNights);
  };
  const setPush = async (isOn: boolean): Promise<void> => {
    await (isOn ? turnPushOn(api, settings.quietNights) : turnPushOff(api));
    setSettings({ ...settings, push: isOn });
  };
  const turnOn = async (): Promise<void> => setState(await Notification.requestPermission());
  return (
    <Section title={t("attention")}>
      {state === "default" ? (
        <div class="inbox-permission">
          <Action run={turnOn}>{t("turnOn")}</Action>
          <p class="field-hint">{t("turnOnHint")}</p>
        </div>
      ) : undefined}
      {state === "denied" ? <p class="field-hint">{t("blocked")}</p> : undefined}
      {state === "missing" ? <p class="field-hint">{t("missing")}</p> : undefined}
      {state === "granted" ? (
        <>
          <Switch label={t("notify")} isOn={settings.notify} set={(notify) => set({ notify })} />
          {canPush() ? <Switch label={t("push")} isOn={settings.push} set={setPush} /> : undefined}
        </>
      ) : undefined}
      <Switch label={t("sound")} isOn={settings.sound} set={(sound) => set({ sound })} />
      {settings.sound || settings.push ? (
        <Switch label={t("quietNights")} isOn={settings.quietNights} set={(quietNights) => set({ quietNights })} />
      ) : undefined}
    </Section>
  );
}
