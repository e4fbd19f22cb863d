import { Section } from "../parts/controls.js";
import { WorkspaceFiles } from "../parts/workspace-files.js";
import type { PaneWorld } from "../world.js";
import { agentsWords } from "./words.js";

const { t } = agentsWords;

/** Files that steer the assistant, by their names in the workspace. What it remembers is not among them. */
export function FilesSection({ world, open }: { readonly world: PaneWorld; readonly open: string }) {
  const files = [
    { name: "AGENTS.md", title: t("agents"), about: t("agentsAbout") },
    { name: "SOUL.md", title: t("soul"), about: t("soulAbout") },
    { name: "USER.md", title: t("user"), about: t("userAbout") },
    { name: "GUESTS.md", title: t("guests"), about: t("guestsAbout") },
    { name: "memory/heartbeat.md", title: t("heartbeat"), about: t("heartbeatAbout") },
  ];
  return (
    <Section title={t("files")} about={t("filesAbout")}>
      <WorkspaceFiles world={world} files={files} open={open} pane="agents" />
    </Section>
  );
}
