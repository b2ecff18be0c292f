// Run as a process of its own, so that it can be stopped in the middle: a viewer that takes nothing any more.
import { createRequire } from 'node:module';

const { Live } = createRequire(import.meta.url)('../../libs/client');
const [url, token, session] = process.argv.slice(2);
let said = false;
new Live({ url, token }).watch(session, {
  events: () => {},
  terminal: ({ terminal }) => {
    if (terminal === 'flood' && !said) process.stdout.write('watching\n');
    if (terminal === 'flood') said = true;
  },
});
