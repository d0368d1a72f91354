# One image for the worker, the command line and the sandbox. The tags are exact; to pin an image, append the digest
# that `docker buildx imagetools inspect node:26.10.0-bookworm-slim` shows: node:26.10.0-bookworm-slim@sha256:…
FROM node:26.10.0-bookworm-slim AS build
WORKDIR /app
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json ./
COPY types types
COPY scripts scripts
COPY src src
COPY sandbox sandbox
COPY demo demo
# Keeps only this machine's build of the SDK's native part.
RUN npm run build && npm prune --omit=dev \
  && find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 ! -name "$(uname -m)-*-linux-*" -exec rm -r {} +
# `npx fulfilment` runs this link. With `bin` in package.json, npx would first install the package into a cache, which
# the read-only file system prevents.
RUN npm pkg delete bin && ln -s ../../dist/starter.js node_modules/.bin/fulfilment

FROM node:26.10.0-bookworm-slim
# npx must not ask the registry for a newer npm.
ENV NODE_ENV=production npm_config_update_notifier=false
WORKDIR /app
# The slim image has no CA certificates. The SDK needs them for Temporal Cloud, because it does not use Node's TLS.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/sandbox/dist sandbox/dist
COPY --from=build /app/demo/dist demo/dist
# The only folders that the process writes to. A new named volume gets the owner and mode of the folder that it covers.
# A host folder keeps its own owner, which must be 1000:1000.
RUN install -d -o node -g node reports && install -d -o node -g node -m 700 deliveries
USER 1000:1000
EXPOSE 8081 9464
CMD ["node", "dist/worker.js"]
