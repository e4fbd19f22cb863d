import { momentOf } from "../../parts/format.js";
import { useLoad, WhenLoaded } from "../parts/loading.js";
import type { PaneWorld } from "../world.js";
import { Picture } from "./picture.js";
import { timelineHash } from "./place.js";
import { TurnReader } from "./read.js";
import { timelineWords } from "./words.js";

/** What a sub-agent did: its turns, each with a picture of its own. */
export function AgentTurns({ world, sessionKey }: { readonly world: PaneWorld; readonly sessionKey: string }) {
  const reader = new TurnReader(world, sessionKey);
  const loaded = useLoad(world, async () => {
    const { turns } = await reader.turns();
    return await Promise.all(turns.toReversed().map(({ turnId }) => reader.timeline(turnId)));
  }, [sessionKey]);
  return (
    <WhenLoaded loaded={loaded}>
      {(timelines) =>
        timelines.length === 0 ? (
          <p class="muted">{timelineWords.t("noTurns")}</p>
        ) : (
          timelines.map((timeline) => (
            <div class="timeline-nested" key={timeline.turn.turnId}>
              <a href={timelineHash(sessionKey, timeline.turn.turnId)}>{momentOf(new Date(timeline.turn.began.at))}</a>
              <Picture world={world} reader={reader} timeline={timeline} />
            </div>
          ))
        )
      }
    </WhenLoaded>
  );
}
