import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http2';
import { createRequire } from 'node:module';
import { devNull } from 'node:os';
import { Script } from 'node:vm';
import { starterBundle, starterCodeCache } from './starter-bundle.mjs';

// V8 compiles a function when it is called first, so a command is run before the cache is made: `status`, against a server
// whose every answer is empty. That it then fails does not matter.
const server = createServer().on('stream', (stream) => {
  stream.respond({ 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.end(Buffer.alloc(5));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());

for (const name of Object.keys(process.env)) if (/^TEMPORAL_|_proxy$/i.test(name)) delete process.env[name];
Object.assign(process.env, { TEMPORAL_ADDRESS: `127.0.0.1:${port}`, TEMPORAL_CONFIG_FILE: devNull });
process.argv = [process.execPath, starterBundle, 'status', 'REFERENCE'];

const script = new Script(readFileSync(starterBundle, 'latin1'), { filename: starterBundle });
const commands = script.runInThisContext()(createRequire(starterBundle));
process.on('exit', () => {
  writeFileSync(starterCodeCache, script.createCachedData());
  process.exitCode = 0;
});
commands.main();
