import { useState } from "preact/hooks";
import { isRecord } from "../../../client/frames.js";
import { Refused, textIn } from "../../gateway/api.js";
import { Action, Field } from "../parts/controls.js";
import { useLoad, WhenLoaded } from "../parts/loading.js";
import type { PaneWorld } from "../world.js";
import { memoryWords } from "./words.js";

const { t } = memoryWords;

interface Read {
  readonly text: string;
  readonly revision: string;
}

/** One file of the memory. What another has written meanwhile is not lost: saving is refused then. */
export function FileEditor({ world, name }: { readonly world: PaneWorld; readonly name: string }) {
  const address = `api/workspace-file/${name.split("/").map(encodeURIComponent).join("/")}`;
  const file = useLoad(world, async (): Promise<Read> => {
    const answer = await world.api.response("GET", address);
    const body: unknown = await answer.json();
    return { text: isRecord(body) ? textIn(body.content) : "", revision: answer.headers.get("etag") ?? "" };
  }, [name]);
  return (
    <>
      <p>
        <button type="button" class="link" onClick={() => world.openPane("memory")}>
          {t("back")}
        </button>
      </p>
      <WhenLoaded loaded={file}>
        {(read) => (
          <Editor key={read.revision} world={world} name={name} address={address} read={read} reload={file.reload} />
        )}
      </WhenLoaded>
    </>
  );
}

interface EditorProps {
  readonly world: PaneWorld;
  readonly name: string;
  readonly address: string;
  readonly read: Read;
  reload(): void;
}

function Editor({ world, name, address, read, reload }: EditorProps) {
  const [text, setText] = useState(read.text);
  const [saved, setSaved] = useState(read);
  const [isStale, setStale] = useState(false);
  const isChanged = text !== saved.text;
  const save = async (): Promise<void> => {
    try {
      const headers = { "if-match": saved.revision };
      const answer = await world.api.response("PUT", address, { content: text }, { headers });
      setSaved({ text, revision: answer.headers.get("etag") ?? "" });
      world.announce(t("saved"));
    } catch (error) {
      setStale(error instanceof Refused && error.status === 412);
      throw error;
    }
  };
  const loadAgain = async (): Promise<void> => {
    const question = { title: t("reload"), text: t("unsavedGoes"), action: t("reload"), isDangerous: true };
    if ((await world.ask(question)) !== undefined) reload();
  };
  const hint = isChanged ? t("unsaved") : saved === read ? undefined : t("saved");
  return (
    <>
      <Field label={t("text", { name })} hint={hint}>
        {(ids) => (
          <textarea
            {...ids}
            class="file-text"
            rows={20}
            spellcheck
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        )}
      </Field>
      <p class="card-line">
        <Action kind="primary" run={save} isDisabled={!isChanged}>
          {t("save")}
        </Action>
        {isStale ? <Action run={loadAgain}>{t("reload")}</Action> : undefined}
      </p>
    </>
  );
}
