import { useState } from "preact/hooks";
import { Action } from "../parts/controls.js";
import { SelectField } from "../parts/select-field.js";
import { TextField } from "../setup/text-field.js";
import { useUnsaved } from "../unsaved.js";
import type { PaneWorld } from "../world.js";
import type { Rule, TrialKind, Verdict } from "./policy.js";
import { sentenceOf } from "./rule-words.js";
import { toolsWords } from "./words.js";

type What = TrialKind | "all";

const whats: readonly What[] = ["command", "write", "read", "fetch", "call", "all"];
const toolOf = { command: "exec", write: "write_file", read: "read_file", fetch: "web_fetch" } as const;
const hints = {
  command: "commandHint",
  write: "pathHint",
  read: "pathHint",
  fetch: "addressHint",
  call: "inputHint",
  all: "inputHint",
} as const;

/** A new rule, said in words before it is added. */
export function RuleForm({ world, add }: { readonly world: PaneWorld; readonly add: (rule: Rule) => Promise<void> }) {
  const { t } = toolsWords;
  const [what, setWhat] = useState<What>("command");
  const [tool, setTool] = useState("");
  const [argument, setArgument] = useState("");
  useUnsaved(world, tool !== "" || argument !== "");
  const [verdict, setVerdict] = useState<Verdict>("ask");
  /** The rule for all that the reader has seen to be one. */
  const [seen, setSeen] = useState("");
  const [role, setRole] = useState<"" | "owner" | "guest">("");
  const [chat, setChat] = useState<"" | "dm" | "group">("");
  const rule = ruleOf({ what, tool: tool.trim(), argument: argument.trim(), verdict, role, chat });
  const sentence = sentenceOf(rule);
  const isForAll = argument.trim() === "" && what !== "call";
  return (
    <div class="card form">
      <SelectField
        label={t("what")}
        options={whats.map((value) => ({ value, label: t(value) }))}
        value={what}
        set={setWhat}
      />
      {what === "call" ? <TextField label={t("tool")} hint={t("toolHint")} value={tool} set={setTool} /> : undefined}
      <TextField label={t("which")} hint={t(hints[what])} value={argument} set={setArgument} />
      <div class="field-row">
        <SelectField
          label={t("verdict")}
          options={[
            { value: "allow", label: t("thenAllow") },
            { value: "ask", label: t("thenAsk") },
            { value: "deny", label: t("thenDeny") },
          ]}
          value={verdict}
          set={setVerdict}
        />
        <SelectField
          label={t("who")}
          options={[
            { value: "", label: t("anybody") },
            { value: "owner", label: t("owners") },
            { value: "guest", label: t("guests") },
          ]}
          value={role}
          set={setRole}
        />
        <SelectField
          label={t("where")}
          options={[
            { value: "", label: t("anywhere") },
            { value: "dm", label: t("direct") },
            { value: "group", label: t("groups") },
          ]}
          value={chat}
          set={setChat}
        />
      </div>
      <p class="note">{sentence}</p>
      {isForAll ? (
        <label class="check">
          <input
            type="checkbox"
            checked={seen === sentence}
            onChange={({ currentTarget }) => setSeen(currentTarget.checked ? sentence : "")}
          />
          <span>{t("forAll")}</span>
        </label>
      ) : undefined}
      <Action
        kind="primary"
        run={() => add(rule)}
        isDisabled={(what === "call" && tool.trim() === "") || (isForAll && seen !== sentence)}
      >
        {t("save")}
      </Action>
    </div>
  );
}

interface Typed {
  readonly what: What;
  readonly tool: string;
  readonly argument: string;
  readonly verdict: Verdict;
  readonly role: string;
  readonly chat: string;
}

function ruleOf({ what, tool, argument, verdict, role, chat }: Typed): Rule {
  const name = what === "all" ? "" : what === "call" ? tool : toolOf[what];
  const fields = { tool: name, argument, role, chat };
  return { ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== "")), verdict };
}
