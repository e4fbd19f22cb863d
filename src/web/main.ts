import { startApp } from "./app.js";
import { createTokenStore } from "./gateway/token-store.js";
import { setLanguage } from "./words/words.js";

setLanguage(localStorage);
startApp(document.body, createTokenStore(sessionStorage));
