# Keryx in a container: built in one stage, run in another without compilers and development packages.
FROM node:24-bookworm-slim AS build
WORKDIR /src
# better-sqlite3 and node-pty are compiled where there is no ready-made build of them.
RUN apt-get update && apt-get install -y --no-install-recommends g++ make python3 && rm -rf /var/lib/apt/lists/*
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
# `keryx --version` names the commit: docker compose build --build-arg KERYX_COMMIT=$(git rev-parse --short HEAD)
ARG KERYX_COMMIT=""
RUN npm run build && node scripts/sbom.mjs && if [ -n "$KERYX_COMMIT" ]; then echo "$KERYX_COMMIT" > dist/commit.txt; fi && npm prune --omit=dev

FROM node:24-bookworm-slim
# git keeps checkpoints of the agent's files; tini passes signals on and collects ended programs.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates git tini && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=build /src/package.json /src/README.md ./
COPY --from=build /src/bin ./bin
COPY --from=build /src/dist ./dist
COPY --from=build /src/node_modules ./node_modules
RUN ln -s /app/bin/keryx.mjs /usr/local/bin/keryx && install -d -o node -g node -m 0700 /data
USER node
ENV KERYX_HOME=/data/home XDG_DATA_HOME=/data/share HOME=/data KERYX_HTTP_HOST=0.0.0.0 KERYX_INSTALLED_BY=image
VOLUME /data
EXPOSE 7717
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s CMD ["node", "-e", "fetch('http://127.0.0.1:7717/health').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["tini", "--", "keryx"]
