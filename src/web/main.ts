import { startApp } from "./app.js";
import { createTokenStore } from "./gateway/token-store.js";

startApp(document.body, createTokenStore(sessionStorage));
