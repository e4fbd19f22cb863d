import { useEffect } from "preact/hooks";
import { isRecord } from "../../../client/frames.js";
import { problemText } from "../../failures/said.js";
import { type JsonObject, recordsIn, textIn } from "../../gateway/api.js";
import { durationOf, momentOf, numberOf } from "../../parts/format.js";
import { Section } from "../parts/controls.js";
import { useLoad, WhenLoaded } from "../parts/loading.js";
import type { PaneWorld } from "../world.js";
import { bytesText, numberIn } from "./amounts.js";
import { systemWords } from "./words.js";

const { t, count } = systemWords;
const refreshMs = 10_000;

interface Seen {
  readonly status: JsonObject;
  readonly disk: JsonObject;
}

/** The gateway and its channels in plain words. Looks again from time to time. */
export function StatusView({ world }: { readonly world: PaneWorld }) {
  const read = async (): Promise<Seen> => {
    const [status, system] = await Promise.all([world.api.get("api/status"), world.api.get("api/system")]);
    return { status, disk: isRecord(system.disk) ? system.disk : {} };
  };
  const seen = useLoad(world, read, []);
  useEffect(() => {
    const timer = setInterval(seen.look, refreshMs);
    return () => clearInterval(timer);
  }, [seen.look]);
  return (
    <WhenLoaded loaded={seen}>
      {({ status, disk }) => (
        <>
          <Section title={t("status")}>
            <Sentence status={status} />
            <Facts status={status} disk={disk} />
          </Section>
          <StuckChats world={world} chats={recordsIn(status.stuckChats)} />
          <Section title={t("channels")}>
            <Channels channels={recordsIn(status.channels)} />
          </Section>
        </>
      )}
    </WhenLoaded>
  );
}

function Sentence({ status }: { readonly status: JsonObject }) {
  const problems = Array.isArray(status.problems) ? status.problems.map(textIn) : [];
  if (status.state !== "ready") {
    const state = (["starting", "draining", "stopped"] as const).find((one) => one === status.state);
    return <p class="note warning">{state === undefined ? textIn(status.state) : t(state)}</p>;
  }
  if (problems.length === 0) return <p class="note">{t("ready")}</p>;
  return (
    <div class="note warning system-problems">
      <p>{t("trouble")}</p>
      <ul>
        {problems.map((problem) => (
          <li key={problem}>{problemText(problem)}</li>
        ))}
      </ul>
    </div>
  );
}

function Facts({ status, disk }: { readonly status: JsonObject; readonly disk: JsonObject }) {
  const facts = [
    [t("version"), textIn(status.version)],
    [t("upSince"), durationOf(Math.max(0, Date.now() - Date.parse(textIn(status.startedAt))))],
    [t("model"), textIn(status.model)],
    [t("memory"), bytesText(numberIn(status.rssBytes))],
    [
      t("disk"),
      t("diskOf", { free: bytesText(numberIn(disk.freeBytes)), total: bytesText(numberIn(disk.totalBytes)) }),
    ],
    [
      t("waiting"),
      t("waitingOf", {
        messages: count(numberIn(status.inboundWaiting), "messagesOne", "messagesMany"),
        replies: count(numberIn(status.outboundWaiting), "repliesOne", "repliesMany"),
      }),
    ],
    [t("home"), textIn(status.home)],
  ] as const;
  return (
    <dl class="system-facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt class="muted">{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

const states = ["connecting", "connected", "reconnecting", "disconnected", "off"] as const;

function Channels({ channels }: { readonly channels: readonly JsonObject[] }) {
  if (channels.length === 0) return <p class="muted">{t("noChannels")}</p>;
  return (
    <ul class="cards">
      {channels.map((channel) => {
        const state = states.find((one) => one === channel.state) ?? "off";
        const isBad = state === "disconnected" || (state === "off" && textIn(channel.reason) !== "");
        const mark = state === "connected" ? "good" : isBad ? "bad" : state === "reconnecting" ? "odd" : "";
        return (
          <li class="card" key={textIn(channel.name)}>
            <h3 class="card-line">
              {textIn(channel.name)} <span class={`system-mark ${mark}`}>{t(state)}</span>
            </h3>
            {textIn(channel.reason) === "" ? undefined : <p>{problemText(textIn(channel.reason))}</p>}
            {textIn(channel.lastSeenAt) === "" ? undefined : (
              <p class="muted">{t("lastSeen", { at: momentOf(new Date(textIn(channel.lastSeenAt))) })}</p>
            )}
          </li>
        );
      })}
    </ul>
  );
}

function StuckChats({ world, chats }: { readonly world: PaneWorld; readonly chats: readonly JsonObject[] }) {
  if (chats.length === 0) return undefined;
  return (
    <Section title={t("stuck")}>
      <ul class="cards">
        {chats.map(({ sessionKey, waiting, since, reason }) => (
          <li class="card" key={textIn(sessionKey)}>
            <h3>{textIn(sessionKey)}</h3>
            <p>
              {t(numberIn(waiting) === 1 ? "stuckOne" : "stuckMany", {
                n: numberOf(numberIn(waiting)),
                at: momentOf(new Date(textIn(since))),
                reason: problemText(textIn(reason)),
              })}
            </p>
            <p>
              <button type="button" class="button quiet" onClick={() => world.openChat(textIn(sessionKey))}>
                {t("openChat")}
              </button>
            </p>
          </li>
        ))}
      </ul>
    </Section>
  );
}
