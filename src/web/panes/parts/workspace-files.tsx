import { useState } from "preact/hooks";
import { Refused, recordsIn, textIn } from "../../gateway/api.js";
import { momentOf } from "../../parts/format.js";
import { useUnsaved } from "../unsaved.js";
import type { PaneWorld } from "../world.js";
import { Action, Field } from "./controls.js";
import { useLoad, WhenLoaded } from "./loading.js";
import { partWords } from "./words.js";

const { t } = partWords;

/** A file of the workspace, by its name there. */
interface ShownFile {
  readonly name: string;
  readonly title: string;
  readonly about: string;
}

interface WorkspaceFilesProps {
  readonly world: PaneWorld;
  readonly files: readonly ShownFile[];
  /** The name of the one that is open; it is the argument of this pane. */
  readonly open: string;
  readonly pane: string;
  readonly onChanged?: () => void;
}

/** Text files that steer the assistant, each to be opened and written in place. */
export function WorkspaceFiles({ world, files, open, pane, onChanged }: WorkspaceFilesProps) {
  const known = useLoad(world, async () => recordsIn((await world.api.get("api/workspace-file")).files), []);
  const saved = (): void => {
    known.reload();
    onChanged?.();
  };
  return (
    <WhenLoaded loaded={known}>
      {(list) => (
        <ul class="cards">
          {files.map(({ name, title, about }) => {
            const found = list.find((file) => textIn(file.name) === name);
            const problem = textIn(found?.problem);
            const isOpen = open === name && problem === "";
            return (
              <li class="card" key={name}>
                <div class="card-line">
                  <h3>{title}</h3>
                  <code class="muted">{name}</code>
                  <span class="muted">{stateOf(found?.exists === true, textIn(found?.changedAt))}</span>
                  <button
                    type="button"
                    class="button quiet file-toggle"
                    aria-expanded={isOpen}
                    aria-label={`${t(isOpen ? "close" : "edit")} ${name}`}
                    disabled={problem !== ""}
                    onClick={() => world.openPane(pane, isOpen ? "" : name)}
                  >
                    {t(isOpen ? "close" : "edit")}
                  </button>
                </div>
                <p class="muted">{about}</p>
                {problem === "" ? undefined : <p class="problem-text">{problem}</p>}
                {isOpen ? <FileEditor world={world} name={name} onChanged={saved} /> : undefined}
              </li>
            );
          })}
        </ul>
      )}
    </WhenLoaded>
  );
}

function stateOf(exists: boolean, changedAt: string): string {
  if (!exists) return t("isEmpty");
  return changedAt === "" ? "" : t("changed", { time: momentOf(new Date(changedAt)) });
}

interface FileProps {
  readonly world: PaneWorld;
  readonly name: string;
  readonly onChanged: () => void;
}

interface Read {
  readonly content: string;
  readonly mark: string;
  /** What is read again may be what it was before. */
  readonly at: number;
}

function FileEditor(props: FileProps) {
  const { world, name } = props;
  const file = useLoad(world, async (): Promise<Read> => {
    const answer = await world.api.response("GET", routeOf(name));
    const { content } = Object(await answer.json());
    return { content: textIn(content), mark: answer.headers.get("etag") ?? "", at: performance.now() };
  }, [name]);
  return (
    <WhenLoaded loaded={file}>
      {(read) => <Editor {...props} key={read.at} read={read} readAgain={file.reload} />}
    </WhenLoaded>
  );
}

function Editor({
  world,
  name,
  onChanged,
  read,
  readAgain,
}: FileProps & { readonly read: Read; readonly readAgain: () => void }) {
  const [typed, setTyped] = useState(read.content);
  const [written, setWritten] = useState(read);
  const [isStale, setStale] = useState(false);
  const save = async (): Promise<void> => {
    try {
      const headers = { "if-match": written.mark };
      const answer = await world.api.response("PUT", routeOf(name), { content: typed }, { headers });
      setWritten({ ...read, content: typed, mark: answer.headers.get("etag") ?? "" });
      setStale(false);
      world.announce(t("fileSaved"));
      onChanged();
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 412) throw error;
      setStale(true);
      // The list beside it says how the file is now.
      onChanged();
      throw new Error(t("changedMeanwhile", { name }));
    }
  };
  const loadAgain = async (): Promise<void> => {
    const question = { title: t("readAgain"), text: t("unsavedGoes"), action: t("readAgain"), isDangerous: true };
    if ((await world.ask(question)) === undefined) return;
    readAgain();
    onChanged();
  };
  const isDirty = typed !== written.content;
  useUnsaved(world, isDirty);
  return (
    <div class="file-editor">
      <Field label={t("text", { name })} hint={isDirty ? t("unsaved") : written === read ? "" : t("fileSaved")}>
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
        {isStale ? <Action run={loadAgain}>{t("readAgain")}</Action> : undefined}
      </div>
    </div>
  );
}

function routeOf(name: string): string {
  return `api/workspace-file/${name.split("/").map(encodeURIComponent).join("/")}`;
}
