#!/bin/sh
# Starts the gateway with what was set on the add-on's page in Home Assistant.
set -eu

option() {
  node -p 'JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8"))[process.argv[2]] ?? ""' \
    "${OPTIONS_FILE:-/data/options.json}" "$1"
}

MAXCLAW_TOKEN=$(option token)
if [ -z "$MAXCLAW_TOKEN" ]; then
  echo "Set a token on the Configuration page of this add-on: anyone who opens the web page has to enter it." >&2
  exit 78
fi
export MAXCLAW_TOKEN
TZ=$(option time_zone)
if [ -n "$TZ" ]; then export TZ; else unset TZ; fi

if [ "$(id -u)" = 0 ]; then
  chown -R node:node "$MAXCLAW_HOME"
  chmod 0700 "$MAXCLAW_HOME"
  exec setpriv --reuid=node --regid=node --init-groups --no-new-privs maxclaw gateway --host 0.0.0.0 -p 18890
fi
exec maxclaw gateway --host 0.0.0.0 -p 18890
