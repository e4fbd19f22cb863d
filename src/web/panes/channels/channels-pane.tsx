import type { PaneProps } from "../list.js";
import { useLoad, WhenLoaded } from "../parts/loading.js";
import { useLookAgain } from "../parts/look-again.js";
import { ChannelCard } from "./channel-card.js";
import { readChannels } from "./channels.js";

const lookMs = 4000;

/** Where people write, how each channel is, and who may talk there. */
export function ChannelsPane({ world }: PaneProps) {
  const loaded = useLoad(world, () => readChannels(world.api), []);
  const { reload, look } = loaded;
  useLookAgain(look, lookMs);
  const changed = (): void => {
    reload();
    world.refreshStatus();
  };
  return (
    <WhenLoaded loaded={loaded}>
      {(known) => (
        <ul class="cards">
          {known.channels.map((channel) => (
            <ChannelCard key={channel.name} world={world} channel={channel} known={known} onChanged={changed} />
          ))}
        </ul>
      )}
    </WhenLoaded>
  );
}
