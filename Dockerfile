# One image for the worker, the starter and the sandbox.
FROM node:20-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json ./
COPY types types
COPY scripts scripts
COPY src src
RUN npm run build && npm prune --omit=dev

FROM node:20-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
# No root, and nothing that the process could write to but these two.
RUN install -d -o node -g node reports && install -d -o node -g node -m 700 deliveries
USER node
EXPOSE 8081 9464
CMD ["node", "dist/worker.js"]
