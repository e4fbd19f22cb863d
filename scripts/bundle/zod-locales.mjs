// In the place of zod's messages in fifty languages, which nobody asks for: a tenth of what a start has to read.
export { default as en } from "../../node_modules/zod/v4/locales/en.js";
