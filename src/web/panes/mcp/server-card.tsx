import { useState } from "preact/hooks";
import { problemText } from "../../failures/said.js";
import { momentOf } from "../../parts/format.js";
import { Action, Switch } from "../parts/controls.js";
import { FormOpener } from "../parts/form-opener.js";
import type { PaneWorld } from "../world.js";
import { ServerForm } from "./server-form.js";
import { ServerLogin } from "./server-login.js";
import { reconnectServer, removeServer, type Server, switchServer, switchServerTool, testServer } from "./servers.js";
import { mcpWords } from "./words.js";

interface CardProps {
  readonly world: PaneWorld;
  readonly server: Server;
  readonly mark: string;
  readonly onChanged: () => void;
}

/** One server: how it is, its tools, and what can be done about it. */
export function ServerCard({ world, server, mark, onChanged }: CardProps) {
  const { t, count } = mcpWords;
  const { name, section, endpoint } = server;
  const [isOpen, setOpen] = useState(false);
  const [said, setSaid] = useState("");
  const isOn = section?.isOn ?? true;
  const saved = (text: string): void => {
    setOpen(false);
    setSaid(text);
    onChanged();
  };
  const test = async (): Promise<void> => {
    setSaid("");
    setSaid(count((await testServer(world.api, name)).length, "testedOne", "tested"));
  };
  const reconnect = async (): Promise<void> => {
    await reconnectServer(world.api, name);
    setSaid(t("asked"));
    onChanged();
  };
  const remove = async (): Promise<void> => {
    const question = { title: t("removeTitle", { name }), text: t("removeText"), action: t("remove") };
    if ((await world.ask({ ...question, isDangerous: true })) === undefined) return;
    await removeServer(world.api, name);
    onChanged();
  };
  return (
    <li class="card" aria-label={name}>
      <div class="card-line card-head">
        <h2>{name}</h2>
        {section === undefined ? undefined : (
          <Switch
            label={t("on")}
            name={t("onFor", { name })}
            isOn={isOn}
            set={(on) => {
              setSaid("");
              return switchServer(world.api, name, on).then(onChanged);
            }}
          />
        )}
      </div>
      <p class="muted">{endpoint || section?.command || section?.url}</p>
      <Health server={server} isOn={isOn} />
      {section === undefined ? <p class="muted">{t("elsewhere")}</p> : undefined}
      <Tools world={world} server={server} onChanged={onChanged} />
      <div class="card-line">
        {isOn ? <Action run={test}>{t("test")}</Action> : undefined}
        {isOn ? <Action run={reconnect}>{t("reconnect")}</Action> : undefined}
        {section === undefined ? undefined : (
          <>
            <FormOpener world={world} isOpen={isOpen} press={() => setOpen(!isOpen)}>
              {t("change")}
            </FormOpener>
            <Action run={remove} kind="danger">
              {t("remove")}
            </Action>
          </>
        )}
      </div>
      <p role="status" class="muted">
        {said}
      </p>
      {isOn && section?.kind === "url" ? <ServerLogin world={world} name={name} onDone={onChanged} /> : undefined}
      {isOpen && section !== undefined ? (
        <ServerForm world={world} known={{ name, section }} mark={mark} onSaved={saved} />
      ) : undefined}
    </li>
  );
}

function Health({
  server: { state, since, reason, wants },
  isOn,
}: {
  readonly server: Server;
  readonly isOn: boolean;
}) {
  const { t } = mcpWords;
  if (!isOn) return <p class="muted">{t("switchedOff")}</p>;
  const values = { since: since === "" ? "" : momentOf(new Date(since)), reason: problemText(reason) };
  const kind = { connected: "good-text", connecting: "muted", idle: "muted", reconnecting: "problem-text" } as const;
  return (
    <>
      <p class={state === "off" ? "problem-text" : kind[state]}>{t(state, values)}</p>
      {wants === "" ? undefined : <p class="warning-text">{problemText(wants)}</p>}
    </>
  );
}

function Tools({
  world,
  server,
  onChanged,
}: {
  readonly world: PaneWorld;
  readonly server: Server;
  readonly onChanged: () => void;
}) {
  const { t, count } = mcpWords;
  const { tools, section } = server;
  if (tools.length === 0) return undefined;
  return (
    <details class="more-fields">
      <summary>{count(tools.length, "toolsOne", "tools")}</summary>
      {section === undefined ? undefined : <p class="muted">{t("toolsAbout")}</p>}
      <ul class="plain-list">
        {tools.map((tool) => (
          <li key={tool}>
            {section === undefined ? (
              tool
            ) : (
              <Switch
                label={tool}
                name={t("toolOn", { tool })}
                isOn={!section.disabledTools.includes(tool)}
                set={(on) => switchServerTool(world.api, server, tool, on).then(onChanged)}
              />
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}
