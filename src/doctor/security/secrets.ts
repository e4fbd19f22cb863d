import { readText } from "../../config/read-text.js";
import { redactConfig } from "../../config/redact.js";
import { openKey } from "../../providers/catalogue/presets.js";
import { findingSentence } from "../../util/words/finding-sentences.js";
import type { Check, Finding } from "../check.js";

/** Where keys and tokens are kept, and how they travel. */
export const secretsCheck: Check = {
  name: "secrets",
  readsConfig: true,
  async run({ loaded, home }) {
    const { path, config } = loaded;
    const found: Finding[] = [];
    const inFile = path === undefined ? 0 : await countSecrets(path);
    if (path !== undefined && inFile === undefined)
      found.push({
        level: "warn",
        found: findingSentence("file_unread", { path }),
        todo: findingSentence("file_unread_todo"),
      });
    else if (path !== undefined && inFile !== undefined && inFile > 0)
      found.push({
        level: "warn",
        found:
          inFile === 1
            ? findingSentence("file_secret", { path })
            : findingSentence("file_secrets", { path, n: inFile }),
        todo: findingSentence("file_secrets_todo", { form: `\${NAME}`, home }),
      });
    for (const [name, settings] of Object.entries(config.providers)) {
      const open = openKey(name, settings);
      if (open !== undefined) found.push({ level: "fail", found: open });
    }
    for (const [name, { url, headers }] of Object.entries(config.tools.mcpServers))
      if (url !== undefined && isOpenWay(url) && Object.keys(headers).length > 0)
        found.push({
          level: "fail",
          found: findingSentence("open_headers", { name }),
          todo: findingSentence("use_https"),
        });
    return found.length > 0 ? found : [{ level: "ok", found: findingSentence("secrets_fine") }];
  },
};

/** Undefined when nobody can tell. */
async function countSecrets(path: string): Promise<number | undefined> {
  const text = await readText(path).catch(() => "");
  return (await redactConfig(path, text))?.placeholders.length;
}

function isOpenWay(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === "http:" && !/^(localhost|127\.|\[::1\]$)/.test(hostname);
}
