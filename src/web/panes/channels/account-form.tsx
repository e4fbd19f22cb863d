import { useState } from "preact/hooks";
import { TextField } from "../setup/text-field.js";
import type { PaneWorld } from "../world.js";
import { accountName, isFree, longestName } from "./account-name.js";
import { ChannelForm } from "./channel-form.js";
import { type Channel, readChannels } from "./channels.js";
import { channelsWords } from "./words.js";

/** Asks for a further account on a platform: what it is called, and what its platform needs. */
export function AccountForm({
  world,
  channel: { platform, title, fields },
  onConnected,
}: {
  readonly world: PaneWorld;
  /** Of the platform's own section. */
  readonly channel: Channel;
  /** Gets the title of the account. */
  readonly onConnected: (title: string) => void;
}) {
  const { t } = channelsWords;
  const [word, setWord] = useState("");
  const name = accountName(platform, word);
  const check = async (): Promise<void> => {
    if (name === undefined) throw new Error(t("accountWord", { longest: longestName }));
    // Another tab may have added one meanwhile.
    const { channels } = await readChannels(world.api);
    if (!isFree(name, platform, channels)) throw new Error(t("accountTaken", { name }));
  };
  const account = { name: name ?? platform, title: `${title} (${name ?? "…"})`, fields, isOn: false };
  return (
    <div class="form">
      <TextField
        label={t("accountName")}
        hint={name === undefined ? t("accountHint") : t("accountWillBe", { name })}
        value={word}
        set={setWord}
      />
      <ChannelForm
        world={world}
        channel={account}
        section={{}}
        check={check}
        onConnected={() => onConnected(account.title)}
      />
    </div>
  );
}
