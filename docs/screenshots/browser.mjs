import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'undici';

/**
 * Opens a headless Chromium that takes pictures of pages. It is driven by the DevTools protocol: Chromium's own `--screenshot`
 * never finishes on a page that keeps polling its server.
 *
 * @param {URL} folder where the pictures go
 */
export async function openBrowser(folder) {
  const profile = mkdtempSync(join(tmpdir(), 'screenshots-'));
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', `--user-data-dir=${profile}`];
  const child = spawn(process.env.CHROMIUM ?? 'chromium', [...flags, '--remote-debugging-port=0', 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const port = await debuggingPort(child);
  const pages = await (await fetch(`http://127.0.0.1:${port}/json/list`)).json();
  const { send, close } = await connect(pages.find(({ type }) => type === 'page').webSocketDebuggerUrl);

  return {
    /** Opens a page, waits until it shows a text and four seconds longer, and takes a picture. */
    async take(name, url, { shows, width, height }) {
      await send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
      await send('Page.navigate', { url });
      const expression = `document.body.innerText.includes(${JSON.stringify(shows)})`;
      while (!(await send('Runtime.evaluate', { expression })).result.value) await sleep(200);
      await sleep(4_000);
      const { data } = await send('Page.captureScreenshot', { format: 'png' });
      const png = Buffer.from(data, 'base64');
      writeFileSync(new URL(`${name}.png`, folder), png);
      console.log(`${name}.png  ${Math.ceil(png.length / 1_000)} kB`);
    },
    async close() {
      close();
      child.kill();
      await once(child, 'exit');
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function debuggingPort({ stderr }) {
  for await (const line of createInterface({ input: stderr })) {
    const port = /DevTools listening on ws:\/\/[^:]+:(\d+)/.exec(line)?.[1];
    if (port) return port;
  }
  throw new Error('Chromium ended at once. Set CHROMIUM to the path of another one.');
}

/** Connects to a page. `send` sends a DevTools command and waits for its response. */
async function connect(url) {
  const socket = new WebSocket(url);
  const waiting = new Map();
  let count = 0;
  socket.addEventListener('message', ({ data }) => {
    const { id, result, error } = JSON.parse(data);
    const { resolve, reject } = waiting.get(id) ?? {};
    waiting.delete(id);
    if (error) reject?.(new Error(error.message));
    else resolve?.(result);
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', reject);
  });
  return {
    send: (method, params) =>
      new Promise((resolve, reject) => {
        waiting.set(++count, { resolve, reject });
        socket.send(JSON.stringify({ id: count, method, params }));
      }),
    close: () => socket.close(),
  };
}
