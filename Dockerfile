# docker build -t maxclaw .
# docker run -d --init --restart unless-stopped -p 127.0.0.1:18890:18890 -v maxclaw:/data -e MAXCLAW_TOKEN=<secret> \
#   --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges maxclaw
#
# The gateway listens on all of the container's addresses, so it needs a token: MAXCLAW_TOKEN, or gateway.token in
# /data/config.json. Without one it ends with exit code 78 and says so. More: docs/docker.md

FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
# hadolint ignore=DL3016
RUN npm pack --silent --pack-destination /tmp \
  && npm install --global --prefix /opt/maxclaw --omit=dev --ignore-scripts /tmp/maxclaw-*.tgz

FROM node:24-slim
# --build-arg BUBBLEWRAP=0 leaves out the sandbox of commands; CHROMIUM=1 adds the browser.
ARG BUBBLEWRAP=1
ARG CHROMIUM=0
# hadolint ignore=DL3008
RUN set -eu; \
  packages="ca-certificates tzdata"; \
  if [ "$BUBBLEWRAP" = 1 ]; then packages="$packages bubblewrap"; fi; \
  if [ "$CHROMIUM" = 1 ]; then packages="$packages chromium fonts-noto-core fonts-noto-cjk"; fi; \
  apt-get update; \
  for package in $packages; do apt-get install -y --no-install-recommends "$package"; done; \
  rm -rf /var/lib/apt/lists/*; \
  ln -s /opt/maxclaw/bin/maxclaw /usr/local/bin/maxclaw; \
  mkdir -m 0700 /data; \
  chown node:node /data
COPY --from=build /opt/maxclaw /opt/maxclaw
# What is part of an image is not updated in it. All that a program writes is below /data and /tmp.
ENV NODE_ENV=production MALLOC_ARENA_MAX=1 MAXCLAW_HOME=/data HOME=/data MAXCLAW_IMAGE=1
WORKDIR /data
USER node
VOLUME /data
EXPOSE 18890
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:18890/health').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["maxclaw", "gateway", "--host", "0.0.0.0", "-p", "18890"]
