import { useState } from "preact/hooks";
import { Action, Section } from "../parts/controls.js";
import { SelectField } from "../parts/select-field.js";
import { TextField } from "../setup/text-field.js";
import type { PaneWorld } from "../world.js";
import { type Trial, type TrialKind, type TrialResult, tryPolicy } from "./policy.js";
import { toolsWords } from "./words.js";

const kinds: readonly TrialKind[] = ["command", "write", "read", "fetch", "call"];
const labels = {
  command: "trialCommand",
  write: "trialPath",
  read: "trialPath",
  fetch: "trialAddress",
  call: "trialInput",
} as const;
const people = {
  me: { role: "owner", chat: "dm" },
  meGroup: { role: "owner", chat: "group" },
  guest: { role: "guest", chat: "dm" },
  guestGroup: { role: "guest", chat: "group" },
} as const;
type Person = keyof typeof people;
const everyone: readonly Person[] = ["me", "meGroup", "guest", "guestGroup"];

/** Asks the policy itself what would happen. */
export function TrialSection({ world }: { readonly world: PaneWorld }) {
  const { t } = toolsWords;
  const [kind, setKind] = useState<TrialKind>("command");
  const [tool, setTool] = useState("");
  const [argument, setArgument] = useState("");
  const [who, setWho] = useState<Person>("me");
  const [hasNetwork, setNetwork] = useState(false);
  const [result, setResult] = useState<TrialResult>();
  const ask = async (): Promise<void> => {
    setResult(undefined);
    const trial: Trial = { kind, argument: argument.trim(), tool: tool.trim(), ...people[who], hasNetwork };
    setResult(await tryPolicy(world.api, trial));
  };
  const isEmpty = kind === "call" ? tool.trim() === "" : argument.trim() === "";
  return (
    <Section title={t("trial")} about={t("trialAbout")}>
      <div class="card form">
        <div class="field-row">
          <SelectField
            label={t("what")}
            options={kinds.map((value) => ({ value, label: t(value) }))}
            value={kind}
            set={setKind}
          />
          <SelectField
            label={t("trialWho")}
            options={everyone.map((value) => ({ value, label: t(value) }))}
            value={who}
            set={setWho}
          />
        </div>
        {kind === "call" ? <TextField label={t("tool")} value={tool} set={setTool} /> : undefined}
        <TextField label={t(labels[kind])} value={argument} set={setArgument} />
        {kind === "command" ? (
          <label class="check">
            <input
              type="checkbox"
              checked={hasNetwork}
              onChange={({ currentTarget }) => setNetwork(currentTarget.checked)}
            />
            <span>{t("withNetwork")}</span>
          </label>
        ) : undefined}
        <Action run={ask} isDisabled={isEmpty}>
          {t("tryIt")}
        </Action>
        <div role="status">{result === undefined ? undefined : <Result result={result} />}</div>
      </div>
    </Section>
  );
}

function Result({ result: { verdict, because, isByRule, approver, isSandboxed } }: { readonly result: TrialResult }) {
  const { t } = toolsWords;
  const said = {
    allow: isByRule ? t("wouldAllowByRule") : t("wouldAllow"),
    ask: approver === "owner" ? t("wouldAskOwner") : t("wouldAsk"),
    deny: t("wouldDeny"),
  }[verdict];
  const kinds = { allow: "good-text", ask: "warning-text", deny: "problem-text" } as const;
  const why =
    because === "" ? "" : `${because.charAt(0).toUpperCase()}${because.slice(1)}${/[.!?]$/.test(because) ? "" : "."}`;
  return (
    <>
      <p class={kinds[verdict]}>
        {said} {isSandboxed && verdict !== "deny" ? t("inSandbox") : ""}
      </p>
      {why === "" ? undefined : <p class="muted">{why}</p>}
    </>
  );
}
