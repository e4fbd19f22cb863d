import { startApp } from "./app.js";

startApp(document.body);
