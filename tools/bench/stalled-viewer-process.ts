// A viewer in its own process, so that it can be stopped in the middle and then receives nothing
// any more.
import { LiveConnection } from '@belay/client';

const [session = ''] = process.argv.slice(2);
const { BELAY_URL: url = '', BELAY_TOKEN: token = '' } = process.env;
let reported = false;
new LiveConnection({ url, token }).watch(session, {
  events: () => {},
  terminal: ({ terminal }) => {
    if (terminal === 'flood' && !reported) process.stdout.write('watching\n');
    if (terminal === 'flood') reported = true;
  },
});
