import { startApp } from "./app.js";
import { createTokenStore } from "./token-store.js";

startApp(document.body, createTokenStore(sessionStorage));
