import { momentOf } from "../../parts/format.js";
import { titleOf } from "../chats/session-list.js";
import type { PaneProps } from "../list.js";
import { useKnown } from "../parts/known.js";
import { placeOfArgument, timelineHash } from "./place.js";
import { TurnList } from "./turn-list.js";
import { TurnView } from "./turn-view.js";
import { timelineWords } from "./words.js";

/** What happened in a chat. Without one in the address it asks which. */
export function TimelinePane({ world, argument }: PaneProps) {
  const { key, turnId } = placeOfArgument(argument);
  if (key === "") return <Chats store={world.store} />;
  if (turnId === undefined) return <TurnList key={key} world={world} sessionKey={key} />;
  return <TurnView key={`${key} ${turnId}`} world={world} sessionKey={key} turnId={turnId} />;
}

/** They may come after the pane: it can be the first that the reader opens. */
function Chats({ store }: { readonly store: PaneProps["world"]["store"] }) {
  const { entries } = useKnown(store, "chats");
  if (entries.length === 0) return <p class="muted">{timelineWords.t("noChats")}</p>;
  return (
    <>
      <p>{timelineWords.t("choose")}</p>
      <ul class="cards">
        {entries.map((entry) => (
          <li class="card" key={entry.key}>
            <a class="timeline-chat" href={timelineHash(entry.key)}>
              {titleOf(entry)}
              <LastAt at={entry.at} />
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

/** When the last message of a chat was: chats may have one name. */
function LastAt({ at }: { readonly at: string }) {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return undefined;
  return (
    <time class="muted" dateTime={at}>
      {momentOf(date)}
    </time>
  );
}
