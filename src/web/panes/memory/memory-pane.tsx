import { useState } from "preact/hooks";
import type { PaneProps } from "../list.js";
import { Section } from "../parts/controls.js";
import { WorkspaceFiles } from "../parts/workspace-files.js";
import { FactList } from "./fact-list.js";
import { memoryWords } from "./words.js";

const { t } = memoryWords;

/** What the assistant knows about its owner: the facts, and the files that they and the past are in. */
export function MemoryPane({ world, argument }: PaneProps) {
  const [round, setRound] = useState(0);
  const files = [
    { name: "memory/MEMORY.md", title: t("memory"), about: t("memoryAbout") },
    { name: "memory/HISTORY.md", title: t("history"), about: t("historyAbout") },
  ];
  return (
    <>
      <FactList world={world} round={round} />
      <Section title={t("files")} about={t("filesAbout")}>
        <WorkspaceFiles
          world={world}
          files={files}
          open={argument}
          pane="memory"
          onChanged={() => setRound((before) => before + 1)}
        />
      </Section>
    </>
  );
}
