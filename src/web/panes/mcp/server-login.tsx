import { useEffect, useState } from "preact/hooks";
import { problemText } from "../../failures/said.js";
import { Action } from "../parts/controls.js";
import { TextField } from "../setup/text-field.js";
import type { PaneWorld } from "../world.js";
import { NeedsToken } from "./needs-token.js";
import { beginLogin, endLogin, finishLogin, type Login, loginState } from "./servers.js";
import { mcpWords } from "./words.js";

const lookMs = 1500;

/** The way to log in at a server that wants it. */
export function ServerLogin({
  world,
  name,
  onDone,
}: {
  readonly world: PaneWorld;
  readonly name: string;
  readonly onDone: () => void;
}) {
  const { t } = mcpWords;
  const [login, setLogin] = useState<Login>();
  const [address, setAddress] = useState("");
  const show = (found: Login): void => {
    setLogin(found);
    if (found.state === "waiting") return;
    setAddress("");
    world.announce(textOf(found));
    onDone();
  };
  useLooks(world, name, login, show);
  const stop = async (): Promise<void> => {
    await endLogin(world.api, name);
    setLogin(undefined);
  };
  if (login?.state !== "waiting")
    return (
      <>
        <NeedsToken world={world} />
        <div class="card-line">
          <Action run={async () => show(await beginLogin(world.api, name))}>{t("logIn")}</Action>
          <span role="status" class={login?.state === "failed" ? "problem-text" : "good-text"}>
            {login === undefined ? "" : textOf(login)}
          </span>
        </div>
      </>
    );
  return (
    <div class="this-is-me form">
      {login.scope === "" ? undefined : <p class="warning-text">{t("loginScope", { scope: login.scope })}</p>}
      <a class="button primary" href={login.url} target="_blank" rel="noreferrer noopener">
        {t("loginOpen")}
      </a>
      <p class="muted">{t("loginWaits")}</p>
      <TextField
        label={t("loginAddress", { start: login.comesBackTo })}
        hint={t("loginElsewhere")}
        value={address}
        set={setAddress}
      />
      <div class="card-line">
        <Action
          run={async () => show(await finishLogin(world.api, name, address.trim()))}
          isDisabled={address.trim() === ""}
        >
          {t("loginFinish")}
        </Action>
        <Action run={stop}>{t("loginStop")}</Action>
      </div>
    </div>
  );
}

function textOf({ state, reason, wasNeeded }: Login): string {
  const { t } = mcpWords;
  if (state === "failed") return t("loginFailed", { reason: problemText(reason) });
  return state === "done" ? t(wasNeeded ? "loginDone" : "loginNotNeeded") : "";
}

/** Looks now and then how far it is, while it waits. */
function useLooks(world: PaneWorld, name: string, login: Login | undefined, found: (login: Login) => void): void {
  useEffect(() => {
    if (login?.state !== "waiting") return;
    let isCurrent = true;
    const timer = setInterval(() => {
      loginState(world.api, name).then(
        (now) => {
          // Another page to open: more rights are wanted.
          if (isCurrent && (now.state !== "waiting" || now.url !== login.url)) found(now);
        },
        // The next look comes.
        () => undefined,
      );
    }, lookMs);
    return () => {
      isCurrent = false;
      clearInterval(timer);
    };
  }, [login]);
}
