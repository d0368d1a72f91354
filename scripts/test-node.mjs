// `npm run test:node -- VERSION …`: runs `npm test -- …` on another version of Node, such as 24 or 20.19.
import { delimiter, dirname, join } from 'node:path';
import { runInForeground } from './lib/foreground.mjs';
import { log } from './lib/log.mjs';
import { ensureNode } from './lib/node.mjs';

const [version = '', ...args] = process.argv.slice(2);
const node = await ensureNode(version);
log(`Tests on ${node}`);
// Programs that the tests start by name, such as npm, also use it.
process.env.PATH = [dirname(node), process.env.PATH].join(delimiter);
const suite = [join(import.meta.dirname, 'run.mjs'), 'test', ...args];
process.exitCode = await runInForeground(node, suite, { stdio: 'inherit' });
