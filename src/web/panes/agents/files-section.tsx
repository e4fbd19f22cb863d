import { useState } from "preact/hooks";
import { Refused, recordsIn, textIn } from "../../gateway/api.js";
import { Action, Field, Section } from "../parts/controls.js";
import { useLoad, WhenLoaded } from "../parts/loading.js";
import type { PaneWorld } from "../world.js";
import { agentsWords } from "./words.js";

const { t } = agentsWords;

/** Files that steer the assistant, by their names in the workspace. What it remembers is not among them. */
const steering = [
  { name: "AGENTS.md", title: "agents", about: "agentsAbout" },
  { name: "SOUL.md", title: "soul", about: "soulAbout" },
  { name: "USER.md", title: "user", about: "userAbout" },
  { name: "GUESTS.md", title: "guests", about: "guestsAbout" },
  { name: "memory/heartbeat.md", title: "heartbeat", about: "heartbeatAbout" },
] as const;

export function FilesSection({ world, open }: { readonly world: PaneWorld; readonly open: string }) {
  const files = useLoad(world, async () => recordsIn((await world.api.get("api/workspace-file")).files), []);
  return (
    <Section title={t("files")} about={t("filesAbout")}>
      <WhenLoaded loaded={files}>
        {(list) => (
          <ul class="cards">
            {steering.map(({ name, title, about }) => {
              const isThere = list.some((file) => textIn(file.name) === name && file.exists === true);
              const isOpen = open === name;
              return (
                <li class="card" key={name}>
                  <div class="card-line">
                    <h3>{t(title)}</h3>
                    <code class="muted">{name}</code>
                    {isThere ? undefined : <span class="muted">{t("isEmpty")}</span>}
                    <button
                      type="button"
                      class="button quiet file-toggle"
                      aria-expanded={isOpen}
                      aria-label={`${t(isOpen ? "close" : "edit")} ${name}`}
                      onClick={() => world.openPane("agents", isOpen ? "" : name)}
                    >
                      {t(isOpen ? "close" : "edit")}
                    </button>
                  </div>
                  <p class="muted">{t(about)}</p>
                  {isOpen ? <FileEditor world={world} name={name} onSaved={files.reload} /> : undefined}
                </li>
              );
            })}
          </ul>
        )}
      </WhenLoaded>
    </Section>
  );
}

interface FileProps {
  readonly world: PaneWorld;
  readonly name: string;
  readonly onSaved: () => void;
}

function FileEditor(props: FileProps) {
  const { world, name } = props;
  const route = routeOf(name);
  const file = useLoad(world, async () => {
    const answer = await world.api.response("GET", route);
    const { content } = Object(await answer.json());
    return { content: textIn(content), mark: answer.headers.get("etag") ?? "" };
  }, [name]);
  return (
    <WhenLoaded loaded={file}>
      {(read) => <Editor {...props} key={read.mark} read={read} readAgain={file.reload} />}
    </WhenLoaded>
  );
}

function Editor({
  world,
  name,
  onSaved,
  read,
  readAgain,
}: FileProps & { readonly read: { readonly content: string; readonly mark: string }; readonly readAgain: () => void }) {
  const [typed, setTyped] = useState(read.content);
  const [written, setWritten] = useState(read);
  const [isChanged, setChanged] = useState(false);
  const save = async (): Promise<void> => {
    try {
      const answer = await world.api.response(
        "PUT",
        routeOf(name),
        { content: typed },
        { headers: { "if-match": written.mark } },
      );
      setWritten({ content: typed, mark: answer.headers.get("etag") ?? "" });
      world.announce(t("saved"));
      onSaved();
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 412) throw error;
      setChanged(true);
      throw new Error(t("changedMeanwhile", { name }));
    }
  };
  const isDirty = typed !== written.content;
  return (
    <div class="file-editor">
      <Field label={t("text", { name })} hint={isDirty ? t("unsaved") : written === read ? "" : t("saved")}>
        {(ids) => (
          <textarea
            {...ids}
            rows={16}
            spellcheck={false}
            value={typed}
            onInput={({ currentTarget }) => setTyped(currentTarget.value)}
          />
        )}
      </Field>
      <div class="card-line">
        <Action kind="primary" run={save} isDisabled={!isDirty}>
          {t("save")}
        </Action>
        {isChanged ? (
          <button type="button" class="button quiet" onClick={readAgain}>
            {t("readAgain")}
          </button>
        ) : undefined}
      </div>
    </div>
  );
}

function routeOf(name: string): string {
  return `api/workspace-file/${name.split("/").map(encodeURIComponent).join("/")}`;
}
