# docker build -t maxclaw .
# docker run -d --init --restart unless-stopped -p 127.0.0.1:18890:18890 -v maxclaw:/data -e MAXCLAW_TOKEN=<secret> maxclaw
#
# The gateway listens on all of the container's addresses, so it needs a token: MAXCLAW_TOKEN, or gateway.token in
# /data/config.json. Without one it ends with exit code 78 and says so.

FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN npm install --global --prefix /opt/maxclaw "./$(npm pack --silent)"

FROM node:24-slim
ENV NODE_ENV=production MAXCLAW_HOME=/data
COPY --from=build /opt/maxclaw /opt/maxclaw
RUN ln -s /opt/maxclaw/bin/maxclaw /usr/local/bin/maxclaw && mkdir -m 0700 /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 18890
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:18890/health').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["maxclaw", "gateway", "--host", "0.0.0.0", "-p", "18890"]
