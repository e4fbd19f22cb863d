import { useEffect, useState } from "preact/hooks";
import { copyText } from "../../chat/markdown/copy.js";
import { momentOf } from "../../parts/format.js";
import { Action } from "../parts/controls.js";
import type { PaneWorld } from "../world.js";
import { askForCode, type OwnerCode as Code, type CodeState, codeState, takeCodeBack } from "./channels.js";
import { channelsWords } from "./words.js";

const lookMs = 1500;

/** "This is me": a code that the reader sends to the bot, which makes them an owner there. */
export function OwnerCode({
  world,
  name,
  hasToken,
  onDone,
}: {
  readonly world: PaneWorld;
  readonly name: string;
  readonly hasToken: boolean;
  readonly onDone: () => void;
}) {
  const { t } = channelsWords;
  const [code, setCode] = useState<Code>();
  const [said, setSaid] = useState("");
  const end = (text: string): void => {
    setCode(undefined);
    setSaid(text);
    world.announce(text);
    onDone();
  };
  useLooks(world, name, code, (found) => {
    if (found.state === "done") end(t("done", { who: found.who }));
    else if (found.state === "failed") end(t("codeFailed", { reason: found.reason }));
    else if (found.state === "none") end(t("expired"));
  });
  const begin = async (): Promise<void> => {
    setSaid("");
    setCode(await askForCode(world.api, name));
  };
  const stop = async (): Promise<void> => {
    await takeCodeBack(world.api, name);
    setCode(undefined);
  };
  if (!hasToken) return <NeedsToken />;
  return (
    <div class="this-is-me">
      <h3>{t("thisIsMe")}</h3>
      <p class="muted">{code === undefined ? t("thisIsMeAbout") : t("sendCode")}</p>
      {code === undefined ? (
        <Action run={begin}>{t("getCode")}</Action>
      ) : (
        <>
          <p class="card-line">
            <code class="person-code">{code.code}</code>
            <Action run={() => copyText(code.code)}>{t("copy")}</Action>
            <Action run={stop}>{t("stop")}</Action>
          </p>
          <p class="muted">{t("waiting", { until: momentOf(new Date(code.expiresAt)) })}</p>
        </>
      )}
      <p role="status">{said}</p>
    </div>
  );
}

/** What only an owner with a token may do, and how to get one. */
export function NeedsToken() {
  const { t } = channelsWords;
  return (
    <div class="note">
      <span>
        {t("needsToken")} {t("needsTokenHow")}
      </span>
    </div>
  );
}

/** Looks now and then how far the code is, while there is one. */
function useLooks(world: PaneWorld, name: string, code: Code | undefined, found: (state: CodeState) => void): void {
  useEffect(() => {
    if (code === undefined) return;
    let isCurrent = true;
    const look = (): void => {
      codeState(world.api, name).then(
        (state) => isCurrent && found(state),
        // The next look comes.
        () => undefined,
      );
    };
    const timer = setInterval(look, lookMs);
    return () => {
      isCurrent = false;
      clearInterval(timer);
    };
  }, [code]);
}
