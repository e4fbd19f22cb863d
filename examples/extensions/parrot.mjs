// A model provider: repeats what it hears.  { "module": "./parrot.mjs" } and "model": "parrot/grey"

/** @type {import("maxclaw").ExtensionFactory} */
export default () => ({
  providers: [
    {
      name: "parrot",
      async *stream(request, signal) {
        signal.throwIfAborted();
        const parts = request.messages.at(-1)?.content ?? [];
        const heard = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
        // The gateway puts the clock before what the person wrote.
        const words = heard.slice(heard.lastIndexOf("\n\n") + 1).trim();
        for (const word of ["Squawk!", ...words.split(" ")]) yield { kind: "text", text: `${word} ` };
        const usage = {
          input_tokens: Math.ceil(heard.length / 4),
          output_tokens: Math.ceil(words.length / 4),
          cache_read_tokens: 0,
          cache_write_tokens: 0,
        };
        yield { kind: "end", stopReason: "end_turn", usage, costUsd: 0 };
      },
    },
  ],
});
