import { readText } from "../../config/read-text.js";
import { redactConfig } from "../../config/redact.js";
import { openKey } from "../../providers/catalogue/presets.js";
import type { Check, Finding } from "../check.js";

/** Where keys and tokens are kept, and how they travel. */
export const secretsCheck: Check = {
  name: "secrets",
  readsConfig: true,
  async run({ loaded, home }) {
    const { path, config } = loaded;
    const found: Finding[] = [];
    const inFile = path === undefined ? 0 : await countSecrets(path);
    if (inFile === undefined)
      found.push({
        level: "warn",
        found: `${path} cannot be read, so nobody can say whether it holds secrets`,
        todo: "Correct the file, and run this again",
      });
    else if (inFile > 0)
      found.push({
        level: "warn",
        found: `${path} holds ${inFile === 1 ? "a secret" : `${inFile} secrets`}: everyone who sees the file can use ${inFile === 1 ? "it" : "them"}`,
        todo: `Write them as \${NAME}, and their values into ${home}/secrets.json`,
      });
    for (const [name, settings] of Object.entries(config.providers)) {
      const open = openKey(name, settings);
      if (open !== undefined) found.push({ level: "fail", found: open });
    }
    for (const [name, { url, headers }] of Object.entries(config.tools.mcpServers))
      if (url !== undefined && isOpenWay(url) && Object.keys(headers).length > 0)
        found.push({
          level: "fail",
          found: `tools.mcpServers.${name} sends its headers over http://, where everybody on the way can read them`,
          todo: "Use https://",
        });
    return found.length > 0 ? found : [{ level: "ok", found: "No secret is in the config file" }];
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
