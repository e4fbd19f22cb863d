import { defineWords } from "../../words/words.js";

export const settingsWords = defineWords({}, {});
