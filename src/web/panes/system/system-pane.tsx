import type { PaneProps } from "../list.js";
import { BackupList } from "./backup-list.js";
import { DeadLetters } from "./dead-letters.js";
import { Examination } from "./examination.js";
import { LiveLog } from "./live-log.js";
import { StatusView } from "./status-view.js";
import { Versions } from "./versions.js";

/** How the gateway is, for who looks after it. */
export function SystemPane({ world }: PaneProps) {
  return (
    <>
      <StatusView world={world} />
      <Examination world={world} />
      <DeadLetters world={world} />
      <LiveLog world={world} />
      <BackupList world={world} />
      <Versions world={world} />
    </>
  );
}
