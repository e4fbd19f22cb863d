import { isAscii } from "node:buffer";
import { readFileSync } from "node:fs";
import { createRequire, Module } from "node:module";
import { join } from "node:path";
import { setImmediate } from "node:timers";
import { pathToFileURL } from "node:url";
import { Script } from "node:vm";
import { crc32 } from "node:zlib";
import type { CompiledScript, KeptCode } from "./kept-code.js";

const before = "(function(exports,require,module,__filename,__dirname){";
const after = "\n})";
/** In it is all that imports by Node's own rules. V8 forgets who has asked for an import when code was kept. */
const ofNode = "./to-esm.cjs";

type Run = (exports: unknown, require: (id: string) => unknown, module: Module, file: string, folder: string) => void;

/**
 * Loads the CommonJS scripts of a folder as Node does, but with what was compiled for the last start. All scripts are in
 * that one folder, and import each other as `./name.cjs`.
 */
export class Scripts {
  readonly #folder: string;
  readonly #kept: KeptCode | undefined;
  readonly #require: NodeJS.Require;
  readonly #compiled: CompiledScript[] = [];
  #isKept = true;

  constructor(folder: string, kept: KeptCode | undefined) {
    this.#folder = folder;
    this.#kept = kept;
    this.#require = createRequire(join(folder, "main.cjs"));
  }

  /** What a script exports. It runs once, and is the same for who imports the file through Node. */
  load(name: string): unknown {
    const file = join(this.#folder, name);
    const { cache } = this.#require;
    const loaded = cache[file];
    if (loaded !== undefined) return loaded.exports;
    const module = new Module(file);
    module.filename = file;
    cache[file] = module;
    try {
      const run = this.#compile(name, file);
      run(module.exports, (id) => this.#import(id), module, file, this.#folder);
    } catch (error) {
      delete cache[file];
      throw error;
    }
    module.loaded = true;
    return module.exports;
  }

  #import(id: string): unknown {
    return id.startsWith("./") && id !== ofNode ? this.load(id.slice(2)) : this.#require(id);
  }

  #compile(name: string, file: string): Run {
    const bytes = readFileSync(file);
    const source = `${before}${bytes.toString(isAscii(bytes) ? "latin1" : "utf8")}${after}`;
    const checksum = crc32(bytes);
    const cachedData = this.#kept?.find(name, checksum);
    const filename = pathToFileURL(file).href;
    const script = new Script(source, { filename, columnOffset: -before.length, ...(cachedData && { cachedData }) });
    if (script.cachedDataRejected !== false) this.#isKept = false;
    this.#compiled.push({ name, checksum, script });
    // `before` and `after` make it this function.
    return script.runInThisContext() as Run;
  }

  /** Has the next start find what was compiled so far, if anything was. Never rejects. */
  async keep(): Promise<void> {
    const compiled = this.#compiled.splice(0);
    this.#kept?.forget();
    if (!this.#isKept) await this.#kept?.write(compiled, () => new Promise((resolve) => setImmediate(resolve)));
  }
}
